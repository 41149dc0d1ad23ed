// Every movable type of core, moved from and default-constructed: destroyed, moved, assigned, queried and used.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>

#include "support/moved_objects.hpp"

namespace fr = ferry;
using support::check_moved;

namespace moved_objects {
namespace {

struct touch {
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t, const A&) const {}
};
struct none {
  template <class A>
  FERRY_HOST_DEVICE int operator()(std::size_t, const A&) const {
    return 0;
  }
};

template <class A>
constexpr bool on_the_cpu = fr::is_host_accessible(A::kind);

// Uses of an array that has elements when it is valid.
template <class A>
support::uses_of<A> uses_of_an_array() {
  using T = typename A::value_type;
  support::uses_of<A> u;
  u.may = {
      {"size", [](A& a) { (void)(a.size() + a.size_bytes() + a.bytes().size() + (a.empty() ? 1 : 0)); }},
      {"extents", [](A& a) { (void)(a.extents().text() + std::to_string(a.is_contiguous())); }},
      {"device", [](A& a) { (void)a.device(); }},
      {"name", [](A& a) { (void)a.name(); }},
      {"last_stream", [](A& a) { (void)a.last_stream(); }},
      {"is_ready", [](A& a) { (void)a.is_ready(); }},
      {"explain", [](A& a) { (void)fr::explain(a); }},
      {"transpose", [](A& a) { (void)a.transpose().size(); }},
      {"reshape", [](A& a) { (void)a.reshape(a.extents()).size(); }},
      {"view", [](A& a) { fr::fill(fr::array_view<T, A::rank, A::kind>(a), T{}); }},
  };
  std::vector<support::use_of<A>> backend = {
      {"fill", [](A& a) { fr::fill(a, T{}); }},
      {"fill on a stream", [](A& a) { fr::fill(fr::stream(), a, T{}); }},
      {"copy",
       [](A& a) {
         const fr::host_array<T, A::rank> other(a.extents());
         fr::copy(other, a);
       }},
      {"copy of it",
       [](A& a) {
         fr::host_array<T, A::rank> other(a.extents());
         fr::copy(std::as_const(a), other);
       }},
      {"to_vector", [](A& a) { (void)fr::to_vector(a); }},
      {"pointer",
       [](A& a) {
         const fr::stream s;
         (void)fr::pointer(a, s);
         s.synchronize();
       }},
      {"submit",
       [](A& a) {
         fr::submit(
             fr::stream(), [](fr::native_stream, fr::mdspan<T, A::rank>) {}, a);
       }},
      {"submit of in",
       [](A& a) {
         fr::submit(
             fr::stream(), [](fr::native_stream, fr::mdspan<const T, A::rank>) {}, fr::in(a));
       }},
      {"capture",
       [](A& a) {
         fr::stream s;
         (void)fr::capture(s, [&] { fr::fill(s, a, T{}); });
       }},
      {"parallel_for", [](A& a) { fr::parallel_for(3, touch{}, a); }},
      {"parallel_for of out", [](A& a) { fr::parallel_for(3, touch{}, fr::out(a)); }},
      {"parallel_reduce", [](A& a) { (void)fr::parallel_reduce(3, none{}, fr::plus{}, fr::in(a)).value(); }},
  };
  if constexpr (on_the_cpu<A>) {
    backend.push_back({"host", [](A& a) { (void)fr::host(a); }});
    backend.push_back({"wait_for_host", [](A& a) { a.wait_for_host(true); }});
    backend.push_back({"range", [](A& a) { (void)std::count(a.begin(), a.end(), T{}); }});
    backend.push_back({"element", [](A& a) {
                         if constexpr (A::rank == 0)
                           a() = T{};
                         else if constexpr (A::rank == 1)
                           a(0) = T{};
                         else
                           a(0, 0) = T{};
                       }});
  }
  backend.push_back({"clone", [](A& a) { (void)a.clone(); }});
  if constexpr (requires(A & a) { a.resize(a.extents()); }) {
    u.may.push_back({"resize", [](A& a) { a.resize(a.extents()); }});
    u.may.push_back({"free", [](A& a) { A().free(), (void)a; }});
    u.may.push_back({"name()", [](A& a) { a.name("again"); }});
    u.may.push_back({"swap", [](A& a) {
                       A other;
                       swap(a, other), swap(a, other);
                     }});
  }
  // An array of rank 0 has one element, so its uses must fail. Other empty arrays have no elements, so there is nothing
  // to do.
  auto& list = A::rank == 0 ? u.must : u.may;
  list.insert(list.end(), backend.begin(), backend.end());
  return u;
}

template <class T, std::size_t Rank, fr::memory_kind Kind>
void check_array(const std::string& name) {
  using array = fr::basic_array<T, Rank, Kind>;
  using view = fr::array_view<T, Rank, Kind>;
  fr::extents<Rank> e;
  for (std::size_t d = 0; d != Rank; ++d) e[d] = 4;
  check_moved<array>(
      name, [=] { return array(e, T{}); }, uses_of_an_array<array>());
  check_moved<view>(
      "view of " + name, [=] { return view(array(e, T{})); }, uses_of_an_array<view>());
}

}  // namespace
}  // namespace moved_objects

