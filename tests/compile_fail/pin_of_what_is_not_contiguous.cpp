// expect: no matching function
// with: core
#include <list>

#include <ferry/core.hpp>

void call(std::vector<float>& v, [[maybe_unused]] std::list<float>& l) {
  auto p = ferry::pin(v);
#ifdef FERRY_WRONG
  auto q = ferry::pin(l);
#endif
}
