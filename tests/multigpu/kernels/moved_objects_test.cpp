// Every movable type of multigpu, moved from and default-constructed: destroyed, moved, assigned, queried and used.
#include <ferry/ferry.hpp>

#include "support/moved_objects.hpp"

namespace fr = ferry;
using support::check_moved;

namespace multigpu_moved_objects {
namespace {

struct set_cell {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) = static_cast<int>(i + j);
  }
};
struct cell {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> a) const {
    return a(i, j);
  }
};
struct use_copy {
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t, const A&) const {}
};

// Each child process has its own team.
fr::team two() {
  static const auto* const t = new fr::team(fr::devices().first(2));
  return *t;
}

template <fr::memory_kind Kind>
void check_sharded(const char* name) {
  using array = fr::sharded_array<int, 2, Kind>;
  support::uses_of<array> u;
  u.must = {
      {"layout", [](array& a) { (void)a.layout().text(); }},
      {"team", [](array& a) { (void)a.team().size(); }},
      {"extents", [](array& a) { (void)(a.extents()[0] + a.extent(1) + a.size()); }},
      {"shard", [](array& a) { fr::fill(a.shard(0), 1); }},
      {"shard_with_halo", [](array& a) { (void)a.shard_with_halo(1).size(); }},
      {"cells", [](array& a) { (void)a.cells(0, a.layout().own(0)).size(); }},
      {"exchange_halos", [](array& a) { fr::exchange_halos(a); }},
      {"parallel_for", [](array& a) { fr::parallel_for(fr::owned(a), set_cell{}, a); }},
      {"sweep", [](array& a) { fr::parallel_for(fr::sweep(a), set_cell{}, a); }},
      {"parallel_reduce",
       [](array& a) { (void)fr::parallel_reduce(fr::owned(a), cell{}, fr::plus{}, std::as_const(a)).value(); }},
      {"an argument",
       [](array& a) {
         const array other(two(), {6, 4}, {.halo = 1});
         fr::parallel_for(fr::owned(other), set_cell{}, a);
       }},
      {"copy",
       [](array& a) {
         const fr::host_array<int, 2> all({6, 4}, 2);
         fr::copy(all, a);
       }},
      {"copy of it",
       [](array& a) {
         fr::host_array<int, 2> all({6, 4}, 2);
         fr::copy(std::as_const(a), all);
       }},
      {"to_vector", [](array& a) { (void)fr::to_vector(a); }},
      {"reshard",
       [](array& a) {
         array other(two(), {6, 4}, {.axis = 1});
         fr::reshard(a, other);
       }},
      {"shard_owner", [](array& a) { (void)a.shard_owner(0); }},
  };
  if constexpr (Kind == fr::memory_kind::unified) u.must.push_back({"element", [](array& a) { a(5, 3) = 1; }});
  u.may = {{"name", [](array& a) { (void)a.name().size(), a.name("x"); }}, {"swap", [](array& a) {
                                                                              array other;
                                                                              swap(a, other), swap(a, other);
                                                                            }}};
  check_moved<array>(
      name,
      [] {
        return array(two(), {6, 4}, {.halo = 1}, 1);
      },
      u);
}

}  // namespace
}  // namespace multigpu_moved_objects

BOOST_AUTO_TEST_SUITE(multigpu_moved_objects, *boost::unit_test::precondition(support::devices_are_simulated))

BOOST_AUTO_TEST_CASE(sharded_arrays) {
  check_sharded<fr::memory_kind::device>("sharded_array");
  check_sharded<fr::memory_kind::unified>("unified_sharded_array");
}

BOOST_AUTO_TEST_CASE(teams) {
  using fr::team;
  support::uses_of<team> u;
  u.must = {
      {"size", [](team& t) { (void)t.size(); }},
      {"local_size", [](team& t) { (void)(t.local_size() + t.first_local() + (t.is_local(0) ? 1u : 0u)); }},
      {"wire", [](team& t) { (void)t.wire(); }},
      {"device", [](team& t) { (void)t.device(0); }},
      {"stream", [](team& t) { (void)(t.stream(0) == t.side_stream(0)), (void)t[0]; }},
      {"part_of", [](team& t) { (void)(t.part_of(0, 10).size() + t.member_of(3, 10)); }},
      {"submit", [](team& t) { t.submit(fr::submission::by_threads), t.submit(fr::submission::by_caller); }},
      {"how_submitted", [](team& t) { (void)t.how_submitted(); }},
      {"for_each", [](team& t) { t.for_each([](std::size_t) {}); }},
      {"synchronize", [](team& t) { t.synchronize(); }},
      {"sharded_array", [](team& t) { (void)fr::sharded_array<int, 1>(t, {10}); }},
      {"replicated_array", [](team& t) { (void)fr::replicated_array<int>(t, {10}); }},
      {"all_reduce",
       [](team& t) {
         std::vector<fr::device_array<int>> a;
         for (const fr::device d : fr::devices().first(2)) a.emplace_back(fr::extents<1>{5}, 1, d);
         fr::all_reduce(t, a, fr::plus{});
       }},
      {"each_member",
       [](team& t) {
         fr::replicated_array<int> a(fr::team(t), {4}, 1);
         fr::parallel_for(fr::each_member(t, fr::extents<1>{4}), use_copy{}, a);
       }},
  };
  u.may = {{"==", [](team& t) { (void)(t == t); }}, {"copy", [](team& t) { const team other(t); }}};
  check_moved<team>(
      "team", [] { return two(); }, u);
}

