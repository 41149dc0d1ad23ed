// Calls of every interface that takes an array, for gate_test.cpp.
#pragma once
#include <cstddef>
#include <ferry/ferry.hpp>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace fr = ferry;

namespace gate {

inline constexpr std::size_t n = 64;

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
  // The line of the guard is that of the caller: tests search messages for its file.
  void hold(fr::source_line at = fr::source_line::here()) {
    guard.emplace(fr::inout(a), at);
    shard_guard.emplace(fr::inout(sharded.shard_with_halo(0)), at);
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

}  // namespace gate
