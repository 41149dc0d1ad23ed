// Parts of the CUDA backend that need no GPU: errors, device detection, plans of strided operations.
#include <limits>
#include <string>

#include <boost/test/unit_test.hpp>

#include <cuda/cuda_backend.hpp>
#include <cuda/errors.hpp>
#include <cuda/placed_pages.hpp>
#include <cuda/strided_plan.hpp>
#include <ferry/core/error.hpp>

#include "cuda_strided_cases.hpp"

namespace cuda_logic {
namespace {

using namespace ferry::detail::cuda;
using cuda_test::layout, cuda_test::pick;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

template <class Error>
std::string text_of(cudaError_t e, std::string_view verb, int device) {
  try {
    fail(e, verb, device);
  } catch (const Error& error) {
    return error.what();
  }
}

// Does the kernels' work on the CPU, word by word.
template <class F>
void walk(const strided_plan& p, F f) {
  for (std::size_t i = 0; i < p.words; ++i) {
    std::size_t rest = i, run = 0;
    std::ptrdiff_t to = 0, from = 0;
    for (std::size_t d = p.rank; d-- > 0;) {
      const std::size_t at = rest % p.extent[d];
      rest /= p.extent[d];
      if (d + 1 == p.rank) run = at;
      to += static_cast<std::ptrdiff_t>(at) * p.to_stride[d];
      from += static_cast<std::ptrdiff_t>(at) * p.from_stride[d];
    }
    f(to, from, run);
  }
}

bool is_aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

}  // namespace
}  // namespace cuda_logic

BOOST_AUTO_TEST_SUITE(cuda_logic)

BOOST_AUTO_TEST_CASE(placed_pages_are_known_by_steps) {
  constexpr std::size_t step = placed_pages::step;
  const auto at = [](std::size_t address) { return reinterpret_cast<const void*>(address); };
  placed_pages placed;
  BOOST_TEST(!placed.meets(at(8 * step), step));
  placed.add(at(8 * step), 0);
  BOOST_TEST(!placed.meets(at(8 * step), step));
  placed.add(at(8 * step + 100), step);  // extends into the next step
  for (const auto& [first, bytes, expected] : {std::tuple{8 * step, std::size_t{1}, true},
                                               {9 * step + step - 1, std::size_t{1}, true},
                                               {7 * step, step, false},
                                               {7 * step, step + 1, true},
                                               {10 * step, 5 * step, false},
                                               {8 * step, std::size_t{0}, false}})
    BOOST_TEST(placed.meets(at(first), bytes) == expected, first / step << " + " << bytes);
}

BOOST_AUTO_TEST_CASE(presence_tells_absence_from_failure) {
  BOOST_CHECK(judge(cudaSuccess, 13000, 2) == presence::usable);
  BOOST_CHECK(judge(cudaSuccess, 13000, 0) == presence::no_device);
  BOOST_CHECK(judge(cudaErrorNoDevice, 13000, 0) == presence::no_device);
  BOOST_CHECK(judge(cudaErrorInsufficientDriver, 0, 0) == presence::no_driver);
  BOOST_CHECK(judge(cudaErrorStubLibrary, 0, 0) == presence::no_driver);
  for (const cudaError_t broken :
       {cudaErrorInsufficientDriver, cudaErrorSystemDriverMismatch, cudaErrorInitializationError,
        cudaErrorDevicesUnavailable, cudaErrorCompatNotSupportedOnDevice, cudaErrorUnknown})
    BOOST_CHECK_EXCEPTION(judge(broken, 11040, 0), ferry::device_error, [&](const ferry::device_error& e) {
      return contains(e.what(), cudaGetErrorName(broken)) && contains(e.what(), "FERRY_BACKEND=sim");
    });
  BOOST_CHECK_EXCEPTION(judge(cudaErrorInsufficientDriver, 11040, 0), ferry::device_error,
                        [](const ferry::device_error& e) { return contains(e.what(), "supports CUDA 11.4"); });
}

