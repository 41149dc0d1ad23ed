// Structs of arrays as arguments of loops, reductions and submit(): their spans, order, checks and messages.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <string>

#include "ferry/core/detail/runtime/peer.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace struct_arguments {
namespace {

template <template <class, std::size_t> class A>
struct layer {
  A<float, 2> weights;
  float factor;
  FERRY_MEMBERS(weights, factor);
};
template <template <class, std::size_t> class A>
struct state {
  A<double, 1> x;
  std::array<layer<A>, 2> layers;
  std::optional<A<int, 1>> marks;
  int n;
  FERRY_MEMBERS(x, layers, marks, n);
};

struct set_all {
  double value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::mdspan> s) const {
    s.x(i) = value;
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t j = 0; j < s.layers[k].weights.extent(1); ++j)
        s.layers[k].weights(i, j) = static_cast<float>(value) * s.layers[k].factor;
    if (s.marks) (*s.marks)(i) = s.n;
  }
};
struct add_all {  // the read struct is const, so that it may be passed without in()
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::const_mdspan> from, state<fr::mdspan> to) const {
    to.x(i) += from.x(i);
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t j = 0; j < from.layers[k].weights.extent(1); ++j)
        to.layers[k].weights(i, j) += from.layers[k].weights(i, j);
    if (from.marks && to.marks) (*to.marks)(i) += (*from.marks)(i);
  }
};
struct total {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const state<fr::const_mdspan>& s) const {
    return s.x(i) + s.layers[1].weights(i, 0) + (s.marks ? (*s.marks)(i) : 0);
  }
};
struct skip_one_weight {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::mdspan> s) const {
    s.x(i) = 1;
    for (std::size_t j = 0; j < 3; ++j) {
      s.layers[0].weights(i, j) = 1;
      if (i != 2 || j != 1) s.layers[1].weights(i, j) = 1;
    }
  }
};
struct write_what_is_read {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::const_mdspan> s, double* y) const {
    y[i] = s.x(i);
    const_cast<float&>(s.layers[1].weights(i, 0)) = 9.f;
  }
};
struct read_outside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::const_mdspan> s, double* y) const {
    y[i] = s.layers[0].weights(i, i);
  }
};

struct add_half {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<fr::narrowed<fr::mdspan>::array> s) const { s.x(i) += 0.5f; }
};

constexpr std::size_t n = 16, m = 3;

template <template <class, std::size_t> class A>
state<A> make(fr::device d, bool has_marks) {
  state<A> s{A<double, 1>({n}, 0., d),
             {layer<A>{A<float, 2>({n, m}, 0.f, d), 2}, layer<A>{A<float, 2>({n, m}, 0.f, d), 3}},
             {},
             4};
  if (has_marks) s.marks = A<int, 1>({n}, 0, d);
  return s;
}
template <class State>
bool holds(const State& s, double x, double second, int mark) {
  using number = typename decltype(s.x)::value_type;
  return fr::to_vector(s.x) == std::vector<number>(n, static_cast<number>(x)) &&
         fr::to_vector(s.layers[1].weights) == std::vector<float>(n * m, static_cast<float>(second)) &&
         (!s.marks || fr::to_vector(*s.marks) == std::vector<int>(n, mark));
}

void each_schedule(auto run, bool has_peers = true) {
  for (std::size_t seed = 0; seed <= support::seeds(25); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const fr::simulation sim(std::string("devices=2;check=on") + (has_peers ? "" : ";peers=none") +
                               (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
      if (!has_peers) fr::runtime::current().peers().kernels(fr::detail::peer_kernels::stage);
      run(seed % 2 != 0);
    }
}
// The device errors of run() in all schedules.
std::vector<std::string> failures(auto run) {
  const support::quiet_stderr quiet;
  std::vector<std::string> all;
  each_schedule([&](bool) { all.push_back(failure_of<fr::device_error>(run)); });
  return all;
}

// Work on two streams of one device, and on another device, that conflicts in single members.
template <template <class, std::size_t> class A>
void is_ordered(bool has_marks) {
  const fr::device one(0), two(1);
  const fr::stream a(one), b(one), c(two);
  auto s = make<A>(one, has_marks), t = make<A>(one, has_marks);
  for (int round = 1; round <= 3; ++round) {
    fr::parallel_for(a, n, set_all{1. * round}, fr::out(s));
    fr::parallel_for(b, n, set_all{10.}, fr::inout(t));
    fr::parallel_for(c, n, add_all{}, fr::in(s), fr::inout(t));
    fr::fill(a, s.layers[1].weights, 100.f);  // conflicts with one member only
    if (s.marks) fr::fill(b, *s.marks, 7);
    const fr::scalar<double> all = fr::parallel_reduce(b, n, total{}, fr::plus{}, fr::in(t));
    BOOST_TEST(holds(t, 10 + round, 30 + 3 * round, 8));
    BOOST_TEST(static_cast<double>(all) ==
               static_cast<double>(n) * (10 + round + 30 + 3 * round + (has_marks ? 8 : 0)));
    BOOST_TEST(holds(s, round, 100, 7));
  }
}

}  // namespace
}  // namespace struct_arguments

