// as: host
// Copy routes: every memory kind to every kind, by all routes, in many small chunks, and what route() reports.
#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/copies/begun_upload.hpp"
#include "support/quiet_stderr.hpp"

#include <algorithm>
#include <bit>
#include <random>

using namespace contract;

namespace contract_of_routes {
namespace {

using byte = std::uint8_t;

std::vector<byte> some_bytes(std::size_t n, unsigned seed) {
  std::vector<byte> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<byte>((i * 2654435761u + seed * 97u) >> 9);
  return v;
}

// Copies bytes [5, 5 + n) of one place to bytes [3, 3 + n) of another, and checks that all others are unchanged. Place
// 0 is pageable memory, place 1 pinned and place 2 unified memory. The devices follow.
class two_places {
 public:
  two_places(std::size_t n, unsigned seed) : n_(n), source_(some_bytes(n + 9, seed)), expected_(n + 9, 0xEE) {
    std::copy_n(source_.begin() + 5, n_, expected_.begin() + 3);
  }
  void copy(int from, int to) const {
    with_array(from, source_,
               [&](auto&& a) { with_array(to, std::vector<byte>(n_ + 9, 0xEE), [&](auto&& b) { between(a, b); }); });
  }

 private:
  template <class Use>
  static void with_array(int place, const std::vector<byte>& v, Use use) {
    if (place == 0) return use(std::vector<byte>(v));
    if (place == 1) return use(fr::host_array<byte>::from(v, fr::devices().back()));
    if (place == 2) return use(fr::unified_array<byte>::from(v, fr::devices().back()));
    use(fr::device_array<byte>::from(v, fr::device(place - 3)));
  }
  template <class A, class B>
  void between(A& a, B& b) const {
    constexpr bool from_memory = std::is_same_v<A, std::vector<byte>>, to_memory = std::is_same_v<B, std::vector<byte>>;
    const auto part = [](auto& x, std::size_t first, std::size_t n) {
      if constexpr (std::is_same_v<std::remove_const_t<std::remove_reference_t<decltype(x)>>, std::vector<byte>>)
        return std::span(x).subspan(first, n);
      else
        return x.slice({first, first + n});
    };
    const auto from = part(std::as_const(a), 5, n_);
    if (n_ % 2 == 0)
      fr::copy(from, part(b, 3, n_));
    else
      fr::copy(fr::stream(fr::devices().back()), from, part(b, 3, n_));
    if constexpr (from_memory) std::fill(a.begin(), a.end(), byte{0});  // copy() has read it before it returned
    if constexpr (to_memory)
      BOOST_TEST((b == expected_));
    else
      BOOST_TEST((fr::to_vector(b) == expected_));
    if constexpr (!from_memory) BOOST_TEST((fr::to_vector(a) == source_));
  }
  const std::size_t n_;
  std::vector<byte> source_, expected_;
};

void copy_everywhere(std::initializer_list<std::size_t> sizes) {
  const int places = 3 + static_cast<int>(fr::devices().size());
  unsigned seed = 0;
  for (const std::size_t n : sizes)
    for (int from = 0; from < places; ++from)
      for (int to = 0; to < places; ++to) BOOST_TEST_CONTEXT(n << " bytes from place " << from << " to place " << to)
  two_places(n, ++seed).copy(from, to);
}

std::string lacking_memory(int gib, int) {
  if (fr::runtime::current().is_simulated()) return "memory of GPUs, and these devices are simulated";
  for (const fr::device d : {fr::devices().front(), fr::devices().back()})
    if (d.memory().free_bytes >> 30 < static_cast<std::size_t>(gib)) return std::to_string(gib) + " GiB of free memory";
  return "";
}
utf::precondition needs_memory(int gib) { return utf::precondition(needs{lacking_memory, gib}); }

}  // namespace
}  // namespace contract_of_routes

BOOST_FIXTURE_TEST_SUITE(contract_of_routes, clean)

BOOST_AUTO_TEST_CASE(all_places_in_usual_chunks) { copy_everywhere({1, 4097, 3000001}); }

BOOST_AUTO_TEST_CASE(all_places_in_small_chunks) {
  const small_chunks small;
  copy_everywhere({1, 255, 1024, 1025, 100003});
}

BOOST_AUTO_TEST_CASE(all_places_with_links_lent) {
  const small_chunks small;
  const fr::shared_links loan(fr::devices());
  copy_everywhere({1024, 99999});
}

BOOST_AUTO_TEST_CASE(all_places_on_simulated_machines) {
  for (const char* runtime : {"devices=3;peers=none", "devices=3;peers=0-1", "devices=3;broken=0-1,1-2", "devices=1"})
    for (const std::string schedule : {"eager", "random:1", "random:2", "random:3", "random:4"}) {
      const support::quiet_stderr quiet;
      const fr::simulation sim(std::string(runtime) + ";schedule=" + schedule);
      const small_chunks small;
      const fr::shared_links loan(fr::devices());
      BOOST_TEST_CONTEXT(runtime << ' ' << schedule) copy_everywhere({1, 1025, 20011});
    }
}

