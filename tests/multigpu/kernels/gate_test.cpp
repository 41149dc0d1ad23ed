// Every interface that takes an array: with a host_guard on it, with a freed array, and with an array of another
// runtime. Threads submit the work of several members.
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ferry/core/detail/runtime/peer.hpp"
#include "multigpu/kernels/gate_calls.hpp"
#include "support/failures.hpp"

using support::failure_of;
using support::has;

namespace gate {
namespace {

struct add_far {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> a, fr::mdspan<const int, 1> far) const {
    a(i) += far(i);
  }
};

template <fr::memory_kind K>
using kind = std::integral_constant<fr::memory_kind, K>;
using kinds = std::tuple<kind<fr::memory_kind::unified>, kind<fr::memory_kind::host>>;

constexpr const char* runtime = "devices=2;schedule=random:7";

}  // namespace
}  // namespace gate

BOOST_AUTO_TEST_SUITE(gate)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_conflicts_with_a_guard_is_refused, K, kinds) {
  for (const auto& way : ways_in<K::value>()) {
    fr::simulation sim(runtime);
    subject<K::value> x;
    surroundings w;
    x.hold();
    const std::string text = failure_of([&] { way.go(x, w); });
    if (way.held == under_guard::refused)
      BOOST_TEST((has(text, "host_guard") && has(text, "gate_test.cpp")), way.name << ": " << text);
    else
      BOOST_TEST(text.empty(), way.name << ": " << text);
    x.guard.reset(), x.shard_guard.reset();
    BOOST_TEST(failure_of([&] { way.go(x, w); }).empty(), way.name << " without a guard");
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_freed_is_refused, K, kinds) {
  for (const auto& way : ways_in<K::value>()) {
    fr::simulation sim(runtime);
    subject<K::value> x;
    surroundings w;
    x.free();
    BOOST_TEST(!failure_of<fr::use_after_free>([&] { way.go(x, w); }).empty(), way.name);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_another_machine_has_is_refused, K, kinds) {
  for (const auto& way : ways_in<K::value>()) {
    fr::simulation outer(runtime);
    subject<K::value> x;
    fr::simulation inner(runtime);
    surroundings w;
    const std::string text = failure_of([&] { way.go(x, w); });
    BOOST_TEST(has(text, "another runtime"), way.name << ": " << text);
  }
}

// A group checks its arrays again when it is submitted.
BOOST_AUTO_TEST_CASE(arrays_that_are_freed_before_their_group_is_submitted) {
  fr::simulation sim(runtime);
  const fr::team t = fr::team::all();
  std::vector<fr::device_array<int>> a;
  for (const fr::device d : fr::devices()) a.emplace_back(fr::extents<1>{n}, 1, d);
  fr::collective_group g(t);
  g.all_reduce(a, fr::plus{});
  a[1].free();
  BOOST_TEST(!failure_of<fr::use_after_free>([&] { g.submit(); }).empty());
}

// Tracked spans conflict as guards do.
BOOST_AUTO_TEST_CASE(collectives_and_mirrors_look_at_spans) {
  fr::simulation sim(runtime);
  fr::check_spans(fr::span_checks::on);
  const fr::team t = fr::team::all();
  std::vector<fr::unified_array<int>> a;
  for (const fr::device d : fr::devices()) a.emplace_back(fr::extents<1>{n}, 1, d);
  fr::all_reduce(t, a, fr::plus{});
  {
    const auto span = fr::host_span(std::as_const(a[1]));
    BOOST_TEST(has(failure_of([&] { fr::all_reduce(t, a, fr::plus{}); }), "host_span"));
  }
  fr::all_reduce(t, a, fr::plus{});
  BOOST_TEST((fr::to_vector(a[1]) == std::vector<int>(n, 4)));
}

BOOST_AUTO_TEST_CASE(mirrors_look_at_guards) {
  fr::simulation sim("devices=2;peers=none");
  sim.get().peers().kernels(fr::detail::peer_kernels::stage);
  fr::unified_array<int> a({n}, 1);
  const fr::device_array<int> far({n}, 2, fr::device(1));
  const fr::stream s;
  const auto go = [&] { fr::parallel_for(s, n, add_far{}, a, far); };
  {
    const fr::host_guard guard(fr::in(a));
    BOOST_TEST(has(failure_of(go), "host_guard"));
  }
  go();
  BOOST_TEST((fr::to_vector(a) == std::vector<int>(n, 3)));
}

// Streams, events and graphs of another runtime.
BOOST_AUTO_TEST_CASE(streams_of_another_machine_are_refused) {
  fr::simulation outer(runtime);
  fr::stream s;
  const fr::event e = s.record();
  fr::graph g = fr::capture(s, [] {});
  fr::simulation inner(runtime);
  fr::stream t;
  const std::pair<const char*, std::function<void()>> ways[] = {
      {"record", [&] { (void)s.record(); }},
      {"wait for an event", [&] { s.wait(t.record()); }},
      {"wait for its event", [&] { t.wait(e); }},
      {"wait", [&] { t.wait(s); }},
      {"event", [&] { e.synchronize(); }},
      {"is_done", [&] { (void)e.is_done(); }},
      {"graph", [&] { g.launch(t); }},
      {"capture", [&] { (void)fr::capture(s, [] {}); }},
      {"submit", [&] { fr::submit(s, [](fr::native_stream) {}); }},
      {"host_task", [&] { fr::host_task(s, [] {}); }},
      {"fill", [&] { fr::fill(s, fr::device_array<int>({n}), 1); }},
  };
  for (const auto& [name, go] : ways) {
    const std::string text = failure_of(go);
    BOOST_TEST(has(text, "another runtime"), name << ": " << text);
  }
}

// Two access histories of the same bytes could not order each other's uses.
BOOST_AUTO_TEST_CASE(bytes_of_arrays_are_neither_lent_nor_adopted) {
  using fr::memory_kind;
  for (const char* pool : {"split", "driver", "binned", "none"}) {
    fr::pool_options options;
    options.kind = fr::parse_pool_kind(pool);
    fr::simulation sim("devices=2", options);
    fr::device_array<int> d({n}, 1);
    fr::unified_array<int> u({n}, 1);
    fr::host_array<int> h({n}, 1);
    d.name("density"), u.name("density"), h.name("density");
    int* const at[] = {d.unsynchronized_data(), u.unsynchronized_data(), h.unsynchronized_data()};
    const auto never = [](int*) { BOOST_TEST(false, "deleted"); };
    const std::pair<const char*, std::function<void()>> ways[] = {
        {"borrow", [&] { (void)fr::borrow(at[0], n); }},
        {"borrow of a part", [&] { (void)fr::borrow(at[0] + n - 1, 1); }},
        {"borrow of unified memory", [&] { (void)fr::borrow<memory_kind::unified>(at[1], n); }},
        {"borrow of pinned memory", [&] { (void)fr::borrow<memory_kind::host>(at[2], n); }},
        {"adopt", [&] { (void)fr::adopt(at[0], n, never); }},
        {"adopt of unified memory", [&] { (void)fr::adopt<memory_kind::unified>(at[1], n, never); }},
        {"as_unified", [&] { (void)fr::as_unified(at[1], fr::extents<1>{n}); }},
        {"as_unified of pinned memory", [&] { (void)fr::as_unified(at[2], fr::extents<1>{n}); }},
        {"pin", [&] { (void)fr::pin(std::span<int>(at[2], n)); }},
    };
    for (const auto& [name, go] : ways) {
      const std::string text = failure_of(go);
      BOOST_TEST((has(text, "'density'") && has(text, "a view of it")), pool << ", " << name << ": " << text);
    }
    d = {}, u = {}, h = {};
    std::vector<int> own(n, 5);
    const auto fine = fr::as_unified(own);
    BOOST_TEST(fr::to_vector(fine).front() == 5);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_has_the_device_that_it_is_named_with) {
  fr::simulation sim("devices=3");
  fr::detail::backend& backend = fr::runtime::current().backend();
  const fr::native_stream own = backend.create_stream(1, 0);
  const std::string text = failure_of([&] { (void)fr::stream_ref::from_native(fr::device(2), own); });
  BOOST_TEST((has(text, "device 1") && has(text, "device 2")), text);
  auto s = fr::stream_ref::from_native(fr::device(1), own);
  fr::fill(s, fr::device_array<int>({n}, fr::device(1)), 1);
  s.synchronize();
  s.release();
  backend.destroy_stream(own);
}

BOOST_AUTO_TEST_SUITE_END()
