namespace poet {
namespace {

using Mask = unsigned;
using Number = int;

int twice(int x) { return 2 * x; }

}  // namespace

int six() { return twice(3); }

}  // namespace poet
