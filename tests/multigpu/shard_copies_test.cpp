// Whole sharded arrays from and to CPU memory: large shards are copied by one thread each.
#include <algorithm>
#include <numeric>
#include <thread>

#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"
#include "copies/copy_engine.hpp"
#include "multigpu/shards.hpp"
#include "support/busy_stream.hpp"
#include "support/quiet_stderr.hpp"

using namespace contract;

namespace shard_copies {
namespace {

std::vector<int> counted_up(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 7);
  return v;
}

void there_and_back(const fr::team& t, const fr::extents<2>& e, const fr::shard_options& o) {
  const std::vector<int> values = counted_up(e.count());
  fr::sharded_array<int, 2> a(t, e, o, -1);
  fr::copy(std::span<const int>(values), a);
  std::vector<int> back(values.size());
  fr::copy(a, std::span<int>(back));
  BOOST_TEST(back == values, "shape " << e.text() << ", axis " << o.axis.first());
  BOOST_TEST(fr::to_vector(a) == values);
  for (std::size_t m = 0; m < t.size(); ++m) {  // no halo was changed
    if (a.layout().own(m).empty()) continue;
    const std::vector<int> all = fr::to_vector(a.shard_with_halo(m));
    const std::size_t own = a.layout().own(m).extents().count();
    BOOST_TEST(std::size_t(std::count(all.begin(), all.end(), -1)) == all.size() - own);
  }
}

}  // namespace
}  // namespace shard_copies

BOOST_AUTO_TEST_SUITE(shard_copies)

BOOST_AUTO_TEST_CASE(large_shards_arrive_and_leave) {
  const small_chunks threads_for_all;
  const fr::team t = fr::team::all();
  for (const std::size_t axis : {0u, 1u})
    for (const std::size_t halo : {0u, 2u})
      there_and_back(t, {24 * t.size() + 1, 30 * t.size()},
                     {.axis = axis, .halo = static_cast<std::ptrdiff_t>(halo), .periodic = true});
  if (t.size() > 1) there_and_back(t, {t.size() - 1, 400}, {});  // the last shard is empty
}

BOOST_AUTO_TEST_CASE(clones_have_all_cells) {
  const fr::team t = fr::team::all();
  for (const std::size_t axis : {0u, 1u})
    for (const bool are_filled : {false, true}) {
      fr::sharded_array<int, 2> a(t, {8 * t.size(), 9 * t.size()}, {.axis = axis, .halo = 1, .periodic = true}, -1);
      fr::copy(counted_up(a.size()), a);
      if (are_filled) fr::exchange_halos(a);
      const fr::sharded_array<int, 2> b = a.clone();
      BOOST_TEST(b.layout().text() == a.layout().text());
      BOOST_TEST(b.currency()->are_filled() == are_filled);
      BOOST_TEST((b.validity() && b.validity()->stale()) == (a.validity() && a.validity()->stale()));
      std::vector<std::vector<int>> before;
      for (std::size_t m = 0; m < t.size(); ++m) before.push_back(fr::to_vector(std::as_const(a).shard_with_halo(m)));
      fr::assign(a, 0);
      for (std::size_t m = 0; m < t.size(); ++m) BOOST_TEST(fr::to_vector(b.shard_with_halo(m)) == before[m]);
    }
}

BOOST_AUTO_TEST_CASE(clones_of_arrays_with_views_and_empty_shards) {
  const fr::team t = fr::team::all();
  fr::unified_sharded_array<int, 2> a(t, {t.size() + 1, 400}, {.halo = 1}, 3);
  fr::fill(t.stream(0), a.shard(0), 3);  // through a view, which makes no halo out of date
  const auto b = a.clone();
  BOOST_TEST(!(b.validity() && b.validity()->stale()));
  BOOST_TEST(fr::to_vector(b) == std::vector<int>(b.size(), 3));
  if (t.size() == 1) return;
  fr::sharded_array<int, 2> few(t, {t.size() - 1, 400}, {}, 4);  // the last shard is empty
  BOOST_TEST(fr::to_vector(few.clone()) == std::vector<int>(few.size(), 4));
}

BOOST_AUTO_TEST_CASE(explain_describes_each_shard) {
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {8 * t.size(), 9}, {.halo = 1});
  const std::string shape =
      std::to_string(8 * t.size()) + " x 9 ints along axis 0 of a team of " + std::to_string(t.size()) + "\nmember 0: ";
  BOOST_TEST(fr::explain(a).starts_with("the unnamed sharded array of " + shape));
  a.name("u");
  const std::string text = fr::explain(a);
  BOOST_TEST(text.starts_with("array 'u' of " + shape), text);
  for (std::size_t m = 0; m < t.size(); ++m)
    BOOST_TEST(text.find("\nmember " + std::to_string(m) + ": " + fr::explain(a.shard_with_halo(m))) != text.npos,
               text);
}

BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (std::size_t seed = 0; seed < shards::seeds(20); ++seed) {
    shards::dice d(seed);
    const fr::simulation sim(shards::simulated_machine(seed, 1 + d.below(5)) + ";check=on");
    const small_chunks threads_for_all;
    const fr::team t = fr::team::all();
    for (int round = 0; round < 3; ++round) {
      auto [e, o] = shards::any_layout<2>(d, t);
      e[1 - o.axis.first()] *= 20;
      there_and_back(t, e, o);
      const fr::sharded_array<int, 2> a(t, e, o, round);
      BOOST_TEST(fr::to_vector(a.clone()) == std::vector<int>(a.size(), round));
    }
  }
}