BOOST_AUTO_TEST_CASE(replicated_arrays) {
  using array = fr::replicated_array<int>;
  support::uses_of<array> u;
  u.must = {
      {"team", [](array& a) { (void)a.team().size(); }},
      {"copy_of", [](array& a) { fr::fill(a.copy_of(0), 1); }},
      {"to_vector", [](array& a) { (void)fr::to_vector(a); }},
      {"copy", [](array& a) { fr::copy(std::vector<int>(4), a); }},
      {"copy of an array", [](array& a) { fr::copy(fr::device_array<int>({4}, 1), a); }},
      {"parallel_for", [](array& a) { fr::parallel_for(fr::each_member(a.team(), fr::extents<1>{4}), use_copy{}, a); }},
      {"an argument", [](array& a) { fr::parallel_for(fr::each_member(two(), fr::extents<1>{4}), use_copy{}, a); }},
      {"in", [](array& a) { fr::parallel_for(fr::each_member(two(), fr::extents<1>{4}), use_copy{}, fr::in(a)); }},
  };
  u.may = {
      {"size", [](array& a) { (void)(a.size() + a.extents()[0]); }},
      {"name", [](array& a) { a.name("x"); }},
      {"copies", [](array& a) { (void)a.copies().size(); }},
  };
  check_moved<array>(
      "replicated_array", [] { return array(two(), {4}, 1); }, u);
}

BOOST_AUTO_TEST_CASE(results) {
  using scalar = fr::team_scalar<double>;
  support::uses_of<scalar> u;
  u.must = {
      {"value", [](scalar& s) { (void)s.value(); }},
      {"conversion", [](scalar& s) { (void)static_cast<double>(s); }},
      {"team", [](scalar& s) { (void)s.team().size(); }},
      {"an argument", [](scalar& s) { fr::parallel_for(3, use_copy{}, s); }},
  };
  u.may = {
      {"is_ready", [](scalar& s) { (void)s.is_ready(); }},
      {"name", [](scalar& s) { s.name("x"); }},
      {"parts", [](scalar& s) { (void)s.parts().size(); }},
  };
  const auto reduce = [](const auto& op) {
    const fr::sharded_array<int, 2> a(two(), {6, 4}, {}, 2);
    return fr::parallel_reduce(fr::owned(a), cell{}, op, a);
  };
  check_moved<scalar>(
      "team_scalar", [&] { return reduce(fr::plus{}); }, u);

  using exact = fr::reproducible_scalar<double>;
  support::uses_of<exact> e;
  e.must = {{"value", [](exact& s) { (void)s.value(); }},
            {"conversion", [](exact& s) { (void)static_cast<double>(s); }}};
  e.may = {{"is_ready", [](exact& s) { (void)s.is_ready(); }}};
  check_moved<exact>(
      "reproducible_scalar", [&] { return reduce(fr::reproducible(fr::plus{})); }, e);
}

BOOST_AUTO_TEST_CASE(groups_and_regions) {
  using fr::collective_group;
  support::uses_of<collective_group> u;
  u.may = {{"submit", [](collective_group& g) { g.submit(); }}, {"all_reduce", [](collective_group& g) {
                                                                   std::vector<fr::device_array<int>> a;
                                                                   for (const fr::device d : fr::devices().first(2))
                                                                     a.emplace_back(fr::extents<1>{5}, 1, d);
                                                                   g.all_reduce(a, fr::plus{}).submit();
                                                                 }}};
  check_moved<collective_group>(
      "collective_group",
      [] {
        static const auto* t = new fr::team(two());
        return collective_group(*t);
      },
      u);

  using region = fr::shard_region<2>;
  support::uses_of<region> r;
  r.must = {{"layout", [](region& g) { (void)g.layout().text(); }}, {"parts", [](region& g) { (void)g.parts(0); }}};
  check_moved<region>(
      "shard_region",
      [] {
        return fr::owned(fr::sharded_array<int, 2>(two(), {6, 4}, {}, 2));
      },
      r);
}

BOOST_AUTO_TEST_SUITE_END()
