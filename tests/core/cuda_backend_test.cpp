// Devices, memory and work of the CUDA backend on real GPUs.
#include <limits>

#include "cuda_fixture.hpp"
#include "cuda_strided_cases.hpp"

using namespace cuda_test;

BOOST_AUTO_TEST_SUITE(cuda_backend, *utf::precondition(needs_devices{1}))

BOOST_FIXTURE_TEST_CASE(machine_is_described, unchanged) {
  BOOST_CHECK(cuda::probe() == cuda::presence::usable);
  BOOST_TEST(b.name() == "cuda");
  for (int d = 0; d < b.device_count(); ++d) {
    const device_properties p = b.properties(d);
    const device_memory m = b.memory(d);
    BOOST_TEST(!p.name.empty());
    BOOST_TEST(p.multiprocessors > 0);
    BOOST_TEST(p.compute_major >= 5);
    BOOST_TEST(m.free_bytes <= m.total_bytes);
    BOOST_TEST(m.total_bytes <= p.memory_bytes);
    BOOST_TEST(b.can_access_peer(d, d));
    check("memory");
  }
  BOOST_CHECK_EXCEPTION(b.properties(b.device_count()), invalid_argument, [](const invalid_argument& e) {
    return contains(e.what(), "there is no device") && contains(e.what(), "CUDA_VISIBLE_DEVICES");
  });
}

BOOST_FIXTURE_TEST_CASE(current_device_can_be_exchanged, unchanged) {
  BOOST_TEST(b.exchange_current_device(0) == current);
  BOOST_TEST(b.exchange_current_device(current) == 0);
}

BOOST_FIXTURE_TEST_CASE(bytes_of_every_kind_are_written_and_read_back, unchanged) {
  cuda_test::random_engine r(1);
  for (const memory_kind kind : {memory_kind::device, memory_kind::unified, memory_kind::host})
    for (const std::size_t n : {1ul, 3ul, 4097ul, (1ul << 20) + 7}) {
      const bytes a(b, kind, 0, n), c(b, kind, 0, n);
      check("allocate");
      const auto v = cuda_test::random_bytes(r, n);
      put(a.p, v);
      b.copy(s, c.p, a.p, n);
      BOOST_CHECK(fetch(c.p, n) == v);
      b.copy(s, c.p, a.p, 0);
      if (kind != memory_kind::device) BOOST_CHECK(std::equal(v.begin(), v.end(), c.p));
    }
  b.release(memory_kind::device, 0, nullptr, 0);
  check("release");
}

BOOST_FIXTURE_TEST_CASE(out_of_memory_names_request_and_device, unchanged) {
  constexpr std::size_t n = std::size_t{1} << 50;
  BOOST_CHECK_EXCEPTION(b.allocate(memory_kind::device, 0, n), out_of_memory, [&](const out_of_memory& e) {
    return e.requested() == n && contains(e.what(), std::to_string(n)) && contains(e.what(), "device 0") &&
           contains(e.what(), "bytes free of");
  });
  check("allocate");
}

BOOST_FIXTURE_TEST_CASE(misuse_is_refused_with_a_reason, unchanged) {
  const bytes a(b, memory_kind::device, 0, 16);
  int on_the_stack = 0;
  BOOST_CHECK_EXCEPTION(
      b.advise(&on_the_stack, std::numeric_limits<std::size_t>::max(), memory_advice::read_mostly, {0}), error,
      [](const error& e) { return contains(e.what(), "advise") && contains(e.what(), "cudaError"); });
  check("advise");
  const native_event e = b.create_event(0, false);
  BOOST_CHECK_EXCEPTION(b.elapsed_milliseconds(e, e), invalid_argument,
                        [](const invalid_argument& x) { return contains(x.what(), "elapsed_milliseconds"); });
  check("elapsed_milliseconds");
  b.destroy_event(e);
  const host_kernel k{.name = "my_kernel", .uses = {}, .body = {}};
  BOOST_CHECK_EXCEPTION(b.launch(s, k), not_supported, [](const not_supported& x) {
    return contains(x.what(), "my_kernel") && contains(x.what(), "ferry_add_executable");
  });
  BOOST_CHECK_THROW(b.end_capture(s), invalid_argument);
  check("end_capture");
  b.check_launch(s, "nothing");
}

