// expect: complex numbers have no order
#include <complex>

#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(fr::device_array<std::complex<double>>& z) {
  (void)fr::argsort(fr::real(z));
#ifdef FERRY_WRONG
  (void)fr::argsort(z);
#endif
}
