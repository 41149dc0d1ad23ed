// expect: neither const nor references
// with: core
#include <ferry/core.hpp>

void call() {
  ferry::soa<float, int> p(3);
#ifdef FERRY_WRONG
  ferry::soa<float, const int> q(3);
#endif
}
