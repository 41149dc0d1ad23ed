// Shared by the tests of the CUDA backend: the backend, preconditions, and a fixture. The fixture checks that a backend
// call leaves the current device unchanged and no pending error.
#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <boost/test/unit_test.hpp>

#include <cuda/cuda_backend.hpp>
#include <ferry/core/error.hpp>

namespace cuda_test {

using namespace ferry;
using namespace ferry::detail;
namespace utf = boost::unit_test;

struct needs_devices {
  int devices;
  boost::test_tools::assertion_result operator()(utf::test_unit_id) const {
    int found = 0;
    if (cudaGetDeviceCount(&found) != cudaSuccess) found = 0;
    static_cast<void>(cudaGetLastError());
    boost::test_tools::assertion_result ok(found >= devices);
    ok.message() << "needs " << devices << " CUDA devices, found " << found;
    return ok;
  }
};

// Free memory of the current device, queried just before the case runs.
struct needs_device_memory {
  std::size_t bytes;
  boost::test_tools::assertion_result operator()(utf::test_unit_id) const {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) free = 0;
    static_cast<void>(cudaGetLastError());
    boost::test_tools::assertion_result ok(free >= bytes);
    ok.message() << "needs " << bytes << " bytes of free device memory, found " << free;
    return ok;
  }
};

// Never destroyed, like the library's own backend.
inline backend& cuda_machine() {
  static backend* const runtime = ferry::detail::cuda::make_backend().release();
  return *runtime;
}

// Backend calls use device 0 while the last device is current. With two devices, a call that forgets to switch is
// detected.
struct unchanged {
  backend& b = cuda_machine();
  int current = b.device_count() - 1;
  native_stream s;
  unchanged() {
    b.exchange_current_device(current);
    s = b.create_stream(0, 0);
    check("create_stream");
  }
  ~unchanged() {
    b.destroy_stream(s);
    check("destroy_stream");
  }
  unchanged(const unchanged&) = delete;
  unchanged& operator=(const unchanged&) = delete;
  void check(const char* after) const {
    int now = -1;
    BOOST_TEST_CONTEXT(after) {
      BOOST_TEST(cudaGetDevice(&now) == cudaSuccess);
      BOOST_TEST(now == current);
      BOOST_TEST(cudaPeekAtLastError() == cudaSuccess);
    }
  }
  void put(void* to, const std::vector<std::byte>& v) {
    b.copy(s, to, v.data(), v.size());
    b.synchronize(s);
    check("copy");
  }
  std::vector<std::byte> fetch(const void* from, std::size_t n) {
    std::vector<std::byte> v(n);
    b.copy(s, v.data(), from, n);
    b.synchronize(s);
    check("copy");
    return v;
  }
};

// One test allocation.
struct bytes {
  backend& b;
  memory_kind kind;
  int device;
  std::size_t n;
  std::byte* p;
  bytes(backend& runtime, memory_kind k, int d, std::size_t size)
      : b(runtime),
        kind(k),
        device(d),
        n(size),
        p(static_cast<std::byte*>(runtime.allocate(k, d, size))) {}
  ~bytes() { b.release(kind, device, p, n); }
  bytes(const bytes&) = delete;
  bytes& operator=(const bytes&) = delete;
};

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
inline void nap(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace cuda_test
