// Results computed from lost bytes are lost, too (R19), on any device. All other results stay valid.
#include <array>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/ordering/timelines.hpp"

#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace lost_work {
namespace {

constexpr std::size_t size = 48;

struct set_to {
  int k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] = k; }
};
struct breaks {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct add_to {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};
struct element {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* x) const { return x[i]; }
};

// A submission that may throw because its device failed or its input is lost. Returns whether it was enqueued.
template <class Give>
bool tries(Give give) {
  try {
    give();
    return true;
  } catch (const fr::device_error&) {
    return false;
  } catch (const fr::peer_access_error&) {
    return false;
  }
}

// Runs the body on three simulated devices with a stream on each, for each seed.
template <class Body>
void over_seeds(const std::string& options, Body body) {
  for (std::size_t seed = 0; seed < support::seeds(40); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const support::machine_that_breaks sim("devices=3;" + options + "schedule=random:" + std::to_string(seed));
      std::vector<fr::stream> s;
      for (const fr::device d : fr::devices()) s.emplace_back(d).synchronize();
      body(s);
    }
}

using array = fr::unified_array<int, 1>;

// Filled on a device that does not fail.
array filled(int value) { return array({size}, value, fr::devices()[2]); }

}  // namespace
}  // namespace lost_work

BOOST_AUTO_TEST_SUITE(lost_work)

BOOST_AUTO_TEST_CASE(what_other_devices_compute_from_it) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0), apart = filled(5), before = filled(0);
    for (const array* a : {&x, &y, &z, &apart, &before}) (void)a->begin();
    fr::scalar<std::int64_t> sum(fr::devices()[2]);
    fr::parallel_for(s[1], size, set_to{3}, before);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    bool all = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); });
    all = tries([&] { fr::parallel_for(s[2], size, add_to{}, fr::in(y), z); }) && all;
    const bool reduced = tries([&] { sum = fr::parallel_reduce(s[2], size, element{}, fr::plus{}, fr::in(z)); });
    for (int i = 0; i < 3; ++i) {
      BOOST_CHECK_THROW((void)std::as_const(x)[1], fr::device_error);
      if (all) {
        BOOST_CHECK_THROW((void)std::as_const(z)[1], fr::device_error);
        BOOST_CHECK_THROW((void)fr::to_vector(z), fr::device_error);
        BOOST_CHECK_THROW((void)y.begin(), fr::device_error);
        if (reduced) BOOST_CHECK_THROW((void)sum.value(), fr::device_error);
        BOOST_CHECK_THROW(fr::parallel_for(s[2], size, add_to{}, fr::in(z), apart), fr::device_error);
      }
    }
    BOOST_TEST((apart[3] == 5 && before[7] == 3));
    // New work of these streams, and of others.
    fr::parallel_for(s[2], size, add_to{}, fr::in(before), apart);
    fr::stream fresh{fr::devices()[1]};
    fr::parallel_for(fresh, size, add_to{}, fr::in(apart), before);
    BOOST_TEST((apart[3] == 8 && before[7] == 11 && fr::to_vector(before)[0] == 11));
  });
}

BOOST_AUTO_TEST_CASE(the_text_names_the_failure_once) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    (void)x.begin(), (void)y.begin();
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); })) return;
    const std::string text = support::failure_of<fr::device_error>([&] { (void)std::as_const(y)[1]; });
    BOOST_TEST(text.find("work of device 1 may have read what device 0 wrote, which failed before that was known to be "
                         "complete") != std::string::npos,
               text);
    BOOST_TEST(text.find("ferry: ") == text.rfind("ferry: "), text);
  });
}

// Waiting only for other streams' reads (write after read), or reusing freed bytes, loses nothing.
BOOST_AUTO_TEST_CASE(an_order_that_carries_no_data) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(4), y = filled(0), apart = filled(0);
    (void)x.begin(), (void)y.begin();
    if (!tries([&] { fr::parallel_for(s[0], size, add_to{}, fr::in(x), y); })) return;
    tries([&] { fr::parallel_for(s[0], size, breaks{}, y); });
    if (!tries([&] { fr::parallel_for(s[1], size, set_to{9}, x); })) return;
    fr::parallel_for(s[1], size, add_to{}, fr::in(x), apart);
    BOOST_TEST((apart[5] == 9 && x[5] == 9));
    BOOST_CHECK_THROW((void)y[0], fr::device_error);
  });
}

