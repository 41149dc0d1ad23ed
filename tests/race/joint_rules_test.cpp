// Ordering rules of joint operations and graphs that random programs rarely exercise, one case each.
#include <boost/test/unit_test.hpp>
#include <thread>
#include <utility>

#include "race/rules.hpp"

BOOST_AUTO_TEST_SUITE(rules)

// R16: two threads repeatedly enqueue joint operations on the same two streams. Each thread has its own arrays: one
// that both parts read, or one for each part to write.
BOOST_AUTO_TEST_CASE(joint_operations_meet_in_one_order) {
  fr::stream a = stream_on(0), b = stream_on(1);
  const auto turns = [&](bool swapped, bool apart) {
    fr::pool calm(fr::devices()[0], {.kind = fr::pool_kind::split});  // enqueues no work on these streams
    const fr::pool_scope use(calm);
    const fr::host_array<u32> x({64}), y({64});
    for (int i = 0; i < 20000; ++i) {
      fr::detail::access of_a[] = {whole(x, apart)}, of_b[] = {whole(apart ? y : x, apart)};
      fr::detail::joint_guard::part parts[] = {
          fr::detail::joint_guard::part(fr::detail::admission::unchecked(a.timeline(), of_a)),
          fr::detail::joint_guard::part(fr::detail::admission::unchecked(b.timeline(), of_b))};
      if (swapped) std::swap(parts[0], parts[1]);
      const fr::detail::joint_guard guard(parts);
    }
  };
  const fr::detail::ticket before = a.timeline().last();
  for (const auto& [first, second] : {std::pair{true, true}, {true, false}, {false, false}}) {
    std::thread other(turns, true, first);
    turns(false, second);
    other.join();
  }
  BOOST_TEST((a.timeline().last() - before == 120000u));
}

BOOST_AUTO_TEST_CASE(joint_operations_are_ordered_by_their_arrays) {
  over_seeds(100, [] {
    fr::stream a = stream_on(0), b = stream_on(1), c = stream_on(2);
    fr::host_array<u32> x({64}, 0u), y({64}, 0u), z({64}, 0u);
    for (u32 i = 0; i < 5; ++i) {
      fr::parallel_for(c, 64, add_one{}, x);
      {
        fr::detail::access of_a[] = {whole(x, false), whole(y, true)}, of_b[] = {whole(x, false), whole(z, true)};
        fr::detail::joint_guard::part parts[] = {
            fr::detail::joint_guard::part(fr::detail::admission::unchecked(a.timeline(), of_a)),
            fr::detail::joint_guard::part(fr::detail::admission::unchecked(b.timeline(), of_b))};
        const fr::detail::joint_guard guard(parts);
        backend().copy(a.timeline().stream(), y.unsynchronized_data(), x.unsynchronized_data(), 256);
        backend().copy(b.timeline().stream(), z.unsynchronized_data(), x.unsynchronized_data(), 256);
      }
      fr::parallel_for(c, 64, add_one{}, x);
      fr::parallel_for(c, 64, add_from{}, z, fr::in(y));
      if (!all_are(z, 2 * (2 * i + 1)) || !all_are(y, 2 * i + 1)) return false;
    }
    return all_are(x, 10);
  });
}

// R16, R18: in a graph, too, a joint operation runs after all dependencies of each of its streams. Later work runs
// after all of its parts.
BOOST_AUTO_TEST_CASE(joint_operations_are_ordered_in_graphs) {
  over_seeds(60, [] {
    fr::stream a = stream_on(0), b = stream_on(1), c = stream_on(2);
    fr::host_array<u32> x({64}, 0u), y({64}, 0u), z({64}, 0u);
    fr::graph g = fr::capture(c, [&] {
      fr::parallel_for(c, 64, add_one{}, x);
      {
        fr::detail::access of_a[] = {whole(x, false), whole(y, true)}, of_b[] = {whole(x, false), whole(z, true)};
        fr::detail::joint_guard::part parts[] = {
            fr::detail::joint_guard::part(fr::detail::admission::unchecked(a.timeline(), of_a)),
            fr::detail::joint_guard::part(fr::detail::admission::unchecked(b.timeline(), of_b))};
        const fr::detail::joint_guard guard(parts);
        backend().copy(a.timeline().stream(), y.unsynchronized_data(), x.unsynchronized_data(), 256);
        backend().copy(b.timeline().stream(), z.unsynchronized_data(), x.unsynchronized_data(), 256);
      }
      fr::parallel_for(c, 64, add_one{}, x);
      fr::parallel_for(c, 64, add_from{}, z, fr::in(y));
    });
    for (u32 i = 0; i < 4; ++i) {
      g.launch(c);
      if (!all_are(z, 2 * (2 * i + 1)) || !all_are(y, 2 * i + 1)) return false;
    }
    return all_are(x, 8);
  });
}

