// Shared by the contract cases: state that each case must leave unchanged, preconditions, and arrays.
#pragma once
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ferry/core.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/check_error.hpp"

namespace contract {

namespace fr = ferry;
namespace utf = boost::unit_test;
using fr::memory_kind;

// State of the caller that no call of ferry may change (rule 6 of the design's section 8).
struct surroundings {
  int current_device = 0;
  std::string pending_error;  // CUDA's; empty for none, and on simulated devices
  std::size_t arrays = 0;     // live arrays
  static surroundings now();
  // Describes the differences; empty if there are none.
  std::string changes_since(const surroundings& before) const;
};

// The fixture of every suite. The last device is current, so a call that switches devices and does not switch back is
// detected.
class clean {
 public:
  clean();
  ~clean();
  clean(const clean&) = delete;
  clean& operator=(const clean&) = delete;

 private:
  int current_before_;
  surroundings before_;
};

// Preconditions: ctest reports a case that does not meet them as skipped, with the reason. Evaluated just before the
// case runs.
struct needs {
  std::string (*lacking)(int, int);  // empty if the requirement is met
  int first = 0, second = 0;
  boost::test_tools::assertion_result operator()(utf::test_unit_id) const {
    const std::string what = lacking(first, second);
    boost::test_tools::assertion_result ok(what.empty());
    ok.message() << "needs " << what;
    return ok;
  }
};
inline std::string lacking_devices(int count, int) {
  const std::size_t found = fr::devices().size();
  return found >= static_cast<std::size_t>(count) ? ""
                                                  : std::to_string(count) + " devices, found " + std::to_string(found);
}
inline std::string lacking_peers(int a, int b) {
  const auto found = static_cast<int>(fr::devices().size());
  const bool both =
      a < found && b < found && fr::device(a).can_reach(fr::device(b)) && fr::device(b).can_reach(fr::device(a));
  return both ? "" : "devices " + std::to_string(a) + " and " + std::to_string(b) + " to be peers";
}
inline std::string lacking_cuda(int, int) {
  return fr::runtime::current().is_simulated() ? "CUDA devices, and these are simulated" : "";
}
inline utf::precondition needs_devices(int count) { return utf::precondition(needs{lacking_devices, count}); }
inline utf::precondition needs_peers(int a, int b) { return utf::precondition(needs{lacking_peers, a, b}); }
inline utf::precondition needs_cuda() { return utf::precondition(needs{lacking_cuda}); }

// Cases that need two devices: ctest also runs them separately, and reports them as skipped if there is one device.
inline const utf::label two_devices("two_devices");

template <memory_kind K>
using kind = std::integral_constant<memory_kind, K>;
using kinds = std::tuple<kind<memory_kind::device>, kind<memory_kind::unified>, kind<memory_kind::host>>;
using host_kinds = std::tuple<kind<memory_kind::unified>, kind<memory_kind::host>>;

// first, first + 1, ... in row-major order.
template <class T>
std::vector<T> counting(std::size_t n, int first = 0) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(first + static_cast<int>(i));
  return v;
}
template <class T, std::size_t Rank, memory_kind K>
fr::basic_array<T, Rank, K> counted(const fr::extents<Rank>& e, fr::device d = fr::default_device(), int first = 0) {
  return fr::basic_array<T, Rank, K>::from(std::span<const T>(counting<T>(e.count(), first)), e, d);
}

// Enqueues work that ferry does not track, by the backend's own call, on CUDA and on simulated devices.
inline void set_ints(fr::native_stream s, int* p, std::size_t n, int value) {
  fr::runtime::current().backend().fill_strided(s, {reinterpret_cast<std::byte*>(p), {4}}, {4, 1, {n}}, &value);
}

// The timeline of the array's most recent access record.
template <class Array>
const fr::detail::timeline& last_user(const Array& a) {
  const auto& uses = a.owner().get().history.uses();
  BOOST_REQUIRE(!uses.empty());
  return *uses.back().by;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

using support::check_error;

// Makes BOOST_TEST print collections element by element.
#define CHECK_EQUAL(found, expected) BOOST_TEST((found) == (expected), boost::test_tools::per_element())

}  // namespace contract