// The host reads y each time while s[0] is healthy: only work from after the failure is lost.
BOOST_AUTO_TEST_CASE(what_was_over_before_stays) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0);
    std::vector<array> y;
    for (int i = 0; i < 6; ++i) {
      y.push_back(filled(0));
      fr::parallel_for(s[0], size, set_to{i}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y.back());
      BOOST_TEST(std::as_const(y.back())[2] == i);
    }
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    array z = filled(0);
    if (tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), z); }))
      BOOST_CHECK_THROW((void)z[0], fr::device_error);
    for (int i = 0; i < 6; ++i) BOOST_TEST(y[static_cast<std::size_t>(i)][2] == i);
  });
}

BOOST_AUTO_TEST_CASE(a_graph_is_lost_with_each_of_its_devices) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(1), y = filled(0);
    fr::graph g = fr::capture(s[1], [&] {
      fr::parallel_for(s[0], size, breaks{}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
    });
    fr::graph outer = fr::capture(s[2], [&] { g.launch(s[2]); });
    if (!tries([&] { outer.launch(s[2]); })) return;
    BOOST_CHECK_THROW((void)fr::to_vector(y), fr::device_error);
    BOOST_CHECK_THROW((void)x[0], fr::device_error);
    array z = filled(2);
    fr::parallel_for(s[2], size, set_to{3}, z);
    BOOST_TEST(z[0] == 3);
  });
}

// One part's bytes are lost, and the other part uses them.
BOOST_AUTO_TEST_CASE(a_joint_operation_is_lost_with_each_of_its_parts) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0), before = filled(3);
    for (const array* a : {&x, &y, &z, &before}) (void)a->begin();
    fr::parallel_for(s[1], size, set_to{8}, before);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[2], size, add_to{}, fr::in(x), y); })) return;
    fr::detail::access of_y{&y.owner().get(), y.bytes(), false}, of_z{&z.owner().get(), z.bytes(), true};
    std::array<fr::detail::joint_guard::part, 2> parts{
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[2].timeline(), {&of_y, 1})),
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[1].timeline(), {&of_z, 1}))};
    const bool given = tries([&] {
      const fr::detail::joint_guard guard(parts);
      const auto m = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 2, [] {}});
      for (const fr::stream* part : {&s[2], &s[1]})
        fr::runtime::current().backend().join_rendezvous(part->timeline().stream(), m, {});
    });
    if (given) BOOST_CHECK_THROW((void)z[0], fr::device_error);
    BOOST_TEST(before[1] == 8);
  });
}

// The copy's first half runs on a device that fails meanwhile, because of unrelated work.
BOOST_AUTO_TEST_CASE(a_staged_copy_is_lost_with_each_of_its_devices) {
  over_seeds("peers=none;", [](std::vector<fr::stream>& s) {
    fr::device_array<int> there({size}, fr::devices()[0]), here({size}, fr::devices()[1]);
    array x = filled(0), other = filled(4);
    fr::fill(s[0], there, 7), fr::copy(s[1], there, here);  // creates the copy's resources
    s[1].synchronize(), fr::fill(s[0], there, 6);
    s[0].synchronize(), s[1].synchronize(), (void)x.begin(), (void)other.begin();
    fr::stream beside{fr::devices()[0]};
    tries([&] { fr::parallel_for(beside, size, breaks{}, x); });
    if (tries([&] { fr::copy(s[1], there, here); }))
      if (std::vector<int> got; tries([&] { got = fr::to_vector(here); })) BOOST_TEST(got == std::vector<int>(size, 6));
    BOOST_TEST(fr::to_vector(other) == std::vector<int>(size, 4));
  });
}

// Beyond the limit per stream, dependences are merged: more work may count as lost, never less.
BOOST_AUTO_TEST_CASE(many_dependences) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    const int good = 20;
    bool given = true;
    for (int i = 0; i < good; ++i) {
      fr::parallel_for(s[0], size, set_to{1}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
    }
    given = tries([&] { fr::parallel_for(s[0], size, breaks{}, x); }) && given;
    given = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); }) && given;
    array other = filled(0), sum = filled(0);
    for (int i = 0; given && i < 40; ++i) {  // enough to merge them
      fr::parallel_for(s[2], size, set_to{1}, other);
      given = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(other), sum); });
    }
    if (given)
      BOOST_CHECK_THROW((void)y[0], fr::device_error);
    else if (std::vector<int> got; tries([&] { got = fr::to_vector(y); }))
      BOOST_TEST(got == std::vector<int>(size, good));
  });
}