BOOST_AUTO_TEST_CASE(copies_are_one_use_on_the_given_stream) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const fr::simulation sim("devices=3;peers=none;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    const fr::stream s{fr::device(static_cast<int>(seed % 3))};
    auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(5000), fr::device(0));
    fr::device_array<int> b({5000}, 7, fr::device(1));
    fr::copy(s, a, b);
    BOOST_TEST(&last_user(a) == &s.timeline());
    BOOST_TEST(&last_user(b) == &s.timeline());
    BOOST_TEST(b.owner().get().history.uses().size() == 1u);
    fr::fill(a, -1);  // must wait until the copy has read it
    s.synchronize();  // the stream completes after the copy
    CHECK_EQUAL(std::span<const int>(b.unsynchronized_data(), 5000), counting<int>(5000));
  }
}

BOOST_AUTO_TEST_CASE(copies_come_after_what_the_stream_was_given) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const fr::simulation sim("devices=3;peers=none;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    const fr::stream s{fr::device(static_cast<int>(seed % 3))}, t{fr::device(0)};
    fr::device_array<int> a({5000}, 1, fr::device(0)), b({5000}, 2, fr::device(1)), c({5000}, 3, fr::device(2));
    for (int i = 0; i < 5; ++i) {
      fr::fill(t, a, 10 + i);
      fr::copy(s, a, b);
      fr::copy(s, b, c);
      fr::copy(s, c.slice({0, 5000, -1}), a);
    }
    std::vector<int> down(5000, -1);
    fr::copy(a, std::span<int>(down));
    CHECK_EQUAL(down, std::vector<int>(5000, 14));
    CHECK_EQUAL(fr::to_vector(b), std::vector<int>(5000, 14));
  }
}

// Strided: parts with more chunks than the ring has reuse its buffers, one after the other.
BOOST_AUTO_TEST_CASE(pageable_memory_in_parts_of_many_chunks) {
  for (const std::string schedule : {"eager", "random:1", "random:2"}) {
    const fr::simulation sim("devices=1;schedule=" + schedule);
    const small_chunks small;
    fr::copy_options o = fr::current_copy_options();
    o.scratch_bytes = 9000;
    fr::set_copy_options(o);
    const auto v = counting<int>(10000);
    fr::device_array<int, 2> a({100, 100}, -1);
    fr::copy(v, a.transpose());
    CHECK_EQUAL(fr::to_vector(a.transpose()), v);
  }
}

// Uploads already read by the CPU may be enqueued in any order, or never. Other copies run in between.
BOOST_AUTO_TEST_CASE(uploads_begin_before_their_turn) {
  const auto run = [](unsigned seed) {
    std::mt19937 random(seed);
    const fr::stream s;
    std::vector<fr::device_array<int>> arrays;
    std::vector<std::vector<int>> sources, expected;
    std::vector<fr::detail::begun_upload> begun;
    for (int i = 0; i < 6; ++i) {
      const std::size_t n = 10 + random() % 3000;
      sources.push_back(counting<int>(n, 10000 * i));
      expected.emplace_back(n, -1);
      arrays.emplace_back(fr::extents<1>(n), -1);
      begun.emplace_back(s, fr::detail::side_of(arrays.back()),
                         fr::detail::pageable_side(sources.back().data(), arrays.back().extents()),
                         fr::detail::shape_of<int>(arrays.back().extents()));
    }
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    std::shuffle(order.begin(), order.end(), random);
    order.resize(1 + seed % 6);
    for (const std::size_t i : order) {
      begun[i].enqueue();
      fr::copy(std::as_const(arrays[i]), arrays[i].slice({0, arrays[i].size(), -1}));
      expected[i].assign(sources[i].rbegin(), sources[i].rend());
      fr::device_array<int> other({4000});
      fr::copy(counting<int>(4000), other);
      CHECK_EQUAL(fr::to_vector(other), counting<int>(4000));
    }
    begun.clear();
    sources.clear();
    for (std::size_t i = 0; i < 6; ++i) CHECK_EQUAL(fr::to_vector(arrays[i]), expected[i]);
  };
  for (unsigned seed = 0; seed < 5; ++seed) run(seed);
  for (unsigned seed = 0; seed < 30; ++seed) {
    const fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    run(seed);
  }
}

