// Exclusive owners: a stream that alone uses an access history locks it through its own timeline (R14).
#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/counting_backend.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace exclusive_histories {
namespace {

using u32 = std::uint32_t;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] += 1; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const { y[i] += x[i]; }
};

template <class Array>
bool is_exclusive(const Array& a, const fr::stream& by) {
  return a.owner().get().history.is_exclusive_to(by.timeline());
}
template <class Array>
bool all_are(const Array& a, u32 value) {
  for (const u32 e : fr::to_vector(a))
    if (e != value) return false;
  return true;
}

fr::detail::access use_of(const fr::host_array<u32>& a, bool write) { return {&a.owner().get(), a.bytes(), write}; }

// A stream becomes the exclusive owner after this many submissions: the first one follows another stream's use.
constexpr u32 calm = fr::detail::access_history::uses_until_exclusive + 1;

template <class Array>
void use_calmly(fr::stream& s, Array& a) {
  for (u32 i = 0; i < calm; ++i) fr::parallel_for(s, a.size(), add_one{}, a);
}

// Runs the body on two simulated devices for each seed, because the subject is threads and access histories. The race
// checker finds unordered operations even where the results are right.
template <class Body>
void over_seeds(unsigned count, Body body) {
  for (unsigned seed = 0; seed < support::seeds(count); ++seed) {
    // Not the driver's pool: its allocations are work on streams, which the histories record.
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed), {.kind = fr::pool_kind::split});
    const bool right = body();
    BOOST_TEST(right, "not as expected, seed " << seed);
    if (!right) return;
  }
}

}  // namespace
}  // namespace exclusive_histories

BOOST_AUTO_TEST_SUITE(exclusive_histories)

BOOST_AUTO_TEST_CASE(a_stream_owns_what_it_alone_uses) {
  const fr::simulation sim("devices=1", {.kind = fr::pool_kind::split});
  fr::stream s, t;
  fr::host_array<u32> x({64}, 0u);
  fr::default_stream(fr::devices()[0]).synchronize();
  (void)std::as_const(x)[0];
  for (u32 i = 1; i < calm; ++i) {
    fr::parallel_for(s, 64, add_one{}, x);
    BOOST_TEST(!is_exclusive(x, s));
  }
  fr::parallel_for(s, 64, add_one{}, x);
  BOOST_TEST(is_exclusive(x, s));

  fr::parallel_for(t, 64, add_one{}, x);
  BOOST_TEST(!is_exclusive(x, s));
  BOOST_TEST(!is_exclusive(x, t));
  for (int i = 0; i < fr::detail::access_history::contended_uses; ++i)
    fr::parallel_for(t, 64, add_one{}, x);  // these record events at once (R5)
  use_calmly(t, x);
  BOOST_TEST(is_exclusive(x, t));

  BOOST_TEST(std::as_const(x)[5] == 2 * calm + 1 + fr::detail::access_history::contended_uses);
  BOOST_TEST(!is_exclusive(x, t));
}

