// What the driver knows of the pages of an array, asked by ranges of bytes: where they are, and what it was told of them.
#pragma once
#include <algorithm>
#include <ferry/core/detail/ordering/timelines.hpp>
#include <optional>
#include <vector>

#include "unified/kernels/shared.hpp"

namespace shared {

// Where all of the first bytes are: the simulator knows, CUDA tells where they were sent last, by whomever (not where faults
// took them since). Nothing if parts of them differ.
template <class A>
std::optional<fr::memory_location> driver_place(const A& a, std::size_t bytes) {
  return fr::runtime::current().backend().prefetched_to(a.unsynchronized_data(), bytes);
}
template <class A>
std::optional<fr::memory_location> driver_place(const A& a) {
  return driver_place(a, a.size_bytes());
}
template <class A>
bool is_at(const A& a, fr::device expected) {
  return driver_place(a) == fr::memory_location{expected.index()};
}
template <class A>
bool is_on_cpu(const A& a) {
  return driver_place(a) == fr::memory_location{};
}

// Sends the pages of an array that nobody uses now to some place; ferry does not hear of it.
template <class A>
void send_unseen(const A& a, fr::memory_location to) {
  fr::runtime& m = fr::runtime::current();
  m.streams().synchronize();
  const fr::stream_ref s = fr::default_stream(dev(0));
  m.backend().prefetch(s.timeline().stream(), const_cast<typename A::value_type*>(a.unsynchronized_data()),
                       a.size_bytes(), to);
  s.synchronize();
}

// Whether pages of an array are sent to a device from here on. The simulator counts what is sent, of all arrays; on CUDA devices
// the array goes to the CPU first, and whoever sends a part of it elsewhere changes what the driver says of it. The array must
// be at rest.
template <class A>
class prefetch_watch {
 public:
  explicit prefetch_watch(const A& a) : of_(a) {
    if (!simulated()) send_unseen(a, {});
    before_ = sent();
  }
  bool saw_none() const { return sent() == before_ && (simulated() || is_on_cpu(of_)); }

 private:
  static fr::sim::inspector* simulated() {
    return dynamic_cast<fr::sim::inspector*>(&fr::runtime::current().backend());
  }
  static std::size_t sent() { return simulated() ? simulated()->moved().prefetched : 0; }
  const A& of_;
  std::size_t before_;
};

// What CUDA's driver was told of all bytes of an array: the simulator does not say.
struct told {
  bool read_mostly = false;
  std::optional<int> preferred;  // -1: the CPU
  std::vector<int> accessed_by;
  bool names(fr::device d) const {
    return std::find(accessed_by.begin(), accessed_by.end(), d.index()) != accessed_by.end();
  }
};
template <class A>
std::optional<told> driver_was_told([[maybe_unused]] const A& a) {
  if (fr::runtime::current().is_simulated()) return {};
#if defined(__CUDACC__)
  const auto ask = [&](cudaMemRangeAttribute what, std::vector<int> answer) {
    const cudaError_t e = cudaMemRangeGetAttribute(answer.data(), answer.size() * sizeof(int), what,
                                                   a.unsynchronized_data(), a.size_bytes());
    BOOST_REQUIRE_MESSAGE(e == cudaSuccess, cudaGetErrorString(e));
    return answer;
  };
  told t;
  t.read_mostly = ask(cudaMemRangeAttributeReadMostly, {0})[0] != 0;
  if (const int at = ask(cudaMemRangeAttributePreferredLocation, {cudaInvalidDeviceId})[0]; at != cudaInvalidDeviceId)
    t.preferred = at;
  for (const int d :
       ask(cudaMemRangeAttributeAccessedBy, std::vector<int>(fr::devices().size() + 1, cudaInvalidDeviceId)))
    if (d != cudaInvalidDeviceId) t.accessed_by.push_back(d);
  return t;
#else
  return {};
#endif
}

// For cases that ask what only CUDA's driver knows.
inline boost::test_tools::assertion_result on_cuda_devices(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(!fr::runtime::current().is_simulated());
  ok.message() << "needs CUDA devices";
  return ok;
}

}  // namespace shared