BOOST_AUTO_TEST_CASE(a_raw_pointer_of_a_stream_that_lost_work) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0);
    int* const p = fr::pointer(z, s[1]);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); })) return;
    const fr::detail::kernel_use use{reinterpret_cast<const std::byte*>(p), size * sizeof(int), true, true};
    fr::runtime::current().backend().launch(
        s[1].timeline().stream(), {"own", {&use, 1}, [p](const fr::detail::relocation& move) { move(p)[0] = 7; }});
    BOOST_CHECK_THROW((void)y[0], fr::device_error);
    BOOST_CHECK_THROW((void)z[0], fr::device_error);
    BOOST_CHECK_THROW(fr::parallel_for(s[1], size, set_to{1}, x), fr::device_error);
    fr::stream again{fr::devices()[1]};  // not the old stream, which refuses more work
    fr::parallel_for(again, size, set_to{1}, x = filled(0));
    BOOST_TEST(x[0] == 1);
  });
}

namespace {

// Waits for the stream, which detects the failure.
void find_failure(const fr::stream& s) {
  tries([&] { s.synchronize(); });
}
bool can_read(const array& a) {
  return tries([&] { (void)fr::to_vector(a); });
}

}  // namespace

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

BOOST_AUTO_TEST_CASE(waiting_for_a_stream_of_a_device_that_failed) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    s[2].wait(s[1]);
    if (!tries([&] {
          fr::parallel_for(s[0], size, breaks{}, x);
          fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
        }))
      return;
    find_failure(s[0]);
    BOOST_CHECK_THROW(s[2].wait(s[0]), fr::device_error);
    s[2].wait(s[1]);  // the later work of s[1] may be good
    s[1].wait(s[2]);
  });
}

namespace {

// A random program over arrays of all kinds and streams of three devices, one of which fails at some call. Each CPU
// read is right or throws. Results that do not depend on the failed device are right.
class program {
 public:
  explicit program(unsigned seed) : random_(seed) {
    for (std::size_t d = 0; d < devices; ++d)
      for (int k = 0; k < 2; ++k) streams_.emplace_back(fr::devices()[d]);
    for (std::size_t i = 0; i < arrays; ++i) {
      const fr::device d = fr::devices()[below(devices)];
      const int first = static_cast<int>(i);
      make(i, d, first);
      model_[i].assign(size, static_cast<unsigned>(first));
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    for (std::size_t i = 0; i < arrays; ++i) look(i);
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < arrays; ++i)
      if (!look(i)) unread.push_back(i);
    std::set<int> failed;
    for (const fr::device d : fr::devices())
      if (!tries([&] { fr::stream(d).synchronize(); })) failed.insert(d.index());
    const std::array<bool, arrays> spoilt = reached_from(failed);
    for (const std::size_t i : unread) BOOST_TEST(spoilt[i], "array " << i << " depends on nothing that failed");
  }

 private:
  static constexpr std::size_t arrays = 10, devices = 3;
  struct use {
    std::size_t stream;
    std::vector<std::size_t> reads, writes;  // every array that is written is also read
    std::set<int> takes_part;
  };

  void make(std::size_t i, fr::device d, int first) {
    const auto fill_with = [&](auto& a) { fr::fill(a, first); };
    home_[i] = -1;
    switch (i % 3) {
      case 0: fill_with(std::get<0>(of(i) = array({size}, d))); break;
      case 1: fill_with(std::get<1>(of(i) = fr::host_array<int, 1>({size}, d))); break;
      default: home_[i] = d.index(), fill_with(std::get<2>(of(i) = fr::device_array<int, 1>({size}, d))); break;
    }
    log_.push_back({2 * static_cast<std::size_t>(d.index()), {}, {i}, {}});
  }