BOOST_AUTO_TEST_CASE(errors_are_sorted) {
  for (const cudaError_t e :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorAssert,
        cudaErrorMisalignedAddress, cudaErrorIllegalInstruction, cudaErrorHardwareStackError, cudaErrorInvalidPc,
        cudaErrorInvalidAddressSpace, cudaErrorLaunchTimeout, cudaErrorNvlinkUncorrectable, cudaErrorContextIsDestroyed,
        cudaErrorMpsClientTerminated})
    BOOST_TEST_CONTEXT(cudaGetErrorName(e)) BOOST_CHECK(classify(e) == error_kind::sticky);
  for (const cudaError_t e :
       {cudaErrorInvalidValue, cudaErrorInvalidResourceHandle, cudaErrorInvalidDevice, cudaErrorInvalidConfiguration,
        cudaErrorStreamCaptureUnsupported, cudaErrorCapturedEvent, cudaErrorLaunchOutOfResources})
    BOOST_TEST_CONTEXT(cudaGetErrorName(e)) BOOST_CHECK(classify(e) == error_kind::invalid_argument);
  for (const cudaError_t e : {cudaErrorNotSupported, cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion})
    BOOST_TEST_CONTEXT(cudaGetErrorName(e)) BOOST_CHECK(classify(e) == error_kind::not_supported);
  for (const cudaError_t e : {cudaErrorPeerAccessUnsupported, cudaErrorPeerAccessNotEnabled, cudaErrorTooManyPeers})
    BOOST_TEST_CONTEXT(cudaGetErrorName(e)) BOOST_CHECK(classify(e) == error_kind::peer_access);
  BOOST_CHECK(classify(cudaErrorMemoryAllocation) == error_kind::out_of_memory);
  BOOST_CHECK(classify(cudaErrorUnknown) == error_kind::device);
  BOOST_CHECK(classify(123456) == error_kind::device);
}

BOOST_AUTO_TEST_CASE(error_texts_name_verb_device_reason_and_way_out) {
  const std::string sticky = text_of<ferry::device_error>(cudaErrorIllegalAddress, "copy", 3);
  for (const char* part :
       {"copy", "device 3", "cudaErrorIllegalAddress", "the process must restart to use this device"})
    BOOST_TEST(contains(sticky, part), sticky);
  const std::string capture = text_of<ferry::invalid_argument>(cudaErrorStreamCaptureUnsupported, "synchronize", -1);
  BOOST_TEST(contains(capture, "captured"), capture);
  BOOST_TEST(!contains(capture, "device -1"), capture);
  const std::string image = text_of<ferry::not_supported>(cudaErrorNoKernelImageForDevice, "launch", 0);
  BOOST_TEST(contains(image, "CMAKE_CUDA_ARCHITECTURES"), image);
  const std::string memory =
      out_of_memory_text(ferry::memory_kind::device, 1, 4096, {.free_bytes = 512, .total_bytes = 2048});
  for (const char* part : {"4096 bytes", "device 1", "512 bytes free of 2048"})
    BOOST_TEST(contains(memory, part), memory);
}

BOOST_AUTO_TEST_CASE(plans_use_few_dimensions_and_wide_words) {
  alignas(16) static std::array<std::byte, 256> a{}, b{};
  // A contiguous block of rank 3, reversed in one dimension on both sides: one run.
  const ferry::detail::strided_shape block{.element_bytes = 4, .rank = 3, .extent = {4, 8, 2}};
  const auto whole = plan_copy({a.data(), {64, 8, 4}}, {b.data(), {64, 8, 4}}, block);
  BOOST_CHECK(whole.is_contiguous());
  BOOST_TEST(whole.word == 16u);
  BOOST_TEST(whole.run_bytes() == 256u);
  const auto backwards = plan_copy({a.data() + 192, {-64, 8, 4}}, {b.data() + 192, {-64, 8, 4}}, block);
  BOOST_CHECK(backwards.is_contiguous());
  BOOST_CHECK(backwards.to == a.data() && backwards.from == b.data());
  // Rows with a pitch.
  const auto rows = plan_copy({a.data(), {512, 64, 4}}, {b.data(), {64, 8, 4}}, block);
  BOOST_TEST(rows.rank == 1u);  // a row of 8 bytes is one word
  BOOST_CHECK(rows.is_pitched(1u << 31) && !rows.is_pitched(63) && !rows.is_contiguous());
  BOOST_TEST(rows.rows() == 32u);
  BOOST_TEST(rows.run_bytes() == 8u);
  // A transposition has neither a run nor a pitch.
  const auto turned =
      plan_copy({a.data(), {32, 4}}, {b.data(), {4, 32}}, {.element_bytes = 4, .rank = 2, .extent = {8, 8}});
  BOOST_TEST(turned.word == 4u);
  BOOST_CHECK(!turned.is_pitched(1u << 31) && !turned.is_contiguous());
  BOOST_TEST(turned.source_run() == 0u);
  BOOST_TEST(rows.source_run() == plan_rank);
  // Elements of 12 bytes are copied as words of 4, misaligned ones as bytes.
  const ferry::detail::strided_shape triple{.element_bytes = 12, .rank = 1, .extent = {5}};
  BOOST_TEST(plan_copy({a.data(), {24}}, {b.data(), {12}}, triple).word == 4u);
  BOOST_TEST(plan_copy({a.data() + 1, {24}}, {b.data(), {12}}, triple).word == 1u);
  BOOST_TEST(plan_copy({a.data(), {4}}, {b.data(), {4}}, {.element_bytes = 4, .rank = 1, .extent = {0}}).words == 0u);
  BOOST_TEST(plan_copy({a.data(), {}}, {b.data(), {}}, {.element_bytes = 8}).run_bytes() == 8u);
}

