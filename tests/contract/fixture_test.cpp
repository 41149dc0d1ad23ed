// Tests of the fixture itself: its checks must be able to fail.
#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"

#include <sstream>
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

namespace contract {

surroundings surroundings::now() {
  fr::runtime& m = fr::runtime::current();
  surroundings s;
#if defined(__CUDACC__)
  if (!m.is_simulated())
    if (const cudaError_t e = cudaPeekAtLastError(); e != cudaSuccess) s.pending_error = cudaGetErrorName(e);
#endif
  s.current_device = m.backend().exchange_current_device(0);
  m.backend().exchange_current_device(s.current_device);
  s.arrays = m.allocations();
  return s;
}

std::string surroundings::changes_since(const surroundings& before) const {
  std::ostringstream out;
  if (current_device != before.current_device)
    out << "the current device is " << current_device << ", and was " << before.current_device << "; ";
  if (pending_error != before.pending_error)
    out << "the pending CUDA error is '" << pending_error << "', and was '" << before.pending_error << "'; ";
  if (arrays != before.arrays) out << arrays << " arrays are alive, and " << before.arrays << " were; ";
  return out.str();
}

clean::clean() {
  fr::runtime& m = fr::runtime::current();
  current_before_ = m.backend().exchange_current_device(static_cast<int>(m.devices().size()) - 1);
  before_ = surroundings::now();
  BOOST_TEST(before_.pending_error == "");
}

clean::~clean() {
  BOOST_TEST(surroundings::now().changes_since(before_) == "");
  fr::runtime::current().backend().exchange_current_device(current_before_);
}

}  // namespace contract

using namespace contract;

BOOST_FIXTURE_TEST_SUITE(contract_of_the_fixture, clean)

BOOST_AUTO_TEST_CASE(nothing_changed_is_no_change) {
  const surroundings before = surroundings::now();
  {
    const fr::unified_array<int> a({100}, 1);
    BOOST_TEST(fr::to_vector(a).size() == 100u);
  }
  BOOST_TEST(surroundings::now().changes_since(before) == "");
}

BOOST_AUTO_TEST_CASE(an_array_that_is_left_is_seen) {
  const surroundings before = surroundings::now();
  const fr::device_array<int> a({100});
  BOOST_TEST(
      contains(surroundings::now().changes_since(before), std::to_string(before.arrays + 1) + " arrays are alive"));
}

BOOST_AUTO_TEST_CASE(another_current_device_is_seen, *needs_devices(2) * two_devices) {
  const surroundings before = surroundings::now();
  fr::detail::backend& backend = fr::runtime::current().backend();
  const int was = backend.exchange_current_device(before.current_device == 0 ? 1 : 0);
  BOOST_TEST(contains(surroundings::now().changes_since(before), "the current device is"));
  backend.exchange_current_device(was);
  BOOST_TEST(surroundings::now().changes_since(before) == "");
}

#if defined(__CUDACC__)
BOOST_AUTO_TEST_CASE(a_pending_error_is_seen, *needs_cuda()) {
  const surroundings before = surroundings::now();
  BOOST_TEST(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  BOOST_TEST(contains(surroundings::now().changes_since(before), "cudaErrorInvalidDevice"));
  BOOST_TEST(cudaGetLastError() == cudaErrorInvalidDevice);
  BOOST_TEST(surroundings::now().changes_since(before) == "");
}
#endif

BOOST_AUTO_TEST_CASE(preconditions_say_what_is_lacking) {
  const auto answer = [](const needs& n) {
    const auto result = n(0);
    const auto message = result.message();
    return result ? std::string("fine") : std::string(message.begin(), message.size());
  };
  {
    const fr::simulation one("devices=1");
    BOOST_TEST(answer({lacking_devices, 1}) == "fine");
    BOOST_TEST(answer({lacking_devices, 2}) == "needs 2 devices, found 1");
    BOOST_TEST(answer({lacking_peers, 0, 1}) == "needs devices 0 and 1 to be peers");
    BOOST_TEST(answer({lacking_cuda}) == "needs CUDA devices, and these are simulated");
  }
  const variable on("FERRY_PEER", "on");
  fr::simulation some("devices=3;peers=0-1");
  some.get().peers().kernels(fr::detail::peer_kernels::error);  // with staging copies, all devices reach each other
  BOOST_TEST(answer({lacking_peers, 0, 1}) == "fine");
  BOOST_TEST(answer({lacking_peers, 1, 2}) == "needs devices 1 and 2 to be peers");
}

BOOST_AUTO_TEST_SUITE_END()
