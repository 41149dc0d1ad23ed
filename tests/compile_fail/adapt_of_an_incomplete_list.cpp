// expect: list every member of the struct in FERRY_MEMBERS
// with: core
#include <ferry/core.hpp>

namespace {
template <template <class, std::size_t> class A>
struct model {
  A<float, 1> x;
  int n;
#ifdef FERRY_WRONG
  FERRY_MEMBERS(x);
#else
  FERRY_MEMBERS(x, n);
#endif
};
}  // namespace

model<ferry::device_array> call(const model<ferry::unified_array>& m) { return ferry::adapt<ferry::device_array>(m); }
