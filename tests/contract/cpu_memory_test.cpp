// as: host
// Copies from and to CPU memory that belongs to no array: strided, converting, overlapping, on a stream.
#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"

#include <algorithm>

using namespace contract;
using byte = std::uint8_t;

BOOST_FIXTURE_TEST_SUITE(contract_of_cpu_memory, clean)

// Strided CPU elements, to and from every memory kind and among themselves, with and without conversion.
BOOST_AUTO_TEST_CASE(strided_memory_of_the_cpu) {
  const auto run = [](auto number, fr::device d) {
    using Other = decltype(number);
    const std::vector<int> v = counting<int>(200);
    const fr::mdspan<const int, 2> columns(v.data(), {10, 7}, {1, 20});  // 7 columns, each of 10
    const fr::mdspan<const int, 2> backwards(v.data() + 199, {10, 7}, {-3, -1});
    const auto expect = [&](const fr::mdspan<const int, 2>& m) {
      std::vector<Other> all;
      for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 7; ++j) all.push_back(static_cast<Other>(m(i, j)));
      return all;
    };
    for (const auto& m : {columns, backwards}) {
      fr::device_array<Other, 2> a({10, 7}, d);
      fr::unified_array<Other, 2> u({7, 10}, d);
      fr::copy(m, a);
      CHECK_EQUAL(fr::to_vector(a), expect(m));
      fr::copy(fr::stream(d), m, u.transpose());
      CHECK_EQUAL(fr::to_vector(u.transpose()), expect(m));
      std::vector<int> back(200, -1), expected = back;
      const fr::mdspan<int, 2> there(back.data() + 3, {10, 7}, {2, 25});
      fr::copy(a, there);
      for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 7; ++j)
          expected[3 + 2 * i + 25 * j] = static_cast<int>(static_cast<Other>(m(i, j)));
      CHECK_EQUAL(back, expected);
      std::fill(back.begin(), back.end(), -1);
      fr::copy(u.transpose().slice({0, 10, -1}), fr::mdspan<int, 2>(back.data() + 3 + 18, {10, 7}, {-2, 25}));
      CHECK_EQUAL(back, expected);
      std::vector<Other> flat(70);
      fr::copy(m, flat);
      CHECK_EQUAL(flat, expect(m));
      std::fill(back.begin(), back.end(), -1);
      fr::copy(flat, there);
      CHECK_EQUAL(back, expected);
      check_error<fr::invalid_argument>([&] { fr::copy(m, a.transpose()); }, {"10 x 7", "7 x 10"});
    }
  };
  run(int{}, fr::devices().back());
  run(double{}, fr::devices().back());
  for (unsigned seed = 0; seed < 3; ++seed) {
    const fr::simulation sim("devices=2;peers=none;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    run(int{}, fr::device(1));
    run(std::int16_t{}, fr::device(1));
  }
}

// The CPU would access device memory directly, and crash.
BOOST_AUTO_TEST_CASE(strided_memory_of_a_device_is_no_memory_of_the_cpu) {
  const fr::device last = fr::devices().back();
  const std::string of = "memory of device " + std::to_string(last.index());
  auto there = counted<int, 2, fr::memory_kind::device>({4, 6}, last);
  const fr::mdspan<int, 2> raw(there.unsynchronized_data(), {6, 4}, {1, 6});
  const auto refused = [&](auto number) {
    fr::device_array<decltype(number), 2> a({6, 4}, 1, last);
    fr::unified_array<decltype(number), 2> u({6, 4}, 1, last);
    check_error<fr::invalid_argument>([&] { fr::copy(raw, a); }, {of, "ferry::borrow"});
    check_error<fr::invalid_argument>([&] { fr::copy(fr::stream(last), raw, u); }, {of, "ferry::borrow"});
    check_error<fr::invalid_argument>([&] { fr::copy(a, raw); }, {of, "ferry::borrow"});
    check_error<fr::invalid_argument>([&] { fr::copy(fr::stream(last), u, raw); }, {of, "ferry::borrow"});
    CHECK_EQUAL(fr::to_vector(a), std::vector<decltype(number)>(24, 1));
    CHECK_EQUAL(fr::to_vector(u), std::vector<decltype(number)>(24, 1));
  };
  refused(int{}), refused(double{});
  CHECK_EQUAL(fr::to_vector(there), counting<int>(24));
  // The CPU can access the other memory kinds.
  auto pinned = counted<int, 2, fr::memory_kind::host>({4, 6}, last);
  fr::unified_array<int, 2> u({6, 4}, 1, last);
  fr::copy(fr::mdspan<int, 2>(pinned.begin(), {6, 4}, {1, 6}), u);
  CHECK_EQUAL(fr::to_vector(u.transpose()), counting<int>(24));
}

BOOST_AUTO_TEST_CASE(memory_of_the_cpu_to_memory_of_the_cpu) {
  const small_chunks small;
  std::vector<int> v = counting<int>(5000);
  std::vector<int> expected = v;
  fr::copy(std::span(v).first(4000), std::span(v).subspan(700, 4000));  // unchanged
  std::copy_n(counting<int>(5000).begin(), 4000, expected.begin() + 700);
  CHECK_EQUAL(v, expected);
  v = counting<int>(5000);
  fr::copy(fr::mdspan<int, 1>(v.data() + 4999, {5000}, {-1}), v);  // reversed
  for (std::size_t i = 0; i < 5000; ++i) BOOST_TEST(v[i] == static_cast<int>(4999 - i));
  std::vector<std::int32_t> bits = counting<std::int32_t>(100);
  fr::copy(bits, std::span(reinterpret_cast<float*>(bits.data()), 100));  // in place, with conversion
  for (std::size_t i = 0; i < 100; ++i) BOOST_TEST(std::bit_cast<float>(bits[i]) == static_cast<float>(i));
  std::vector<byte> few(9);
  check_error<fr::invalid_argument>([&] { fr::copy(v, few); }, {"5000 elements to 9"});
  std::vector<int> none;
  fr::copy(std::vector<int>{}, none);
  BOOST_TEST(contains(fr::route(fr::pageable_memory, fr::pageable_memory).text(), "memory of the CPU"));
  const fr::device_array<int> a({10}, 1);
  check_error<fr::invalid_argument>([&] { fr::copy(std::span(a.unsynchronized_data(), 10), v); }, {"to 5000"});
  check_error<fr::invalid_argument>([&] { fr::copy(std::span(a.unsynchronized_data(), 10), std::span(v).first(10)); },
                                    {"memory of device 0"});
  const fr::stream s;
  check_error<fr::invalid_argument>([&] { (void)fr::capture(s, [&] { fr::copy(v, v); }); }, {"inside a capture"});
}

// The copy waits for the given stream, and its earlier work is in the elements.
BOOST_AUTO_TEST_CASE(memory_of_the_cpu_behind_a_stream) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
    const fr::stream s;
    fr::host_array<int> pinned({100}, 1);
    std::vector<int> v(100);
    fr::fill(s, pinned, 7);
    fr::copy(s, std::span<const int>(pinned.unsynchronized_data(), 100), v);
    CHECK_EQUAL(v, std::vector<int>(100, 7));
  }
}

BOOST_AUTO_TEST_SUITE_END()
