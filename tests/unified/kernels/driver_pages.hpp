// The driver's information about an array's pages, by byte range: their location and their advice.
#pragma once
#include <algorithm>
#include <ferry/core/detail/ordering/timelines.hpp>
#include <optional>
#include <vector>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "unified/kernels/shared.hpp"

namespace shared {

// The location of the first bytes; nothing if they are in several places. The simulator reports the actual location.
// CUDA reports the last prefetch of any caller, without later faults.
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

// Prefetches an idle array's pages, without ferry's page map being updated.
template <class A>
void send_unseen(const A& a, fr::memory_location to) {
  fr::runtime& m = fr::runtime::current();
  m.streams().synchronize();
  const fr::stream_ref s = fr::default_stream(dev(0));
  m.backend().prefetch(s.timeline().stream(), const_cast<typename A::value_type*>(a.unsynchronized_data()),
                       a.size_bytes(), to);
  s.synchronize();
}

// Detects prefetches of an array's pages to a device after construction. The simulator counts prefetched bytes of all
// arrays. On CUDA devices the array first goes to the CPU, and a later prefetch of any part changes the location that
// the driver reports. The array must be idle.
template <class A>
class prefetch_watch {
 public:
  explicit prefetch_watch(const A& a) : of_(a) {
    if (!simulated()) send_unseen(a, {});
    before_ = sent();
  }
  bool saw_none() const { return sent() == before_ && (simulated() || is_on_cpu(of_)); }

 private:
  static fr::detail::sim::inspector* simulated() {
    return dynamic_cast<fr::detail::sim::inspector*>(&fr::runtime::current().backend());
  }
  static std::size_t sent() { return simulated() ? simulated()->moved().prefetched : 0; }
  const A& of_;
  std::size_t before_;
};

// The advice that CUDA's driver reports for all bytes of an array. The simulator does not report it.
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

// For cases that query information only CUDA's driver has.
inline boost::test_tools::assertion_result on_cuda_devices(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(!fr::runtime::current().is_simulated());
  ok.message() << "needs CUDA devices";
  return ok;
}

}  // namespace shared
