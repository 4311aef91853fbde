namespace poet {
namespace {

int twice(int x) { return 2 * x; }

}  // namespace

int four() { return twice(2); }

}  // namespace poet