BOOST_AUTO_TEST_SUITE(moved_objects, *boost::unit_test::precondition(support::devices_are_simulated))

BOOST_AUTO_TEST_CASE(arrays_of_one_element) {
  check_array<int, 0, fr::memory_kind::device>("device_array of rank 0");
  check_array<int, 0, fr::memory_kind::unified>("unified_array of rank 0");
  check_array<int, 0, fr::memory_kind::host>("host_array of rank 0");
}

BOOST_AUTO_TEST_CASE(arrays) {
  check_array<int, 1, fr::memory_kind::device>("device_array");
  check_array<int, 1, fr::memory_kind::unified>("unified_array");
  check_array<double, 2, fr::memory_kind::host>("host_array of rank 2");
}

BOOST_AUTO_TEST_CASE(scalars) {
  using scalar = fr::scalar<double>;
  support::uses_of<scalar> u;
  u.default_is_whole = true;
  u.must = {
      {"value", [](scalar& s) { (void)s.value(); }},
      {"conversion", [](scalar& s) { (void)static_cast<double>(s); }},
      {"submit",
       [](scalar& s) {
         fr::submit(
             fr::stream(), [](fr::native_stream, fr::mdspan<const double, 0>) {}, s);
       }},
      {"fill", [](scalar& s) { fr::fill(s.as_array(), 1.0); }},
  };
  u.may = {{"is_ready", [](scalar& s) { (void)s.is_ready(); }}, {"name", [](scalar& s) { s.name("x"); }}};
  check_moved<scalar>(
      "scalar",
      [] {
        scalar s;
        fr::fill(s.as_array(), 1.0);
        return s;
      },
      u);
}

BOOST_AUTO_TEST_CASE(streams_and_events) {
  using stream = fr::stream;
  support::uses_of<stream> u;
  u.default_is_whole = true;
  u.must = {
      {"where", [](stream& s) { (void)s.where(); }},
      {"priority", [](stream& s) { (void)s.priority(); }},
      {"native", [](stream& s) { (void)s.native(); }},
      {"synchronize", [](stream& s) { s.synchronize(); }},
      {"is_done", [](stream& s) { (void)s.is_done(); }},
      {"record", [](stream& s) { (void)s.record(); }},
      {"event", [](stream& s) { (void)fr::event(s); }},
      {"wait for an event", [](stream& s) { s.wait(fr::stream().record()); }},
      {"wait", [](stream& s) { s.wait(fr::stream()); }},
      {"wait for it", [](stream& s) { fr::stream().wait(s); }},
      {"fill", [](stream& s) { fr::fill(s, fr::device_array<int>({3}), 1); }},
      {"submit", [](stream& s) { fr::submit(s, [](fr::native_stream) {}); }},
      {"pointer",
       [](stream& s) {
         fr::device_array<int> a({3});
         (void)fr::pointer(a, s);
       }},
      {"capture", [](stream& s) { (void)fr::capture(s, [] {}); }},
      {"borrow",
       [](stream& s) {
         std::vector<int> v(3);
         (void)fr::pin(v, {.stream = s});
       }},
  };
  u.may = {{"==", [](stream& s) { (void)(s == s); }}};
  check_moved<stream>(
      "stream", [] { return stream(); }, u);

  using event = fr::event;
  support::uses_of<event> e;
  e.must = {
      {"synchronize", [](event& v) { v.synchronize(); }},
      {"is_done", [](event& v) { (void)v.is_done(); }},
      {"wait", [](event& v) { fr::stream().wait(v); }},
      {"milliseconds_between", [](event& v) { (void)fr::milliseconds_between(v, v); }},
  };
  e.may = {{"native", [](event& v) { (void)v.native(); }}};
  check_moved<event>(
      "event", [] { return fr::stream().record(); }, e);
}

BOOST_AUTO_TEST_CASE(graphs) {
  support::uses_of<fr::graph> u;
  u.must = {{"launch", [](fr::graph& g) { g.launch(fr::default_stream(fr::default_device())); }}};
  check_moved<fr::graph>(
      "graph",
      [] {
        static auto* a = new fr::device_array<int>({10}, 1);
        fr::stream s;
        return fr::capture(s, [&] { fr::fill(s, *a, 2); });
      },
      u);
}

BOOST_AUTO_TEST_CASE(pools) {
  using pool = fr::pool;
  support::uses_of<pool> u;
  u.default_is_whole = true;
  u.must = {
      {"allocate", [](pool& p) { (void)p.allocate(100); }},
      {"trim", [](pool& p) { (void)p.trim(); }},
      {"statistics", [](pool& p) { (void)p.statistics(); }},
      {"of", [](pool& p) { (void)p.of(fr::memory_kind::host); }},
      {"scope", [](pool& p) { const fr::pool_scope in(p); }},
  };
  u.may = {{"where", [](pool& p) { (void)p.where(); }}, {"kind", [](pool& p) { (void)p.kind(); }}};
  check_moved<pool>(
      "pool", [] { return pool(); }, u);
}