BOOST_AUTO_TEST_CASE(plans_do_not_overflow_above_4_GiB) {
  const std::ptrdiff_t row = std::ptrdiff_t{5} << 30;
  const ferry::detail::strided_shape shape{.element_bytes = 1, .rank = 2, .extent = {6, std::size_t{3} << 30}};
  auto* base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
  const auto p = plan_copy({base + 5 * row, {-row, 1}}, {base, {std::ptrdiff_t{3} << 30, 1}}, shape);
  BOOST_TEST(p.words * p.word == std::size_t{18} << 30);
  BOOST_CHECK(p.to == base);
  BOOST_TEST(p.to_stride[0] == row);
  BOOST_CHECK(p.from == base + 5 * (std::ptrdiff_t{3} << 30));
  BOOST_CHECK(!p.is_pitched((1u << 31) - 1));
}

BOOST_AUTO_TEST_CASE(plans_refuse_what_they_cannot_do) {
  std::byte b{};
  BOOST_CHECK_THROW(plan_copy({&b, {}}, {&b, {}}, {.element_bytes = 1, .rank = 7}), ferry::invalid_argument);
  BOOST_CHECK_THROW(plan_copy({&b, {}}, {&b, {}}, {.element_bytes = 0}), ferry::invalid_argument);
  const std::array<std::byte, 17> large{};
  BOOST_CHECK_EXCEPTION(plan_fill({&b, {}}, {.element_bytes = 17}, large.data()), ferry::invalid_argument,
                        [](const ferry::invalid_argument& e) { return contains(e.what(), "17 bytes"); });
}

BOOST_AUTO_TEST_CASE(random_copies_and_fills_touch_the_right_bytes) {
  cuda_test::random_engine r(7);
  for (int round = 0; round < 1500; ++round) {
    const auto shape = cuda_test::random_shape(r, pick(r, 0, 6), pick(r, 1, 24));
    const layout lt = cuda_test::random_layout(r, shape, false), lf = cuda_test::random_layout(r, shape, true);
    auto want = cuda_test::random_bytes(r, lt.bytes), got = want, source = cuda_test::random_bytes(r, lf.bytes);
    cuda_test::oracle_copy(want.data(), lt, source.data(), lf, shape);
    const strided_plan p = plan_copy(lt.at(got.data()), lf.at(source.data()), shape);
    walk(p, [&](std::ptrdiff_t to, std::ptrdiff_t from, std::size_t) {
      if (!is_aligned(p.to + to, p.word) || !is_aligned(p.from + from, p.word)) BOOST_FAIL("misaligned word");
      std::memcpy(p.to + to, p.from + from, p.word);
    });
    BOOST_REQUIRE(got == want);
    if (shape.element_bytes > 16) continue;

    auto element = cuda_test::random_bytes(r, 16);
    if (pick(r, 0, 2) == 0) std::fill(element.begin(), element.end(), std::byte{0x5a});
    cuda_test::oracle_fill(want.data(), lt, shape, element.data());
    const fill_plan f = plan_fill(lt.at(got.data()), shape, element.data());
    walk(f.where, [&](std::ptrdiff_t to, std::ptrdiff_t, std::size_t run) {
      if (!is_aligned(f.where.to + to, f.where.word)) BOOST_FAIL("misaligned word");
      std::memcpy(f.where.to + to, f.what.bytes.data() + run % f.what.period * f.where.word, f.where.word);
    });
    BOOST_REQUIRE(got == want);
  }
}

BOOST_AUTO_TEST_SUITE_END()