BOOST_FIXTURE_TEST_CASE(check_launch_names_the_kernel_and_clears, unchanged) {
  BOOST_TEST(cudaSetDevice(-7) != cudaSuccess);  // leaves a pending error, as an invalid <<<>>> launch does
  BOOST_CHECK_EXCEPTION(b.check_launch(s, "my_kernel"), invalid_argument,
                        [](const invalid_argument& e) { return contains(e.what(), "'my_kernel' on device 0"); });
  check("check_launch");
  b.check_launch(s, "my_kernel");
}

BOOST_FIXTURE_TEST_CASE(strided_copies_and_fills_match_the_oracle, unchanged) {
  cuda_test::random_engine r(2);
  for (int round = 0; round < 600; ++round) {
    const auto shape = cuda_test::random_shape(r, static_cast<std::size_t>(round % 7), pick(r, 1, 24));
    const layout lt = cuda_test::random_layout(r, shape, false), lf = cuda_test::random_layout(r, shape, true);
    auto want = cuda_test::random_bytes(r, lt.bytes);
    const auto source = cuda_test::random_bytes(r, lf.bytes);
    const auto kind = round % 5 == 0 ? memory_kind::unified : round % 5 == 1 ? memory_kind::host : memory_kind::device;
    const bytes to(b, memory_kind::device, 0, lt.bytes), from(b, kind, 0, lf.bytes);
    put(to.p, want);
    put(from.p, source);
    cuda_test::oracle_copy(want.data(), lt, source.data(), lf, shape);
    b.copy_strided(s, lt.at(to.p), lf.at(from.p), shape);
    check("copy_strided");
    BOOST_REQUIRE(fetch(to.p, lt.bytes) == want);
    if (shape.element_bytes > 16) continue;
    auto element = cuda_test::random_bytes(r, 16);
    if (round % 3 == 0) std::fill(element.begin(), element.end(), std::byte{0x5a});
    cuda_test::oracle_fill(want.data(), lt, shape, element.data());
    b.fill_strided(s, lt.at(to.p), shape, element.data());
    check("fill_strided");
    BOOST_REQUIRE(fetch(to.p, lt.bytes) == want);
  }
}

BOOST_FIXTURE_TEST_CASE(contiguous_fills_of_every_element_size, unchanged) {
  cuda_test::random_engine r(3);
  const bytes a(b, memory_kind::device, 0, 16 * 100003 + 16);
  for (const std::size_t size : {1u, 2u, 4u, 8u, 12u, 16u}) {
    const strided_shape shape{.element_bytes = size, .rank = 1, .extent = {100003}};
    const auto element = cuda_test::random_bytes(r, size);
    b.fill_strided(s, {a.p, {static_cast<std::ptrdiff_t>(size)}}, shape, element.data());
    const auto got = fetch(a.p, size * 100003);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != element[i % size];
    BOOST_TEST(wrong == 0u);
  }
}

// 2^31 + 5 elements, every second byte of 4 GiB: neither the count nor the offsets fit in 32 bits.
BOOST_FIXTURE_TEST_CASE(strided_work_above_4_GiB, unchanged,
                        *utf::precondition(needs_device_memory{std::size_t{7} << 30})) {
  const std::size_t n = (std::size_t{1} << 31) + 5;
  const bytes a(b, memory_kind::device, 0, 2 * n), c(b, memory_kind::device, 0, n);
  const strided_shape shape{.element_bytes = 1, .rank = 1, .extent = {n}};
  const std::byte seven{7}, nine{9};
  b.fill_strided(s, {a.p, {1}}, {.element_bytes = 1, .rank = 1, .extent = {2 * n}}, &nine);
  b.fill_strided(s, {a.p, {2}}, shape, &seven);
  b.copy_strided(s, {c.p, {1}}, {a.p + 2 * n - 1, {-2}}, shape);
  const auto end = fetch(a.p + 2 * n - 6, 6), copied = fetch(c.p + n - 4, 4);
  for (std::size_t i = 0; i < 6; ++i) BOOST_CHECK(end[i] == (i % 2 == 0 ? seven : nine));
  for (const std::byte x : copied) BOOST_CHECK(x == nine);
}

BOOST_AUTO_TEST_SUITE_END()