BOOST_AUTO_TEST_CASE(memory_of_others) {
  using borrowed = fr::borrowed<int, 1, fr::memory_kind::unified>;
  auto u = uses_of_an_array<borrowed>();
  u.may.push_back({"give_back", [](borrowed& b) { b.give_back(), b = fr::as_unified(*new std::vector<int>(4)); }});
  u.may.push_back(
      {"give_back to a stream", [](borrowed& b) { b.give_back(fr::default_stream(fr::default_device())); }});
  check_moved<borrowed>(
      "borrowed", [] { return fr::as_unified(*new std::vector<int>(4)); }, u);

  using pinned = fr::pinned<int>;
  auto p = uses_of_an_array<pinned>();
  p.may.push_back({"give_back", [](pinned& b) { b.give_back(); }});
  check_moved<pinned>(
      "pinned", [] { return fr::pin(*new std::vector<int>(4)); }, p);
}

BOOST_AUTO_TEST_CASE(structures_of_arrays) {
  using soa = fr::unified_soa<int, double>;
  support::uses_of<soa> u;
  u.may = {
      {"size", [](soa& s) { (void)(s.size() + s.capacity() + (s.empty() ? 1 : 0)); }},
      {"device", [](soa& s) { (void)s.device(); }},
      {"name", [](soa& s) { (void)s.name(), s.name("other"); }},
      {"member", [](soa& s) { fr::fill(s.member<1>(), 1.0); }},
      {"element", [](soa& s) { s[0] = std::tuple(1, 2.0); }},
      {"range", [](soa& s) { (void)std::distance(s.begin(), s.end()); }},
      {"wait_for_host", [](soa& s) { s.wait_for_host(true); }},
      {"resize", [](soa& s) { s.resize(20); }},
      {"shrink_to_fit", [](soa& s) { s.shrink_to_fit(); }},
      {"clone", [](soa& s) { (void)s.clone(); }},
      {"as_bytes", [](soa& s) { (void)s.as_bytes().size(); }},
      {"submit",
       [](soa& s) {
         fr::submit(
             fr::stream(), [](fr::native_stream, const fr::soa_span<int, double>&) {}, s);
       }},
      {"swap",
       [](soa& s) {
         soa other;
         swap(s, other), swap(s, other);
       }},
  };
  check_moved<soa>(
      "soa", [] { return soa(10); }, u);
}

BOOST_AUTO_TEST_CASE(files) {
  const std::string path = std::filesystem::temp_directory_path() / "ferry_moved_objects.npy";
  fr::save_npy(path, fr::host_array<int>({5}, 3));
  using map = fr::npy_map<int, 1>;
  support::uses_of<map> u;
  u.must = {
      {"elements", [](map& m) { (void)m.elements().front(); }},
      {"need_whole", [](map& m) { m.need_whole(); }},
      {"read",
       [](map& m) {
         std::vector<int> v(5);
         m.read(0, v);
       }},
  };
  u.may = {{"size", [](map& m) { (void)(m.size() + m.extents()[0]); }}};
  check_moved<map>(
      "npy_map", [&] { return map(path); }, u);
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(what_only_ends) {
  check_moved<fr::shared_links>("shared_links", [] { return fr::shared_links(fr::devices()); }, {});
  check_moved<fr::memory_callback>(
      "memory_callback", [] { return fr::on_out_of_memory([](const fr::memory_demand&) { return std::size_t{0}; }); },
      {});
  using spans = fr::host_elements<int>;
  support::uses_of<spans> u;
  u.may = {{"size", [](spans& s) { (void)s.size(); }}};
  check_moved<spans>(
      "host_elements",
      [] {
        static auto* a = new fr::host_array<int>({3}, 1);
        return fr::host_span(*a);
      },
      u);
  using view = fr::host_view<int, 0>;
  check_moved<view>("host_view",
                    [] {
                      static auto* a = new fr::host_array<int, 0>(fr::extents<0>());
                      return fr::host(*a);
                    },
                    {});
}

BOOST_AUTO_TEST_CASE(shared_events) {
  using event = fr::shared_event;
  support::uses_of<event> u;
  u.must = {{"key", [](event& e) { (void)e.key(); }}, {"hand_over", [](event& e) {
                                                         fr::device_array<int> a({3});
                                                         fr::hand_over(fr::default_stream(fr::default_device()), a, e);
                                                       }}};
  const auto e = support::run_apart([] { (void)event(fr::default_device()); });
  if (!e.is_right()) return;  // this backend shares no events
  check_moved<event>(
      "shared_event", [] { return event(fr::default_device()); }, u);
}

BOOST_AUTO_TEST_SUITE_END()
