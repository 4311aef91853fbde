namespace poet {
namespace {

using Mask = int;
using Number = int;

int twice(int x) { return 2 * x; }

}  // namespace

int four() { return twice(2); }

}  // namespace poet
