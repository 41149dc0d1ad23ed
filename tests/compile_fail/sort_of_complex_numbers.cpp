// expect: complex numbers have no order
#include <complex>

#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(fr::device_array<std::complex<float>>& z) {
  (void)fr::sort(fr::abs(z));
  (void)fr::compress(fr::abs(z) > 1.f, z);
#ifdef FERRY_WRONG
  (void)fr::sort(z);
#endif
}
