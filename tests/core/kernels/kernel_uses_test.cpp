// Kernels that use arguments differently from the declaration: `in` arrays written, `out` elements not written.
#include <cmath>
#include <cstdint>
#include <ferry/core.hpp>
#include <limits>
#include <string>

#include <boost/test/unit_test.hpp>

#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;

namespace kernel_uses {
namespace {

struct write_input {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* in, int* out) const {
    out[i] = in[i];
    if (i == 7 || i == 9) const_cast<int*>(in)[i] = 5;
  }
};
template <class T>
struct skip_from {
  std::size_t first, count;
  T value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<T, 1> p) const {
    if (i < first || i >= first + count) p(i) = value;
  }
};
struct skip_corner {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<double, 2> p) const {
    if (i != 2 || j != 3) p(i, j) = 1;
  }
};
struct write_all_but_one_column {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<float, double> s) const {
    s.get<0>(i) = 1;
    if (i != 4) s.get<1>(i) = 2;
  }
};
struct even_to_odd {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 1> even, fr::mdspan<int, 1> odd) const {
    odd(i) = even(i);
  }
};
struct add_neighbour {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 1> all, fr::mdspan<int, 1> part) const {
    part(i) += all(i);
  }
};

struct negate_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = -from[i]; }
};

bool has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos) return false;
  return true;
}

// The errors of run() on an eager and on random schedules.
template <class Run>
std::vector<std::string> failures(Run run) {
  const support::quiet_stderr quiet;
  std::vector<std::string> all;
  for (std::size_t seed = 0; seed <= support::seeds(10); ++seed) {
    const fr::simulation sim("devices=2;check=on" +
                             (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
    all.push_back(failure_of<fr::device_error>(run));
  }
  return all;
}

template <class T>
std::vector<std::string> failures_of_a_gap(std::size_t n, std::size_t first, std::size_t count, T value) {
  return failures([&] {
    fr::device_array<T> a({n}, T(0));
    a.name("a");
    fr::parallel_for(n, skip_from<T>{first, count, value}, fr::out(a));
    (void)fr::to_vector(a);
  });
}

}  // namespace
}  // namespace kernel_uses

BOOST_AUTO_TEST_SUITE(kernel_uses)

BOOST_AUTO_TEST_CASE(input_that_is_written) {
  for (const std::string& text : failures([] {
         fr::device_array<int> a({20}, 1), b({20}, 0);
         a.name("a");
         fr::parallel_for(20, write_input{}, fr::in(a), fr::out(b));
         (void)fr::to_vector(b);
       }))
    BOOST_TEST(
        has(text, {"write_input", "array 'a'", "kernel_uses_test.cpp:", "wrote 2 of them", "index (7)", "inout(a)"}),
        text);
}

BOOST_AUTO_TEST_CASE(output_that_is_not_wholly_written) {
  for (const std::string& text : failures_of_a_gap<double>(20, 13, 2, 1.))
    BOOST_TEST(
        has(text, {"skip_from", "array 'a' of 20 elements", "kernel_uses_test.cpp:", "did not write 2", "index (13)"}),
        text);
  for (const std::string& text : failures_of_a_gap<float>(200000, 199999, 1, 1.f))
    BOOST_TEST(has(text, {"did not write 1", "index (199999)"}), text);
  for (const std::string& text : failures_of_a_gap<int>(1, 0, 1, 1)) BOOST_TEST(has(text, {"index (0)"}), text);
  for (const std::string& text : failures_of_a_gap<std::uint16_t>(100, 50, 4, std::uint16_t{1}))
    BOOST_TEST(has(text, {"did not write 4", "index (50)"}), text);
  for (const std::string& text : failures_of_a_gap<char>(100, 50, 20, 'x'))
    BOOST_TEST(has(text, {"did not write 20", "index (50)"}), text);
}

BOOST_AUTO_TEST_CASE(the_index_is_that_of_the_view) {
  for (const std::string& text : failures([] {
         fr::device_array<double, 2> a({6, 8}, 0);
         a.name("a");
         auto v = a.slice({{1, 5, 1}, {0, 8, 2}});
         fr::parallel_for(fr::extents<2>(4, 4), skip_corner{}, fr::out(v));
         (void)fr::to_vector(a);
       }))
    BOOST_TEST(has(text, {"of 16 elements", "did not write 1", "index (2, 3)"}), text);
}

BOOST_AUTO_TEST_CASE(members_of_structures_of_arrays) {
  for (const std::string& text : failures([] {
         fr::device_soa<float, double> s(10);
         fr::parallel_for(10, write_all_but_one_column{}, fr::out(s));
         fr::default_stream(fr::devices()[0]).synchronize();
       }))
    BOOST_TEST(has(text, {"did not write 1", "index (4)"}), text);
}

// Results that are NaN or -1, and arguments that share an array but no elements.
BOOST_AUTO_TEST_CASE(sound_kernels_pass) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), signalling = std::numeric_limits<float>::signaling_NaN();
  for (const float value : {0.f, -1.f, nan, signalling})
    for (const std::string& text : failures_of_a_gap<float>(1000, 0, 0, value)) BOOST_TEST(text == "");
  for (const std::string& text : failures_of_a_gap<int>(1000, 0, 0, -1)) BOOST_TEST(text == "");
  for (const char value : {'\xff', '\0'})
    for (const std::string& text : failures_of_a_gap<char>(1000, 0, 0, value)) BOOST_TEST(text == "");
  for (const std::string& text : failures([] {
         fr::device_array<int> a({20}, 1);
         const auto even = a.slice(fr::slice{0, 20, 2});
         auto odd = a.slice(fr::slice{1, 20, 2}), half = a.slice(fr::slice{0, 10});
         fr::parallel_for(10, even_to_odd{}, fr::in(even), fr::out(odd));
         fr::parallel_for(10, add_neighbour{}, fr::in(a), fr::inout(half));  // shares elements: not compared
         (void)fr::to_vector(a);
       }))
    BOOST_TEST(text == "");
}

// Neither the fill pattern nor poison may change what the kernel reads.
BOOST_AUTO_TEST_CASE(output_that_is_read_in_the_same_call_is_left_alone) {
  for (const std::string& text : failures([] {
         fr::device_array<float> a({20}, 6.f);
         fr::parallel_for(20, negate_of{}, fr::out(a), fr::in(a));
         BOOST_TEST(fr::to_vector(a) == std::vector<float>(20, -6.f));
       }))
    BOOST_TEST(text == "");
}

BOOST_AUTO_TEST_CASE(graphs_are_watched_each_time) {
  for (const std::string& text : failures([] {
         fr::stream s(fr::devices()[0]);
         fr::device_array<double> a({20}, 0);
         a.name("a");
         fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 20, skip_from<double>{3, 1, 2.}, fr::out(a)); });
         g.launch(s);
         (void)fr::to_vector(a);
       }))
    BOOST_TEST(has(text, {"array 'a'", "index (3)"}), text);
}

BOOST_AUTO_TEST_SUITE_END()
