// Every interface that takes an array: with a host_guard on it, with a freed array, and with an array of another
// runtime.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <ferry/ferry.hpp>

#include "ferry/core/detail/runtime/peer.hpp"
#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace gate {
namespace {

constexpr std::size_t n = 64;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> a) const { a(i) += 1; }
};
struct add_cell {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<int, 1> a) const { a(i) += 1; }
};
struct element {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::mdspan<const int, 1> a) const { return a(i); }
};
struct cell {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::shard_span<const int, 1> a) const { return a(i); }
};
struct add_far {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> a, fr::mdspan<const int, 1> far) const {
    a(i) += far(i);
  }
};
struct add_member {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const fr::mdspan<const int, 1>& a) const { (void)a(i); }
};

// Arguments of the calls: arrays, and a graph that writes one of them.
template <fr::memory_kind Kind>
struct subject {
  using array = fr::basic_array<int, 1, Kind>;
  array a{fr::extents<1>{n}, 1};
  fr::sharded_array<int, 1, Kind> sharded{fr::team(fr::devices().first(2)), {n}, {.halo = 1, .periodic = true}, 1};
  fr::graph graph;
  std::optional<fr::host_guard<int, 1>> guard, shard_guard;

  subject() : graph(capture(a)) { sharded.team().synchronize(); }
  static fr::graph capture(array& a) {
    fr::stream s;
    return fr::capture(s, [&] { fr::fill(s, a, 2); });
  }
  void hold() {
    guard.emplace(fr::inout(a), fr::source_line::here());
    shard_guard.emplace(fr::inout(sharded.shard_with_halo(0)), fr::source_line::here());
  }
  void free() {
    a.free();
    for (std::size_t m = 0; m < 2; ++m) fr::detail::allocation_ref(sharded.shard_owner(m)).free();
  }
};

// Other objects of the current runtime.
struct surroundings {
  fr::team team{fr::devices().first(2)};
  fr::stream s;
  std::vector<int> values = std::vector<int>(n, 3);
};

enum class under_guard { refused, right };  // right: touches no contents, or accesses them on the CPU

template <fr::memory_kind Kind>
struct way_in {
  const char* name;
  std::function<void(subject<Kind>&, surroundings&)> go;
  under_guard held = under_guard::refused;
};

// One array per member; the first is the subject's.
template <fr::memory_kind Kind>
std::vector<fr::array_view<int, 1, Kind>> for_members(subject<Kind>& x, const surroundings& w, std::size_t each = n) {
  using array = typename subject<Kind>::array;
  static thread_local std::vector<array> others;
  others.clear();
  others.push_back(array(fr::extents<1>{n}, 1, w.team.device(1)));
  return {x.a.slice({0, each}), others[0].slice({0, each})};
}

