// Sharded and replicated arrays without in() are read-only only if the functor's parameter is const.
#include <memory>

#include "multigpu/shards.hpp"
#include "support/counting_backend.hpp"

using namespace shards;

namespace read_only_parameters {
namespace {

using const_cells = fr::shard_span<const int, 2>;
using cells = fr::shard_span<int, 2>;

struct add {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, const_cells x, const int* table, cells y) const {
    y(i, j) = x(i, j) + table[0];
  }
};
struct set {
  int to;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, cells x) const { x(i, j) = to; }
};
struct value {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, const_cells x) const { return x(i, j); }
};
struct generic_value {
  template <class X>
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, const X& x) const {
    return x(i, j);
  }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* table, int* y) const { y[i] = table[i] + 1; }
};

const fr::shard_options rows_with_halos{.axis = 0, .halo = 1, .periodic = true};

struct runtime {
  support::call_counts calls;
  fr::simulation sim{"devices=3"};
  fr::runtime_scope counted{std::make_unique<support::counting_backend>(sim.get().backend(), calls)};
  fr::team t = fr::team::all();
  template <class Body>
  long waits(Body body) {
    t.synchronize();
    const long before = calls.stream_waits;
    body();
    return calls.stream_waits - before;
  }
};

template <class T, std::size_t Rank>
bool is_read(const fr::sharded_argument<T, Rank, fr::memory_kind::device>& a) {
  return std::is_const_v<T> && a.mode == fr::detail::access_mode::in;
}

}  // namespace
}  // namespace read_only_parameters

BOOST_AUTO_TEST_SUITE(read_only_parameters)

// One array for all members: members that only read it do not wait for each other.
BOOST_FIXTURE_TEST_CASE(members_read_one_array_at_once, runtime) {
  fr::sharded_array<int, 2> x(t, {9, 4}, {.axis = 0}, 1), y(t, {9, 4}, {.axis = 0}, 0);
  fr::host_array<int> table({1}, t.device(0));
  fr::fill(table, 5);
  fr::parallel_for(owned(y), add{}, x, table, y);  // each member waits once for fill()
  BOOST_TEST(waits([&] {
               for (int k = 0; k < 10; ++k) fr::parallel_for(owned(y), add{}, x, table, y);
             }) == 0);
  BOOST_TEST(waits([&] {
               for (int k = 0; k < 10; ++k) fr::parallel_for(owned(y), add{}, x, fr::inout(table), y);
             }) > 0);
  t.synchronize();
  BOOST_TEST(fr::to_vector(y)[35] == 6);
}

// Halos of arrays that a sweep only reads are not exchanged.
BOOST_FIXTURE_TEST_CASE(a_sweep_exchanges_what_it_may_write, runtime) {
  fr::sharded_array<int, 2> x(t, {9, 4}, rows_with_halos, 1), y(t, {9, 4}, rows_with_halos, 0);
  fr::host_array<int> table({1}, t.device(0));
  fr::fill(table, 5);
  const int* const halo = x.shard_with_halo(1).unsynchronized_data();
  fr::parallel_for(owned(x), set{2}, fr::out(x));
  fr::parallel_for(fr::sweep(y), add{}, x, table, y);
  t.synchronize();
  BOOST_TEST(*halo == 1);
  fr::parallel_for(fr::sweep(y), add{}, fr::inout(x), table, y);
  t.synchronize();
  BOOST_TEST(*halo == 2);
  BOOST_TEST(fr::parallel_reduce(fr::sweep(y), value{}, fr::plus{}, y).value() == 36 * 7);
  BOOST_TEST(fr::parallel_reduce(fr::sweep(y), generic_value{}, fr::plus{}, fr::in(y)).value() == 36 * 7);
  BOOST_TEST(fr::parallel_reduce(owned(y), value{}, fr::reproducible(fr::plus{}), y).value() == 36 * 7);
  BOOST_TEST(fr::parallel_reduce(fr::sweep(y), value{}, fr::reproducible(fr::plus{}), y).value() == 36 * 7);
}

BOOST_FIXTURE_TEST_CASE(replicated_arrays_too, runtime) {
  fr::replicated_array<int> table(t, {4}, 7);
  fr::replicated_array<int> y(t, {4}, 0);
  fr::parallel_for(fr::each_member(t, 4), add_one{}, table, y);
  BOOST_TEST(fr::to_vector(y) == std::vector<int>(4, 8));
  using read = decltype(fr::detail::as_shard_argument<const int*>(table));
  using written = decltype(fr::detail::as_shard_argument<int*>(table));
  BOOST_TEST((std::is_same_v<read, fr::replicated_argument<const int, 1, fr::memory_kind::device>>));
  BOOST_TEST((std::is_same_v<written, fr::replicated_argument<int, 1, fr::memory_kind::device>>));
}

BOOST_FIXTURE_TEST_CASE(explicit_arguments_stay_what_they_are, runtime) {
  fr::sharded_array<int, 2> x(t, {9, 4}, {.axis = 0}, 1);
  using fr::detail::as_shard_argument;
  BOOST_TEST(is_read(as_shard_argument<const_cells>(x)));
  BOOST_TEST(!is_read(as_shard_argument<const_cells>(fr::inout(x))));
  BOOST_TEST(!is_read(as_shard_argument<cells>(x)));
  BOOST_TEST(!is_read(as_shard_argument<void>(x)));
  BOOST_TEST((as_shard_argument<cells>(fr::out(x)).mode == fr::detail::access_mode::out));
}

BOOST_AUTO_TEST_SUITE_END()
