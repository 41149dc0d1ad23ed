// The steps without kernels need no nvcc.
// as: host
#include "1_cpu.hpp"
#include "2_unified.hpp"