template <fr::memory_kind Kind>
std::vector<way_in<Kind>> ways_in() {
  using S = subject<Kind>&;
  using W = surroundings&;
  std::vector<way_in<Kind>> all = {
      {"fill", [](S x, W) { fr::fill(x.a, 1); }},
      {"fill on a stream", [](S x, W w) { fr::fill(w.s, x.a, 1); }},
      {"fill of a strided view",
       [](S x, W w) {
         fr::fill(w.s, x.a.slice({0, n, 2}), 1);
       }},
      {"copy to it", [](S x, W w) { fr::copy(w.s, fr::device_array<int>({n}, 1), x.a); }},
      {"copy of it",
       [](S x, W w) {
         fr::device_array<int> to({n});
         fr::copy(w.s, std::as_const(x.a), to);
       }},
      {"copy with another type",
       [](S x, W w) {
         fr::device_array<double> to({n});
         fr::copy(w.s, std::as_const(x.a), to);
       }},
      {"copy of a strided view",
       [](S x, W w) {
         fr::device_array<int> to({n / 2});
         fr::copy(w.s, std::as_const(x.a).slice({0, n, 2}), to);
       }},
      {"copy of the CPU's memory", [](S x, W w) { fr::copy(w.values, x.a); }},
      {"copy to the CPU's memory", [](S x, W w) { fr::copy(x.a, w.values); }},
      {"to_vector", [](S x, W) { (void)fr::to_vector(x.a); }},
      {"copies",
       [](S x, W w) {
         fr::device_array<int> to({n});
         const fr::copy_task both[] = {{std::as_const(x.a), to}};
         fr::copy_many(w.s, both);
       }},
      {"clone", [](S x, W) { (void)x.a.clone(); }},
      {"submit",
       [](S x, W w) {
         fr::submit(
             w.s, [](fr::native_stream, int*) {}, x.a);
       }},
      {"submit of in",
       [](S x, W w) {
         fr::submit(
             w.s, [](fr::native_stream, const int*) {}, fr::in(x.a));
       }},
      {"submit of two functions",
       [](S x, W w) { fr::submit(w.s, fr::cuda_or_simulated([](fr::native_stream, int*) {}, [](int*) {}), x.a); }},
      {"host_task",
       [](S x, W w) {
         fr::host_task(
             w.s, [](int*) {}, x.a);
       }},
      {"host_task of in",
       [](S x, W w) {
         fr::host_task(
             w.s, [](const int*) {}, fr::in(x.a));
       }},
      {"pointer", [](S x, W w) { (void)fr::pointer(x.a, w.s); }},
      {"parallel_for", [](S x, W w) { fr::parallel_for(w.s, n, add_one{}, x.a); }},
      {"parallel_reduce",
       [](S x, W w) { (void)fr::parallel_reduce(w.s, n, element{}, fr::plus{}, fr::in(x.a)).value(); }},
      {"launch of a graph", [](S x, W w) { x.graph.launch(w.s); }},
      {"capture and launch",
       [](S x, W w) {
         fr::graph g = fr::capture(w.s, [&] { fr::fill(w.s, x.a, 1); });
         g.launch(w.s);
       }},
      {"batches",
       [](S x, W) {
         for (auto piece : fr::batches(x.a, {.size = 10})) (void)piece.size();
       }},
      {"batches of out",
       [](S x, W) {
         for (auto piece : fr::batches(fr::out(x.a), {.size = 10})) fr::fill(piece, 1);
       }},
      {"all_reduce", [](S x, W w) { fr::all_reduce(w.team, for_members(x, w), fr::plus{}); }},
      {"all_reduce of it",
       [](S x, W w) {
         std::vector<fr::device_array<int>> to;
         for (std::size_t m = 0; m < 2; ++m) to.emplace_back(fr::extents<1>{n}, w.team.device(m));
         fr::all_reduce(w.team, for_members(x, w), to, fr::plus{});
       }},
      {"reduce", [](S x, W w) { fr::reduce(w.team, for_members(x, w), fr::plus{}, 0); }},
      {"broadcast", [](S x, W w) { fr::broadcast(w.team, for_members(x, w), 1); }},
      {"all_gather", [](S x, W w) { fr::all_gather(w.team, for_members(x, w)); }},
      {"reduce_scatter", [](S x, W w) { fr::reduce_scatter(w.team, for_members(x, w), fr::plus{}); }},
      {"all_to_all",
       [](S x, W w) {
         std::vector<fr::device_array<int>> to;
         for (std::size_t m = 0; m < 2; ++m) to.emplace_back(fr::extents<1>{n}, w.team.device(m));
         fr::all_to_all(w.team, for_members(x, w), to);
       }},
      {"gather",
       [](S x, W w) {
         fr::device_array<int> to({2 * n}, w.team.device(0));
         fr::gather(w.team, for_members(x, w), to, 0);
       }},
      {"scatter",
       [](S x, W w) {
         fr::device_array<int> from({2 * n}, 1, w.team.device(0));
         auto to = for_members(x, w);
         fr::scatter(w.team, from, to, 0);
       }},
      {"send",
       [](S x, W w) {
         fr::device_array<int> to({n}, w.team.device(1));
         fr::collective_group(w.team).send(x.a, 0, 1).receive(to, 1, 0).submit();
       }},
      {"receive",
       [](S x, W w) {
         fr::device_array<int> from({n}, 1, w.team.device(1));
         fr::collective_group(w.team).send(from, 1, 0).receive(x.a, 0, 1).submit();
       }},
      {"a loop over shards", [](S x, W) { fr::parallel_for(fr::owned(x.sharded), add_cell{}, x.sharded); }},
      {"a sweep", [](S x, W) { fr::parallel_for(fr::sweep(x.sharded), add_cell{}, x.sharded); }},
      {"a reduction over shards",
       [](S x, W) { (void)fr::parallel_reduce(fr::owned(x.sharded), cell{}, fr::plus{}, std::as_const(x.sharded)); }},
      {"a reproducible reduction",
       [](S x, W) {
         (void)fr::parallel_reduce(fr::owned(x.sharded), cell{}, fr::reproducible(fr::plus{}),
                                   std::as_const(x.sharded));
       }},
      {"exchange_halos", [](S x, W) { fr::exchange_halos(x.sharded); }},
      {"copy to shards", [](S x, W w) { fr::copy(w.values, x.sharded); }},
      {"to_vector of shards", [](S x, W) { (void)fr::to_vector(x.sharded); }},
      {"reshard",
       [](S x, W w) {
         fr::sharded_array<int, 1> to(w.team, {n});
         fr::reshard(x.sharded, to);
       }},
      {"each member",
       [](S x, W w) { fr::parallel_for(fr::each_member(w.team, fr::extents<1>{n}), add_member{}, fr::in(x.a)); }},
      {"copy to replicas",
       [](S x, W w) {
         fr::replicated_array<int> to(w.team, {n});
         fr::copy(std::as_const(x.a), to);
       }},
      {"an element", [](S x, W) { x.a[3] = 1; }, under_guard::right},
      {"a loop of the CPU", [](S x, W) { *x.a.begin() = 1; }, under_guard::right},
      {"host", [](S x, W) { fr::host(x.a)(3) = 1; }, under_guard::right},
      {"host_span", [](S x, W) { fr::host_span(x.a)[3] = 1; }, under_guard::right},
      {"host_guard", [](S x, W) { const fr::host_guard again(fr::inout(x.a)); }, under_guard::right},
  };
  if constexpr (Kind == fr::memory_kind::unified) {
    const std::vector<way_in<Kind>> of_pages = {
        {"discard", [](S x, W w) { fr::discard(w.s, x.a); }},
        {"prefetch", [](S x, W w) { fr::prefetch(w.s, x.a, fr::device(1)); }, under_guard::right},
        {"prefetch of several",
         [](S x, W w) {
           fr::prefetch(w.s, {{x.a, fr::device(1)}});
         },
         under_guard::right},
        {"discard_when_needed", [](S x, W) { fr::discard_when_needed(x.a); }, under_guard::right},
        {"may_be_discarded", [](S x, W) { (void)fr::may_be_discarded(x.a); }, under_guard::right},
        {"advise", [](S x, W) { fr::advise(x.a, fr::advice::read_mostly); }, under_guard::right},
        {"advice_scope", [](S x, W) { const fr::advice_scope scope(x.a, fr::advice::read_mostly); },
         under_guard::right},
        {"residency", [](S x, W) { (void)fr::residency(x.a); }, under_guard::right},
        {"set_policy", [](S x, W) { fr::set_policy(x.a, {}); }, under_guard::right},
        {"policy_of", [](S x, W) { (void)fr::policy_of(x.a); }, under_guard::right},
        {"set_migration", [](S x, W) { fr::set_migration(x.a, fr::migration::automatic); }, under_guard::right},
    };
    all.insert(all.end(), of_pages.begin(), of_pages.end());
  }
  return all;
}

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
