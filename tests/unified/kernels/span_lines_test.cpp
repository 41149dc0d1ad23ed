// Tracked spans: conflicting work is an error that names its source line, however the array is passed.
#include "support/failures.hpp"
#include "unified/kernels/shared.hpp"

namespace fr = ferry;
using namespace shared;
using support::failure_of;
using support::has;

namespace span_lines {
namespace {

struct set_2d {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<float, 2> x) const { x(i, j) = 1; }
};
struct set_3d {
  FERRY_HOST_DEVICE void operator()(std::size_t, std::size_t, std::size_t, float* x) const { *x = 1; }
};
struct set_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<float, 2> x) const { x(t.row, t.column) = 1; }
};
struct value_of {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
};
struct value_2d {
  FERRY_HOST_DEVICE float operator()(std::size_t i, std::size_t j, fr::mdspan<const float, 2> x) const {
    return x(i, j);
  }
};

class checked_spans {
 public:
  checked_spans() { fr::check_spans(fr::span_checks::on); }
  ~checked_spans() { fr::check_spans(fr::span_checks::off); }
};

// Checks the error of work submitted in one line while a span from another line is alive.
void expect(const std::string& text, int submitted, int made) {
  const auto line = [](int at) { return "span_lines_test.cpp:" + std::to_string(at); };
  BOOST_TEST(has(text, "submitted in " + line(submitted) + " while"), text);
  BOOST_TEST(has(text, "made in " + line(made) + ":"), text);
}

}  // namespace
}  // namespace span_lines

BOOST_AUTO_TEST_SUITE(span_lines)

BOOST_AUTO_TEST_CASE(of_loops_over_bare_arrays) {
  place here;
  const checked_spans on;
  fr::unified_array<float> u({60}, 1.f, dev(0));
  fr::unified_array<float, 2> m({6, 10}, 1.f, dev(0));
  fr::stream s{dev(0)};
  const fr::stream_ref r = s;
  const int made = __LINE__ + 1;
  const auto span = fr::host_span(u);
  expect(failure_of([&] { fr::parallel_for(60, add_one{}, u); }), __LINE__, made);
  expect(failure_of([&] { fr::parallel_for(u.extents(), add_one{}, u); }), __LINE__, made);
  expect(failure_of([&] { fr::parallel_for(fr::extents{3, 4, 5}, set_3d{}, u); }), __LINE__, made);
  expect(failure_of([&] { fr::parallel_for(s, 60, add_one{}, u); }), __LINE__, made);
  expect(failure_of([&] { fr::parallel_for(r, 60, add_one{}, u.slice({0, 60})); }), __LINE__, made);
  expect(failure_of([&] { fr::parallel_for(fr::default_stream(dev(0)), 60, add_one{}, u); }), __LINE__, made);
  expect(failure_of([&] { (void)fr::parallel_reduce(60, value_of{}, fr::plus{}, u); }), __LINE__, made);
  expect(failure_of([&] { (void)fr::parallel_reduce(s, 60, value_of{}, fr::plus{}, std::as_const(u)); }), __LINE__,
         made);
  const auto call = [](fr::native_stream, float*) {};
  expect(failure_of([&] { fr::submit(s, call, u); }), __LINE__, made);
  const int view_made = __LINE__ + 1;
  const auto view = fr::host(m);
  expect(failure_of([&] { fr::parallel_for(m.extents(), set_2d{}, m); }), __LINE__, view_made);
  expect(failure_of([&] { fr::parallel_for(fr::tiles{m.extents(), 2, 5}, set_tile{}, m); }), __LINE__, view_made);
  expect(failure_of([&] { (void)fr::parallel_reduce(m.extents(), value_2d{}, fr::plus{}, m); }), __LINE__, view_made);
}

// Where they differ, the line of in(), out() or inout() is named instead of the call's.
BOOST_AUTO_TEST_CASE(of_wrapped_arguments) {
  place here;
  const checked_spans on;
  fr::unified_array<float> u({60}, 1.f, dev(0));
  const int made = __LINE__ + 1;
  const auto span = fr::host_span(u);
  const auto wrapped = fr::inout(u);
  expect(failure_of([&] { fr::parallel_for(60, add_one{}, wrapped); }), made + 1, made);
}

BOOST_AUTO_TEST_CASE(of_copies_fills_and_hints) {
  place here;
  const checked_spans on;
  fr::unified_array<float> u({60}, 1.f, dev(0));
  fr::device_array<float> d({60}, 2.f, dev(0));
  std::vector<float> v(60);
  fr::stream s{dev(0)};
  const int made = __LINE__ + 1;
  const auto span = fr::host_span(u);
  expect(failure_of([&] { fr::fill(u, 2.f); }), __LINE__, made);
  expect(failure_of([&] { fr::fill(s, u.slice({0, 5}), 2.f); }), __LINE__, made);
  expect(failure_of([&] { fr::copy(d, u); }), __LINE__, made);
  expect(failure_of([&] { fr::copy(s, std::as_const(u), d); }), __LINE__, made);
  expect(failure_of([&] { fr::copy(s, d, u.slice({0, 60})); }), __LINE__, made);
  expect(failure_of([&] { fr::copy(v, u); }), __LINE__, made);
  expect(failure_of([&] { (void)fr::to_vector(u); }), __LINE__, made);
  expect(failure_of([&] { fr::copy_many(s, {{d, u.slice({0, 60})}}); }), __LINE__, made);
  BOOST_TEST(failure_of([&] { fr::prefetch(u, dev(0)); }).empty(), "contents stay, wherever they are");
  expect(failure_of([&] { fr::discard(u); }), __LINE__, made);
}

BOOST_AUTO_TEST_SUITE_END()