BOOST_AUTO_TEST_SUITE(struct_arguments)

BOOST_AUTO_TEST_CASE(work_is_ordered_by_every_member) {
  each_schedule(is_ordered<fr::device_array>);
  each_schedule(is_ordered<fr::unified_array>);
  each_schedule(is_ordered<fr::host_array>);
}

BOOST_AUTO_TEST_CASE(members_that_the_device_cannot_reach_are_staged) {
  each_schedule(is_ordered<fr::device_array>, false);
}

BOOST_AUTO_TEST_CASE(structs_without_in_and_out) {
  each_schedule([](bool has_marks) {
    auto s = make<fr::device_array>(fr::device(1), has_marks), t = make<fr::device_array>(fr::device(1), has_marks);
    fr::parallel_for(n, set_all{2}, s);
    const auto& only_read = s;
    fr::parallel_for(n, add_all{}, only_read, t);
    fr::parallel_for(n, add_all{}, s, t);  // const in the functor
    BOOST_TEST(holds(t, 4, 12, 8));
    BOOST_TEST((t.x.last_stream() == fr::default_stream(fr::device(1))));  // the device of the first written array
  });
}

BOOST_AUTO_TEST_CASE(calls_of_submit_take_structs) {
  const fr::simulation sim("devices=2;check=on");
  auto s = make<fr::unified_array>(fr::device(0), true);
  fr::parallel_for(n, set_all{2}, fr::out(s));
  const double* x = nullptr;
  std::size_t columns = 0;
  fr::submit(
      fr::default_stream(fr::device(0)),
      [&](fr::native_stream, const state<fr::const_mdspan>& spans, int value) {
        x = spans.x.data();
        columns = spans.layers[1].weights.extent(1) + static_cast<std::size_t>(value);
      },
      s, 5);
  BOOST_TEST((x == s.x.unsynchronized_data() && columns == m + 5));
}

BOOST_AUTO_TEST_CASE(an_uploaded_struct_is_an_argument) {
  const fr::simulation sim("devices=2;check=on");
  auto s = make<fr::host_array>(fr::device(0), true);
  fr::parallel_for(n, set_all{2}, fr::out(s));
  auto on_device = fr::adapt<fr::device_array>(fr::device(1), s);
  fr::parallel_for(n, add_all{}, fr::in(on_device), fr::inout(s));
  BOOST_TEST(holds(fr::adapt<fr::host_array>(s), 4, 12, 8));
}

BOOST_AUTO_TEST_CASE(a_narrowed_struct_is_an_argument) {
  const fr::simulation sim("devices=2;check=on");
  auto s = make<fr::host_array>(fr::device(0), false);
  fr::parallel_for(n, set_all{2}, fr::out(s));
  auto narrow = fr::adapt<fr::device_array>(s, fr::narrow);
  fr::parallel_for(n, add_half{}, fr::inout(narrow));
  BOOST_TEST(holds(narrow, 2.5, 6, 0));
}

BOOST_AUTO_TEST_CASE(checks_name_the_member) {
  for (const std::string& text : failures([] {
         auto s = make<fr::device_array>(fr::device(0), false);
         fr::parallel_for(n, skip_one_weight{}, fr::out(s));
         (void)fr::to_vector(s.x);
       }))
    BOOST_TEST((has(text, "weights'") && has(text, "did not write 1") && has(text, "index (2, 1)")), text);
  for (const std::string& text : failures([] {
         auto s = make<fr::device_array>(fr::device(0), false);
         fr::device_array<double> y({n}, 0.);
         fr::parallel_for(n, write_what_is_read{}, fr::in(s), fr::out(y));
         (void)fr::to_vector(y);
       }))
    BOOST_TEST((has(text, "weights'") && has(text, "wrote 16 of them")), text);
  for (const std::string& text : failures([] {
         auto s = make<fr::device_array>(fr::device(0), false);
         s.layers[0].weights.name("w");
         fr::device_array<double> y({n}, 0.);
         fr::parallel_for(n, read_outside{}, fr::in(s), fr::out(y));
         (void)fr::to_vector(y);
       }))
    BOOST_TEST((has(text, "'w'") && has(text, "index 3")), text);
}

BOOST_AUTO_TEST_CASE(freed_members_are_named) {
  const fr::simulation sim("devices=2;check=on");
  auto s = make<fr::device_array>(fr::device(0), false);
  s.layers[1].weights.free();
  const std::string text = failure_of<fr::use_after_free>([&] { fr::parallel_for(n, set_all{1}, fr::out(s)); });
  BOOST_TEST((has(text, "state.layers[1].weights: ") && has(text, "struct_arguments_test.cpp:")), text);
}

BOOST_AUTO_TEST_SUITE_END()
