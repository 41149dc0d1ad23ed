// A driver that is present but does not work is an error at each use; ferry does not silently fall back to the
// simulator. The remedy that the error names works.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <ferry/core.hpp>

namespace fr = ferry;

int main() {
  for (int i = 0; i < 2; ++i) {
    try {
      const fr::host_array<int> a({1}, 7);
      return std::puts("no error"), 1;
    } catch (const fr::device_error& e) {
      const std::string_view text = e.what();
      for (const char* part :
           {"the CUDA driver does not work", "cudaErrorSystemDriverMismatch", "set FERRY_BACKEND=sim"})
        if (text.find(part) == text.npos) return std::printf("'%s' is not in: %s\n", part, e.what()), 1;
    }
  }
  ::setenv("FERRY_BACKEND", "sim", 1);
  const fr::host_array<int> a({1}, 7);
  if (!fr::runtime::current().is_simulated() || a[0] != 7) return std::puts("the program cannot go on"), 1;
  return std::puts("an error, and a way out"), 0;
}
