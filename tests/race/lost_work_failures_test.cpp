// Several failures, late ones, and entries of histories that are merged: which results are lost (R19).
#include <array>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "race/lost_work.hpp"

BOOST_AUTO_TEST_SUITE(lost_work)

// Each read finds that earlier work of the last stream is lost: it is the same failure, and all of its results are
// lost.
BOOST_AUTO_TEST_CASE(a_chain_that_is_read_backwards) {
  for (const std::size_t links : {2, 5, 9})
    over_seeds("", [&](std::vector<fr::stream>& s) {
      std::vector<fr::stream> chain;  // destroyed after the stream that reads them
      for (std::size_t k = 0; k < links; ++k) chain.emplace_back(fr::devices()[1 + k % 2]);
      std::vector<array> x, y;
      for (std::size_t k = 0; k <= links; ++k) x.push_back(filled(1)), y.push_back(filled(1));
      for (std::size_t k = 0; k <= links; ++k) (void)x[k].begin(), (void)y[k].begin();
      bool given = tries([&] { fr::parallel_for(s[0], size, breaks{}, x[0]); });
      for (std::size_t k = 1; k <= links; ++k)
        given = given && tries([&] { fr::parallel_for(chain[links - k], size, add_to{}, fr::in(x[k - 1]), x[k]); });
      for (std::size_t k = links + 1; k-- > 0;)
        given = given && tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x[k]), y[k]); });
      find_failure(s[0]);
      for (std::size_t k = 0; given && k <= links; ++k) BOOST_TEST(!can_read(y[k]), "read what " << k << " computed");
    });
}

// With more failures than a stream has entries, some good work may count as lost. No lost work counts as good.
BOOST_AUTO_TEST_CASE(many_failures_of_what_one_stream_reads) {
  for (std::size_t seed = 0; seed < support::seeds(40); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const support::quiet_stderr said;
      const fr::simulation sim("devices=9;schedule=random:" + std::to_string(seed));
      const fr::device good = fr::devices()[8];
      const fr::stream reader(good), link(fr::devices()[7]);
      std::vector<array> x, z, y;
      for (int i = 0; i < 4 * 7; ++i) {
        for (auto* all : {&x, &z, &y}) all->emplace_back(array({size}, 1, good));
        for (auto* all : {&x, &z, &y}) (void)all->back().begin();
      }
      for (std::size_t d = 0; d < 7; ++d) {
        const fr::stream bad(fr::devices()[d]);
        const bool given = tries([&] {
          fr::parallel_for(bad, size, breaks{}, x[d]);
          fr::parallel_for(link, size, add_to{}, fr::in(x[d]), z[d]);
          fr::parallel_for(reader, size, add_to{}, fr::in(z[d]), y[2 * d]);
          fr::parallel_for(reader, size, add_to{}, fr::in(x[d]), y[2 * d + 1]);
        });
        find_failure(bad);
        for (std::size_t i = 0; given && i < 2; ++i) BOOST_TEST(!can_read(y[2 * d + i]), "failure " << d);
        BOOST_TEST(can_read(y[14 + d]));
      }
    }
}

// Dependences on one stream from before and after a failure there are merged, though neither depends on lost work.
BOOST_AUTO_TEST_CASE(joined_dependences_of_before_and_after_a_failure) {
  for (const bool reads_lost : {true, false})
    for (std::size_t seed = 0; seed < support::seeds(40); ++seed)
      BOOST_TEST_CONTEXT("seed " << seed << (reads_lost ? ", the last is lost" : "")) {
        const support::quiet_stderr said;
        const fr::simulation sim("devices=4;schedule=random:" + std::to_string(seed));
        const auto d = fr::devices();
        const fr::stream reader(d[3]), writer(d[2]), first(d[0]), second(d[1]);
        array a = filled(1), b = filled(1), x = filled(1), x2 = filled(1), y = filled(1), sum = filled(0),
              one = filled(1);
        for (const array* all : {&a, &b, &x, &x2, &y, &sum, &one}) (void)all->begin();
        std::vector<array> more;
        for (int i = 0; i < 40; ++i) more.push_back(filled(0)), (void)more.back().begin();
        if (!tries([&] {
              fr::parallel_for(writer, size, add_to{}, fr::in(one), a);
              fr::parallel_for(reader, size, add_to{}, fr::in(a), sum);
              fr::parallel_for(first, size, breaks{}, x);
              fr::parallel_for(writer, size, add_to{}, fr::in(x), b);
              find_failure(first);
              for (array& m : more) {
                fr::parallel_for(writer, size, add_to{}, fr::in(one), m);
                fr::parallel_for(reader, size, add_to{}, fr::in(m), sum);
              }
              fr::parallel_for(second, size, breaks{}, x2);
              if (reads_lost) fr::parallel_for(reader, size, add_to{}, fr::in(x2), y);
            }))
          continue;
        find_failure(second);
        BOOST_TEST(can_read(y) == !reads_lost);
        if (!reads_lost) BOOST_TEST(fr::to_vector(sum) == std::vector<int>(size, 42));
      }
}

