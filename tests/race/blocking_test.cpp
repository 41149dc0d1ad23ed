// Which destructors wait for device work: the first table of docs/ordering.md#what-blocks.
#include <chrono>
#include <cstddef>
#include <ferry/core.hpp>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/busy_stream.hpp"

namespace fr = ferry;

namespace blocking {
namespace {

constexpr std::size_t n = 64;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += 1; }
};
struct element {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* p) const { return p[i]; }
};

// make() returns a pointer that owns the object; use(object, s) enqueues work with it on s. That work follows work that
// lasts until the test releases it. If the destructor blocks, another thread releases it at once; otherwise it is
// released after the destructor.
template <class Make, class Use>
void check_destructor(std::string_view of, bool blocks, Make make, Use use) {
  const fr::simulation sim("devices=1;schedule=random:7");
  fr::stream s;
  auto held = make();
  fr::synchronize();
  support::busy_stream busy(s);
  use(*held, s);
  BOOST_REQUIRE(busy.is_busy());
  {
    std::jthread opener;
    if (blocks)
      opener = std::jthread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        busy.release();
      });
    held.reset();
    BOOST_TEST(busy.is_busy() == !blocks, "the destructor of " << of << (blocks ? " did not block" : " blocked"));
  }
  busy.release();
  fr::synchronize();
}

const auto increment = [](auto& a, fr::stream& s) { fr::parallel_for(s, n, add_one{}, fr::inout(a)); };

}  // namespace
}  // namespace blocking

BOOST_AUTO_TEST_SUITE(blocking)

BOOST_AUTO_TEST_CASE(destructors_that_return_at_once) {
  check_destructor(
      "a device array", false, [] { return std::make_unique<fr::device_array<int>>(fr::extents<1>{n}, 1); }, increment);
  check_destructor(
      "a unified array", false, [] { return std::make_unique<fr::unified_array<int>>(fr::extents<1>{n}, 1); },
      increment);
  check_destructor(
      "a pinned array", false, [] { return std::make_unique<fr::host_array<int>>(fr::extents<1>{n}, 1); }, increment);
  fr::device_array<int>* x = nullptr;
  check_destructor(
      "a stream", false,
      [&] {
        struct stream_and_array {
          fr::device_array<int> a{fr::extents<1>{n}, 1};
          fr::stream own;
        };
        auto both = std::make_unique<stream_and_array>();
        x = &both->a;
        return both;
      },
      [&](auto& both, fr::stream& s) { increment(*x, s), increment(*x, both.own); });
  check_destructor(
      "an event", false, [] { return std::make_unique<std::unique_ptr<fr::event>>(); },
      [](auto& e, fr::stream& s) { e = std::make_unique<fr::event>(s); });
  check_destructor(
      "a scalar", false,
      [] {
        struct array_and_scalar {
          fr::device_array<int> a{fr::extents<1>{n}, 1};
          std::unique_ptr<fr::scalar<long>> sum;
        };
        return std::make_unique<array_and_scalar>();
      },
      [](auto& both, fr::stream& s) {
        both.sum = std::make_unique<fr::scalar<long>>(fr::parallel_reduce(s, n, element{}, fr::plus{}, fr::in(both.a)));
      });
  check_destructor(
      "a workspace", false, [] { return std::make_unique<fr::workspace>(); },
      [](fr::workspace& w, fr::stream& s) {
        const fr::workspace_scope scope(w);
        fr::device_array<int> a({n});
        fr::fill(s, a, 1);
      });
  check_destructor(
      "a pool", false, [] { return std::make_unique<fr::pool>(fr::devices()[0]); },
      [](fr::pool& p, fr::stream& s) {
        const fr::pool_scope scope(p);
        fr::device_array<int> a({n});
        fr::fill(s, a, 1);
      });
}

BOOST_AUTO_TEST_CASE(destructors_that_wait) {
  struct recorded {
    fr::device_array<int> a{fr::extents<1>{n}, 1};
    std::unique_ptr<fr::graph> g;
    ~recorded() { g.reset(); }
  };
  check_destructor(
      "a graph", true,
      [] {
        auto r = std::make_unique<recorded>();
        fr::stream on;
        r->g = std::make_unique<fr::graph>(fr::capture(on, [&] { fr::parallel_for(on, n, add_one{}, r->a); }));
        return r;
      },
      [](recorded& r, fr::stream& s) { r.g->launch(s); });
  static std::vector<int> memory(n, 1);
  check_destructor(
      "a view of as_unified", true,
      [] {
        auto view = fr::as_unified(memory);
        return std::make_unique<decltype(view)>(std::move(view));
      },
      increment);
  check_destructor(
      "a pinned view", true,
      [] {
        auto view = fr::pin(memory);
        return std::make_unique<decltype(view)>(std::move(view));
      },
      increment);
  check_destructor(
      "a borrow", true,
      [] {
        struct foreign {
          fr::detail::backend& backend = fr::runtime::current().backend();
          int* p = static_cast<int*>(backend.allocate(fr::memory_kind::device, 0, n * sizeof(int)));
          std::unique_ptr<fr::borrowed<int, 1, fr::memory_kind::device>> view;
          ~foreign() {
            view.reset();
            backend.release(fr::memory_kind::device, 0, p, n * sizeof(int));
          }
        };
        auto f = std::make_unique<foreign>();
        auto view = fr::borrow(f->p, n);
        f->view = std::make_unique<decltype(view)>(std::move(view));
        return f;
      },
      [](auto& f, fr::stream& s) { fr::fill(s, *f.view, 1); });
}

BOOST_AUTO_TEST_CASE(the_end_of_a_runtime_waits_for_all_work) {
  bool ran = false;
  {
    const fr::simulation sim("devices=1;schedule=random:7");
    fr::stream s;
    fr::runtime::current().backend().run_on_host(s.native(), [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ran = true;
    });
  }
  BOOST_TEST(ran);
}

BOOST_AUTO_TEST_SUITE_END()