// No shard waits for another shard's link.
BOOST_AUTO_TEST_CASE(shards_travel_at_the_same_time) {
  const fr::simulation sim("devices=2;schedule=random:1");
  const small_chunks threads_for_all;
  const fr::team t = fr::team::all();
  const std::vector<int> values = counted_up(2000);
  fr::sharded_array<int, 1> a(t, {values.size()}, {}, 0);
  fr::copy(std::span<const int>(values), a);
  t.synchronize();
  std::vector<int> back(values.size());
  for (const bool up : {true, false}) {
    const std::size_t before = fr::runtime::current().copies().copied_bytes();
    support::busy_stream busy(t.stream(0));
    auto first = a.shard(0);
    fr::fill(t.stream(0), first, up ? 1 : 7, fr::source_line{});
    std::jthread copier([&] {
      if (up)
        fr::copy(std::span<const int>(values), a);
      else
        fr::copy(a, std::span<int>(back));
    });
    const auto copied = [&] { return fr::runtime::current().copies().copied_bytes() - before; };
    while (busy.is_busy() && copied() < values.size() * sizeof(int)) std::this_thread::yield();
    BOOST_TEST(busy.is_busy(), (up ? "up" : "down") << ": member 1 waited for what member 0 waits for");
    busy.release();
  }
  std::fill(back.begin(), back.begin() + 1000, 0);
  fr::copy(a, std::span<int>(back));
  BOOST_TEST(std::count(back.begin(), back.begin() + 1000, 7) == 1000);
  std::copy_n(values.begin(), 1000, back.begin());
  BOOST_TEST(back == values);
}

BOOST_AUTO_TEST_CASE(a_shard_that_fails_is_reported_when_the_others_are_there) {
  const support::quiet_stderr nothing_said;  // reported when the runtime ends
  const fr::simulation sim("devices=3;fail=copy@2");
  const small_chunks threads_for_all;
  const fr::team t = fr::team::all();
  const std::vector<int> values = counted_up(300);
  fr::sharded_array<int, 1> a(t, {values.size()}, {}, 0);
  BOOST_CHECK_EXCEPTION(fr::copy(std::span<const int>(values), a), fr::device_error,
                        [](const auto& e) { return std::string(e.what()).find("fail=") != std::string::npos; });
  std::size_t there = 0, failed = 0;
  for (std::size_t m = 0; m < t.size(); ++m) try {
      const std::vector<int> part = fr::to_vector(a.shard(m));
      there += std::equal(part.begin(), part.end(), values.begin() + static_cast<std::ptrdiff_t>(100 * m));
    } catch (const fr::device_error&) {
      ++failed;
    }
  BOOST_TEST(failed == 1u);
  BOOST_TEST(there == 2u);
}

// Copying threads inherit the caller's scopes. A workspace is for one thread, so with one the caller itself copies.
BOOST_AUTO_TEST_CASE(scratch_memory_comes_from_the_scopes_of_the_caller) {
  const fr::simulation sim("devices=2");
  const small_chunks threads_for_all;
  const fr::team t = fr::team::all();
  fr::shard_options o{};
  o.halo.widths = {0, 1}, o.halo.one = false;
  fr::sharded_array<int, 2> a(t, {40, 60}, o, 0);  // shards are strided, and so are packed
  const std::vector<int> values = counted_up(a.size());
  fr::pool pool(t.device(1), {});
  {
    const fr::pool_scope scope(pool);
    fr::copy(std::span<const int>(values), a);
    const auto made = pool.statistics().made;
    BOOST_TEST(made > 0u);
    BOOST_TEST(fr::to_vector(a) == values);
    BOOST_TEST(pool.statistics().made > made);
  }
  fr::workspace w;
  {
    const fr::workspace_scope iteration(w);
    BOOST_TEST(fr::to_vector(a) == values);
  }
  BOOST_TEST(w.statistics().taken > 0u);
}

BOOST_AUTO_TEST_CASE(members_that_submit_by_threads_are_in_the_scopes_of_the_caller) {
  const fr::simulation sim("devices=3");
  fr::team t = fr::team::all();
  t.submit(fr::submission::by_threads);
  fr::pool pool(t.device(2), {});
  std::vector<fr::device_array<int>> made(3);
  {
    const fr::pool_scope scope(pool);
    const fr::memory_tag_scope tag("solver");
    const fr::device_scope device(t.device(1));
    t.for_each([&](std::size_t m) {
      made[m] = m == 2 ? fr::device_array<int>({100}, t.device(2)) : fr::device_array<int>({100});
    });
  }
  BOOST_TEST(pool.statistics().allocations == 1u);
  BOOST_TEST(made[0].device().index() == 1);
  std::size_t tagged = 0;
  const fr::memory_usage now = fr::memory_use();
  for (const auto& label : now.labels)
    if (label.is_tag && label.label == "solver") tagged = label.arrays;
  BOOST_TEST(tagged == 3u);
  t.for_each([&](std::size_t m) { made[m] = fr::device_array<int>({100}); });  // and outside of the scopes again
  BOOST_TEST(pool.statistics().allocations == 0u);
  for (const auto& a : made) BOOST_TEST(a.device().index() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