// The history of a large array merges one stream's writes (R10).
BOOST_AUTO_TEST_CASE(a_lost_write_among_many_good_ones) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    constexpr int parts = 40;
    array x = filled(1), one = filled(1), all({2 * size * (parts + 1)}, 0, fr::devices()[2]);
    for (const array* a : {&x, &one, &all}) (void)a->begin();
    const auto part = [&](int k) { return all.slice({{2 * size * k, 2 * size * k + size}}); };
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), part(0)); })) return;
    find_failure(s[0]);
    for (int k = 1; k <= parts; ++k) fr::parallel_for(s[1], size, add_to{}, fr::in(one), part(k));
    BOOST_CHECK_THROW((void)std::as_const(all)[1], fr::device_error);
    BOOST_TEST(fr::to_vector(part(parts)) == std::vector<int>(size, 1));
  });
}

// Another thread detects the failure while the operation is enqueued.
BOOST_AUTO_TEST_CASE(a_failure_while_a_joint_operation_is_given) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0);
    for (const array* a : {&x, &y, &z}) (void)a->begin();
    if (!tries([&] {
          fr::parallel_for(s[0], size, breaks{}, x);
          fr::parallel_for(s[2], size, add_to{}, fr::in(x), y);
        }))
      return;
    std::jthread finder([line = &s[0].timeline()] { tries([&] { line->synchronize(); }); });
    fr::detail::access of_y{&y.owner().get(), y.bytes(), true}, of_z{&z.owner().get(), z.bytes(), true};
    std::array<fr::detail::joint_guard::part, 2> parts{
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[2].timeline(), {&of_y, 1})),
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[1].timeline(), {&of_z, 1}))};
    const bool given = tries([&] {
      const fr::detail::joint_guard guard(parts);
      const auto m = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 2, [] {}});
      for (const fr::stream* part : {&s[2], &s[1]})
        fr::runtime::current().backend().join_rendezvous(part->timeline().stream(), m, {});
    });
    finder.join();
    if (given) BOOST_CHECK_THROW((void)z[0], fr::device_error);
  });
}

// Work ordered while a failure is being processed is lost by that failure, not by those already processed.
BOOST_AUTO_TEST_CASE(late_work_is_lost_by_the_failure_that_it_missed) {
  for (const unsigned missed : {0u, 1u})
    over_seeds("", [&](std::vector<fr::stream>& s) {
      array x = filled(0), y = filled(0), z = filled(0);
      if (!tries([&] {
            fr::parallel_for(s[0], size, breaks{}, x);
            fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
          }))
        return;
      find_failure(s[0]);
      fr::parallel_for(s[1], size, set_to{4}, z);
      fr::detail::timeline& line = s[1].timeline();
      line.lose_late(line.last(), line.registry().failures() - 2 * missed);
      BOOST_TEST(can_read(z) == (missed == 0));
    });
}

// The first owner's raw pointers end with that owner, whose waits involve no lost work.
BOOST_AUTO_TEST_CASE(a_stream_of_the_stock_that_a_pointer_was_taken_on) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(3), mine = filled(0);
    for (const array* a : {&x, &y, &z, &mine}) (void)a->begin();
    const fr::detail::timeline* before = nullptr;
    {
      const fr::stream old(fr::devices()[1]);
      before = &old.timeline();
      (void)fr::pointer(z, old), (void)fr::pointer(mine, old);
    }
    const fr::stream next(fr::devices()[1]);
    BOOST_REQUIRE(&next.timeline() == before);
    if (!tries([&] {
          fr::parallel_for(s[0], size, breaks{}, x);
          fr::parallel_for(next, size, add_to{}, fr::in(x), y);
          fr::parallel_for(next, size, add_to{}, fr::in(y), mine);
        }))
      return;
    find_failure(s[0]);
    array other = filled(1);
    fr::parallel_for(next, size, add_to{}, fr::in(z), other);
    BOOST_TEST((other[2] == 4 && z[1] == 3));
    BOOST_TEST((!can_read(y) && !can_read(mine)));
  });
}

// The first owner takes its raw pointer after it waited for lost work.
BOOST_AUTO_TEST_CASE(a_pointer_of_an_owner_that_waited_for_lost_work) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(3);
    for (const array* a : {&x, &y, &z}) (void)a->begin();
    if (!tries([&] {
          const fr::stream old(fr::devices()[1]);
          fr::parallel_for(s[0], size, breaks{}, x);
          fr::parallel_for(old, size, add_to{}, fr::in(x), y);
          (void)fr::pointer(z, old);
        }))
      return;
    find_failure(s[0]);
    BOOST_TEST((!can_read(y) && !can_read(z)));
  });
}

BOOST_AUTO_TEST_SUITE_END()