BOOST_AUTO_TEST_CASE(routes_say_which_way_and_why) {
  const variable on("FERRY_PEER", "on");
  const fr::simulation sim("devices=4;peers=0-1,0-2,1-2");
  fr::copy_options o = fr::current_copy_options();
  o.threads = 3;
  fr::set_copy_options(o);
  const fr::copy_end d0 = fr::device(0), d1 = fr::device(1), d3 = fr::device(3);
  const auto check = [](const fr::route_info& r, fr::route_kind kind, std::initializer_list<std::string_view> parts) {
    BOOST_TEST(static_cast<int>(r.kind) == static_cast<int>(kind), r.text());
    for (const auto part : parts) BOOST_TEST(contains(r.text(), part), r.text());
  };
  check(fr::route(d0, d0), fr::route_kind::direct, {"direct"});
  check(fr::route(d0, d1), fr::route_kind::peer, {"peer", "devices 0 and 1"});
  check(fr::route(d0, d3), fr::route_kind::staged, {"staged", "devices 0 and 3", "cannot be peers"});
  check(fr::route(fr::pageable_memory, d0), fr::route_kind::parallel, {"parallel", "3 threads"});
  check(fr::route(d0, fr::pageable_memory), fr::route_kind::parallel, {"pageable"});
  check(fr::route(d0, fr::pageable_memory, 100), fr::route_kind::direct, {"100 bytes"});
  check(fr::route(fr::pinned_memory, d0), fr::route_kind::direct, {});
  {
    const fr::shared_links team(fr::devices());
    const auto r = fr::route(fr::pinned_memory, d0);
    check(r, fr::route_kind::multipath, {"links"});
    CHECK_EQUAL(r.through, (std::vector<int>{1, 2}));  // device 3 has no link to it
    check(fr::route(fr::pinned_memory, d0, 1000), fr::route_kind::direct, {});
    check(fr::route(fr::pinned_memory, d3), fr::route_kind::direct, {});
  }
  check(fr::route(fr::pinned_memory, d0), fr::route_kind::direct, {});
  o.multipath = fr::multipath_use::always;
  fr::set_copy_options(o);
  check(fr::route(d0, fr::pinned_memory), fr::route_kind::multipath, {});
  fr::unified_array<int> u({100000}, 0);
  check(fr::route(u, d0), fr::route_kind::direct, {});
  o.threads = 1;
  fr::set_copy_options(o);
  check(fr::route(fr::pageable_memory, d0), fr::route_kind::direct, {"no second core"});
  check_error<fr::invalid_argument>([&] { (void)fr::route(d0, fr::device(4)); }, {"device 4"});
  o.chunks = 1;
  check_error<fr::invalid_argument>([&] { fr::set_copy_options(o); }, {"allowed are 2 to 4096"});
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_half_way_is_an_error_and_ends) {
  for (const std::string schedule : {"eager", "random:5"})
    for (int nth = 1; nth < 40; nth += 3) {
      const support::quiet_stderr quiet;
      const fr::simulation sim("devices=3;peers=none;fail=copy@" + std::to_string(nth) + ";schedule=" + schedule);
      const small_chunks small;
      const fr::stream s{fr::device(2)};
      fr::device_array<int> a({5000}, 1, fr::device(0)), b({5000}, 2, fr::device(1));
      const auto attempt = [&] {
        try {
          fr::copy(s, a, b);
          s.synchronize();
          (void)fr::to_vector(b);
        } catch (const fr::device_error& e) {
          return contains(e.what(), "fail=");
        }
        return false;
      };
      BOOST_TEST(attempt(), "copy " << nth << ' ' << schedule);
    }
}

BOOST_AUTO_TEST_CASE(without_memory_for_chunks_the_driver_does_it) {
  for (int nth = 3; nth < 6; ++nth) {
    const fr::simulation sim("devices=2;peers=none;fail=alloc@" + std::to_string(nth));
    const small_chunks small;
    fr::device_array<int> a({5000}, 1, fr::device(0)), b({5000}, 2, fr::device(1));
    fr::copy(a, b);
    fr::copy(a, b);
    CHECK_EQUAL(fr::to_vector(b), std::vector<int>(5000, 1));
  }
}

BOOST_AUTO_TEST_CASE(sizes_beyond_32_bits, *needs_memory(14)) {
  const std::size_t n = (std::size_t{1} << 31) + 4321;
  fr::device_array<byte> a({n}, byte{1}, fr::devices().front()), b({n}, byte{2}, fr::devices().back());
  const auto last = [n](auto& v) { return fr::to_vector(std::as_const(v).slice({n - 3, n})); };
  fr::copy(some_bytes(3, 1), a.slice({n - 3, n}));
  fr::copy(a, b);
  CHECK_EQUAL(last(b), some_bytes(3, 1));
  fr::copy(a.slice({0, n, -1}), b);
  CHECK_EQUAL(fr::to_vector(b.slice({0, 3, -1})), some_bytes(3, 1));
  std::vector<byte> pageable(n, byte{9});
  fr::copy(pageable, a);
  CHECK_EQUAL(last(a), std::vector<byte>(3, byte{9}));
  fr::copy(b, std::span<byte>(pageable));
  CHECK_EQUAL(std::span(pageable).first(3), fr::to_vector(b.slice({0, 3})));
  BOOST_TEST(+pageable[n - 1] == 1);
  fr::device_array<std::int16_t> wide({n}, b.device());
  fr::copy(b, wide);
  const auto few = fr::to_vector(wide.slice({0, 3}));
  CHECK_EQUAL(std::vector<byte>(few.begin(), few.end()), fr::to_vector(b.slice({0, 3})));
  CHECK_EQUAL(fr::to_vector(wide.slice({n - 2, n})), (std::vector<std::int16_t>{1, 1}));
}

BOOST_AUTO_TEST_SUITE_END()
