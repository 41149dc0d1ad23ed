// expect: complex numbers have no order
#include <complex>

#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(fr::device_array<std::complex<float>>& z) {
  (void)fr::sum(z);
  (void)fr::max(fr::abs(z));
#ifdef FERRY_WRONG
  (void)fr::max(z);
#endif
}