// A stream that only reads after another stream's reads does not become the exclusive owner: its next use may be a
// write.
BOOST_AUTO_TEST_CASE(what_others_read_is_waited_for) {
  over_seeds(60, [] {
    fr::stream s, t;
    fr::device_array<u32> x({64}, 1u), y({64}, 0u), z({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    fr::parallel_for(t, 64, add_from{}, y, fr::in(x));
    for (u32 i = 0; i < 2 * calm; ++i) fr::parallel_for(s, 64, add_from{}, z, fr::in(x));
    fr::parallel_for(s, 64, add_one{}, x);
    return all_are(y, 1) && all_are(x, 2) && all_are(z, 2 * calm);
  });
}

// R16: a joint operation locks all histories, and so revokes exclusive ownership.
BOOST_AUTO_TEST_CASE(joint_operations_take_histories_back) {
  over_seeds(60, [] {
    fr::stream s(fr::devices()[0]), t(fr::devices()[1]), other;
    fr::host_array<u32> common({64}, 1u), x({64}, 0u), y({64}, 0u), sum({64}, 0u);
    for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
    fr::detail::backend& backend = fr::runtime::current().backend();
    const auto both = [&](const fr::host_array<u32>& from_s, const fr::host_array<u32>& from_t) {
      fr::detail::access of_s[] = {use_of(from_s, false), use_of(x, true)},
                         of_t[] = {use_of(y, true), use_of(from_t, false)};
      fr::detail::joint_guard::part parts[] = {
          fr::detail::joint_guard::part(fr::detail::admission::unchecked(t.timeline(), of_t)),
          fr::detail::joint_guard::part(fr::detail::admission::unchecked(s.timeline(), of_s))};
      const fr::detail::joint_guard guard(parts);
      if (&from_s != &x)
        backend.copy(s.timeline().stream(), x.unsynchronized_data(), from_s.unsynchronized_data(), 256);
      if (&from_t != &y)
        backend.copy(t.timeline().stream(), y.unsynchronized_data(), from_t.unsynchronized_data(), 256);
    };
    use_calmly(s, x), use_calmly(t, y);
    if (!is_exclusive(x, s) || !is_exclusive(y, t)) return false;
    for (u32 i = 0; i < 2 * calm; ++i) both(common, common);  // 1
    if (is_exclusive(common, s) || is_exclusive(common, t) || is_exclusive(x, s) || is_exclusive(y, t)) return false;
    for (u32 i = 0; i < 2 * calm; ++i) {  // a joint operation interrupts the count of submissions
      fr::parallel_for(s, 64, add_one{}, x);
      if (is_exclusive(x, s)) return false;
      both(common, common);
    }
    fr::parallel_for(s, 64, add_one{}, common);  // 2, after t's reads
    both(x, y);
    fr::parallel_for(other, 64, add_from{}, sum, fr::in(x));
    both(common, y);  // 2, after the reads of `other`
    return all_are(sum, 1) && all_are(x, 2) && all_are(y, 1);
  });
}

// Passing exclusive ownership back and forth costs the usual waits.
BOOST_AUTO_TEST_CASE(a_log_that_is_taken_back_orders_both_ways) {
  support::call_counts calls;
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(fr::runtime::current().backend(), calls),
                          {.kind = fr::pool_kind::split});
  fr::stream s, t;
  fr::device_array<u32> x({64}, 0u), y({64}, 0u);
  fr::default_stream(fr::devices()[0]).synchronize();
  use_calmly(s, x);
  use_calmly(t, y);
  BOOST_TEST(is_exclusive(x, s));
  BOOST_TEST(is_exclusive(y, t));
  const long before = calls.stream_waits;
  fr::parallel_for(t, 64, add_from{}, y, fr::in(x));
  BOOST_TEST(calls.stream_waits == before + 1);
  fr::parallel_for(s, 64, add_one{}, x);
  BOOST_TEST(calls.stream_waits == before + 2);
  BOOST_TEST(all_are(y, 2 * calm));
}

BOOST_AUTO_TEST_CASE(two_threads_share_a_stream_and_what_it_owns) {
  over_seeds(100, [] {
    constexpr u32 times = 80;
    fr::stream common;
    fr::device_array<u32> both({64}, 0u), of_first({64}, 0u), of_second({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    const auto work = [&](fr::device_array<u32>& own, u32 now_and_then) {
      fr::stream other;
      for (u32 i = 0; i < times; ++i) {
        fr::parallel_for(common, 64, add_one{}, own);
        fr::parallel_for(i % now_and_then ? common : other, 64, add_one{}, both);
      }
    };
    std::thread second([&] { work(of_second, times + 1); });
    work(of_first, 9);
    second.join();
    return all_are(of_first, times) && all_are(of_second, times) && all_are(both, 2 * times);
  });
}

// Slices, and arrays that are passed twice, need entries in the history. If none is free, the submission takes the slow
// path.
BOOST_AUTO_TEST_CASE(an_exclusive_history_makes_room) {
  over_seeds(20, [] {
    constexpr std::size_t n = 200;
    fr::stream s;
    fr::device_array<u32> x({n}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    use_calmly(s, x);
    if (!is_exclusive(x, s)) return false;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < n; i += 2) {
      auto part = x.slice(fr::slice{i, i + 2});
      fr::parallel_for(s, 2, add_one{}, part);
      auto first = x.slice(fr::slice{0, 2});
      if (i >= 4) fr::parallel_for(s, 2, add_from{}, part, fr::in(first));
      longest = std::max(longest, x.owner().get().history.uses().size());
    }
    if (longest < 4 || longest > fr::detail::access_history::usual_limit + 1) return false;
    for (int i = 0; i < 2; ++i) fr::parallel_for(s, n, add_from{}, x, fr::in(x));
    const auto got = fr::to_vector(x);
    for (std::size_t i = 0; i < n; ++i)
      if (got[i] != 4 * (i < 4 ? calm + 1 : 2 * (calm + 1))) return false;
    return true;
  });
}

// A block that returns to its stream stays exclusively owned by that stream. Another stream waits for the owner's
// pending work.
BOOST_AUTO_TEST_CASE(freed_bytes_stay_in_order) {
  over_seeds(60, [] {
    fr::stream s, t;
    fr::device_array<u32> x({64}, 0u), sum({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    use_calmly(s, x);
    const void* const bytes = x.owner().get().begin;
    x.free();
    fr::device_array<u32> again({64});
    if (again.owner().get().begin == bytes && !is_exclusive(again, s)) return false;
    fr::fill(s, again, 3u);
    fr::parallel_for(s, 64, add_from{}, sum, fr::in(again));
    again.free();
    fr::device_array<u32> next({64});
    fr::fill(t, next, 7u);
    fr::parallel_for(t, 64, add_one{}, next);
    return all_are(sum, 3) && all_are(next, 8);
  });
}

// A raw pointer to an exclusively owned array stays open until another stream uses the array, even if the owner
// enqueues more work.
BOOST_AUTO_TEST_CASE(raw_pointers_to_exclusively_owned_arrays) {
  over_seeds(60, [] {
    fr::stream s, t;
    fr::device_array<u32> x({64}, 0u), sum({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    use_calmly(s, x);
    u32* const p = fr::pointer(x, s);
    use_calmly(s, x);
    if (!is_exclusive(x, s)) return false;
    const u32 value = 77;
    fr::runtime::current().backend().fill_strided(s.native(), {reinterpret_cast<std::byte*>(p), {4}}, {4, 1, {64}},
                                                  &value);
    fr::parallel_for(t, 64, add_from{}, sum, fr::in(x));
    return all_are(sum, value);
  });
}

// A graph that uses exclusively owned arrays runs after the stream's previous work, and before its next.
BOOST_AUTO_TEST_CASE(captures_of_exclusively_owned_arrays) {
  over_seeds(60, [] {
    fr::stream s, t;
    fr::device_array<u32> x({64}, 0u), sum({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    use_calmly(s, x);
    fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 64, add_one{}, x); });
    use_calmly(s, x);
    g.launch(t);
    use_calmly(s, x);
    fr::parallel_for(t, 64, add_from{}, sum, fr::in(x));
    return all_are(x, 3 * calm + 1) && all_are(sum, 3 * calm + 1);
  });
}

BOOST_AUTO_TEST_SUITE_END()