  void step() {
    const std::size_t s = below(streams_.size()), y = below(arrays), x = below(arrays);
    use u{s, {x}, {y}, {}};
    bool done = false;
    switch (below(8)) {
      case 0:
      case 1:
      case 2: done = x != y && tries([&] { add(s, x, y); }); break;
      case 3: done = tries([&] { fill(s, y); }); break;
      case 4: done = x != y && tries([&] { copy(s, x, y); }); break;
      case 5: look(x); return;
      case 6: done = x != y && graph(u); break;
      default:
        reduce(s, x);
        u.writes.clear();
        break;
    }
    for (const std::size_t i : {x, y})
      if (home_[i] >= 0) u.takes_part.insert(home_[i]);
    log_.push_back(std::move(u));
    if (!done) return;
    model_[y] = next_;
  }
  void add(std::size_t s, std::size_t x, std::size_t y) {
    std::visit([&](auto& a, auto& b) { fr::parallel_for(streams_[s], size, add_to{}, fr::in(a), b); }, of(x), of(y));
    next_ = sum(x, y);
  }
  void fill(std::size_t s, std::size_t y) {
    const unsigned k = static_cast<unsigned>(below(1000));
    std::visit([&](auto& b) { fr::parallel_for(streams_[s], size, set_to{static_cast<int>(k)}, b); }, of(y));
    next_.assign(size, k);
  }
  void copy(std::size_t s, std::size_t x, std::size_t y) {
    std::visit([&](auto& a, auto& b) { fr::copy(streams_[s], a, b); }, of(x), of(y));
    next_ = model_[x];
  }
  // Two nodes on two streams: z += x, y += z.
  bool graph(use& u) {
    const std::size_t z = (u.writes[0] + 1) % arrays, x = u.reads[0], y = u.writes[0], other = below(streams_.size());
    if (z == x || other == u.stream) return false;
    u.writes.push_back(z);
    for (const std::size_t s : {u.stream, other}) u.takes_part.insert(device_of(s));
    if (home_[z] >= 0) u.takes_part.insert(home_[z]);
    if (!tries([&] {
          fr::graph g = fr::capture(streams_[u.stream], [&] { add(other, x, z), add(u.stream, z, y); });
          g.launch(streams_[u.stream]);
        }))
      return false;
    model_[z] = sum(x, z);
    next_ = sum(z, y);
    return true;
  }
  void reduce(std::size_t s, std::size_t x) {
    int got = 0;
    if (!tries([&] {
          got = std::visit(
              [&](auto& a) { return fr::parallel_reduce(streams_[s], size, element{}, fr::plus{}, fr::in(a)).value(); },
              of(x));
        }))
      return;
    BOOST_TEST(static_cast<unsigned>(got) == std::accumulate(model_[x].begin(), model_[x].end(), 0u));
  }
  // Returns whether the array could be read.
  bool look(std::size_t i) {
    std::vector<int> got;
    const bool is_read = tries([&] { got = std::visit([](auto& a) { return fr::to_vector(a); }, of(i)); });
    if (is_read) BOOST_TEST((std::vector<unsigned>(got.begin(), got.end()) == model_[i]), "array " << i << " is wrong");
    return is_read;
  }
  std::vector<unsigned> sum(std::size_t x, std::size_t y) const {
    std::vector<unsigned> v = model_[y];
    for (std::size_t i = 0; i < size; ++i) v[i] += model_[x][i];
    return v;
  }

  // Arrays that depend on a failed device through any chain of uses. A stream that uses a reached array is itself
  // reached from then on.
  std::array<bool, arrays> reached_from(const std::set<int>& failed) const {
    std::array<bool, arrays> spoilt{};
    std::set<std::size_t> streams;
    for (std::size_t i = 0; i < arrays; ++i) spoilt[i] = failed.contains(home_[i]);
    for (const use& u : log_) {
      bool is = failed.contains(device_of(u.stream)) || streams.contains(u.stream);
      for (const int d : u.takes_part) is = is || failed.contains(d);
      for (const auto* all : {&u.reads, &u.writes})
        for (const std::size_t i : *all) is = is || spoilt[i];
      if (!is) continue;
      streams.insert(u.stream);
      for (const std::size_t i : u.writes) spoilt[i] = true;
    }
    return spoilt;
  }
  static int device_of(std::size_t stream) { return static_cast<int>(stream / 2); }
  std::size_t below(std::size_t n) { return random_() % n; }

  using some_array = std::variant<array, fr::host_array<int, 1>, fr::device_array<int, 1>>;
  some_array& of(std::size_t i) { return arrays_[i]; }
  std::mt19937 random_;
  std::vector<fr::stream> streams_;
  std::array<some_array, arrays> arrays_;
  std::array<int, arrays> home_{};  // the device of the array's memory
  std::array<std::vector<unsigned>, arrays> model_;
  std::vector<unsigned> next_;
  std::vector<use> log_;
};

void run_programs(const std::string& options) {
  std::size_t whole = 0;
  for (std::size_t seed = 0; seed < support::seeds(150); ++seed) {
    const std::string verb = seed % 3 == 0 ? "copy@" : "launch@";
    const std::string text = "devices=3;" + options + (seed % 5 == 0 ? "check=on;" : "") +
                             "schedule=random:" + std::to_string(seed) + ";fail=" + verb +
                             std::to_string(2 + seed * 7 % 40);
    BOOST_TEST_CONTEXT(text) {
      const support::quiet_stderr said;
      const fr::simulation sim(text);
      std::optional<program> p;
      if (tries([&] { p.emplace(static_cast<unsigned>(seed)); })) ++whole, p->run(60);
    }
  }
  BOOST_TEST(2 * whole >= support::seeds(150));  // in the others the failure occurs during setup
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_programs) { run_programs(""); }
BOOST_AUTO_TEST_CASE(random_programs_without_peers) { run_programs("peers=none;"); }

BOOST_AUTO_TEST_SUITE_END()
