// Replaces the CUDA driver: it can be loaded and reports a version, and every other call fails.
#include <cstring>

namespace {
constexpr int success = 0, mismatch = 803;  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
int broken() { return mismatch; }
}  // namespace

extern "C" {
int cuInit(unsigned) { return mismatch; }
int cuDriverGetVersion(int* version) { return *version = 13000, success; }
int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* found) {
  if (found) *found = 0;
  *function = reinterpret_cast<void*>(broken);
  if (!std::strcmp(name, "cuInit")) *function = reinterpret_cast<void*>(cuInit);
  if (!std::strcmp(name, "cuDriverGetVersion")) *function = reinterpret_cast<void*>(cuDriverGetVersion);
  if (!std::strcmp(name, "cuGetProcAddress")) *function = reinterpret_cast<void*>(cuGetProcAddress_v2);
  return success;
}
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
}