// R18: inside a graph reads wait for the last write, and the launch counts as a use of every byte touched.
BOOST_AUTO_TEST_CASE(graphs_are_ordered_inside_and_outside) {
  over_seeds(60, [] {
    fr::stream s = stream_on(0), t = stream_on(1), u = stream_on(2);
    fr::unified_array<u32> x({64}, 0u), y({64}, 0u), z({64}, 0u);
    fr::graph g = fr::capture(s, [&] {
      auto middle = x.slice({8, 16});
      fr::parallel_for(s, 64, add_one{}, x);
      fr::parallel_for(s, 8, add_one{}, middle);
      fr::parallel_for(s, 64, add_one{}, x);
      fr::parallel_for(t, 64, add_from{}, y, fr::in(x));
    });
    for (int i = 0; i < 3; ++i) {
      g.launch(s);
      fr::parallel_for(u, 32, add_from{}, z, fr::in(std::as_const(x).slice({32, 64})));
    }
    const auto of_y = fr::to_vector(y), of_z = fr::to_vector(z);
    for (std::size_t i = 0; i < 64; ++i)
      if (of_y[i] != (i >= 8 && i < 16 ? 3u + 6 + 9 : 2u + 4 + 6) || of_z[i] != (i < 32 ? 2u + 4 + 6 : 0)) return false;
    return true;
  });
}

// R18: another thread may wait for a stream's earlier work while the stream is being captured.
BOOST_AUTO_TEST_CASE(captured_streams_can_be_waited_for) {
  over_seeds(50, [] {
    fr::stream s = stream_on(0), t = stream_on(1);
    fr::unified_array<u32> x({64}, 0u), y({64}, 0u), z({64}, 0u);
    for (u32 i = 1; i <= 3; ++i) {
      for (int k = 0; k < 6; ++k) fr::parallel_for(s, 64, add_one{}, x);  // no events recorded yet for the last ones
      fr::graph g = fr::capture(s, [&] {
        fr::parallel_for(s, 64, add_one{}, z);
        std::thread([&] { fr::parallel_for(t, 64, add_from{}, y, fr::in(x)); }).join();
      });
      g.launch(s);
    }
    return all_are(y, 6 + 12 + 18) && all_are(z, 3);
  });
}

// R18: a graph extends the lifetime of destroyed arrays, but does not touch the bytes of arrays freed by free().
BOOST_AUTO_TEST_CASE(graphs_own_their_arrays_unless_freed) {
  over_seeds(20, [] {
    fr::stream s = stream_on(0);
    fr::device_array<u32> y({64}, 0u), freed({64}, 0u);
    auto make = [&] {
      fr::device_array<u32> x({64}, 3u);
      return fr::capture(s, [&] { fr::parallel_for(s, 64, add_from{}, y, fr::in(x)); });
    };
    fr::graph g = make();
    fr::device_array<u32> other({64}, 7u);  // would reuse the bytes of x
    g.launch(s);
    g.launch(s);
    fr::graph h = fr::capture(s, [&] { fr::parallel_for(s, 64, add_one{}, freed); });
    freed.free();
    fr::device_array<u32> another({64}, 8u);
    BOOST_CHECK_THROW(h.launch(s), fr::use_after_free);
    return all_are(y, 6) && all_are(other, 7) && all_are(another, 8);
  });
}

BOOST_AUTO_TEST_SUITE_END()
