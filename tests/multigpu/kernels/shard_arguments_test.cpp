// Other arguments of loops over shards, and the elements that they declare to write.
#include <cmath>
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "multigpu/shards.hpp"
#include "support/quiet_stderr.hpp"

using namespace contract;

namespace shard_arguments {
namespace {

struct scale_by_table {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, const int* table, fr::shard_span<int, 2> a) const {
    a(i, j) *= table[j];
  }
};
struct set_to_sum {
  FERRY_HOST_DEVICE void operator()(std::size_t, fr::mdspan<const std::int64_t, 1> parts, int* table) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) sum += parts(i);
    table[1] = static_cast<int>(sum);
  }
};
struct cell {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> a) const {
    return a(i, j);
  }
};
struct cell_by_table {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, const int* table,
                                   fr::shard_span<const int, 2> a) const {
    return a(i, j) * table[j];
  }
};
struct add_up {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, int* table, fr::shard_span<const int, 2> a) const {
    if (i == 3) table[j] += a(i, j);
  }
};
struct write_even_columns {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> a) const {
    if (j % 2 == 0) a(i, j) = 1;
    return 1;
  }
};
struct write_beside_pointer {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> a,
                                      const double* x) const {
    return a(i, j) = x[0];
  }
};

// The number of cells in odd columns that are not NaN, and in even columns that are not 1.
template <class Array>
std::size_t wrong_cells(const Array& a) {
  const std::vector<double> v = fr::to_vector(a);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < v.size(); ++k) wrong += k % a.extent(1) % 2 == 0 ? v[k] != 1 : !std::isnan(v[k]);
  return wrong;
}

}  // namespace
}  // namespace shard_arguments

BOOST_AUTO_TEST_SUITE(shard_arguments)

// All members use the same single-device array, also without links.
BOOST_AUTO_TEST_CASE(arrays_of_one_device_are_mirrored_where_there_is_no_link) {
  for (const char* how : {"devices=3;peers=none", "devices=3;peers=none;schedule=random:1;check=on",
                          "devices=3;broken=0-1;schedule=random:2"})
    for (const std::size_t axis : {0u, 1u}) {
      const support::quiet_stderr quiet;
      fr::simulation sim(how);
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {7, 5}, {.axis = axis, .halo = 1}, 2);
      const auto table = fr::device_array<int>::from(std::vector<int>{1, 2, 3, 4, 5}, fr::device(0));
      sim.get().peers().kernels(fr::detail::peer_kernels::error);
      check_error<fr::peer_access_error>([&] { fr::parallel_for(fr::owned(a), scale_by_table{}, fr::in(table), a); },
                                         {"FERRY_PEER_KERNELS=stage"});
      fr::fill(a, 2);

      sim.get().peers().kernels(fr::detail::peer_kernels::stage);
      const small_chunks small;
      fr::parallel_for(fr::owned(a), scale_by_table{}, fr::in(table), a);
      BOOST_TEST(fr::parallel_reduce(fr::owned(a), cell{}, fr::plus{}, a).value() == 7 * 30);
      BOOST_TEST(fr::parallel_reduce(fr::owned(a), cell_by_table{}, fr::plus{}, fr::in(table), a).value() == 7 * 110);
      fr::parallel_for(fr::sweep(fr::owned(a)), scale_by_table{}, fr::in(table), a);
      BOOST_TEST(fr::parallel_reduce(fr::interior(a), cell_by_table{}, fr::plus{}, fr::in(table), a).value() +
                     fr::parallel_reduce(fr::boundary(a), cell_by_table{}, fr::plus{}, fr::in(table), a).value() ==
                 7 * 450);
      fr::device_array<int> sums({5}, 0, fr::device(0));
      fr::parallel_for(fr::owned(a), add_up{}, sums, fr::in(a));  // the members run one after the other
      CHECK_EQUAL(fr::to_vector(sums), (std::vector<int>{2, 8, 18, 32, 50}));
    }
}

BOOST_AUTO_TEST_CASE(what_out_promises_reads_as_never_written_before) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:5"})
    for (const std::size_t axis : {0u, 1u})
      for (const std::ptrdiff_t halo : {0, 1}) {
        const fr::simulation sim(how);
        const fr::memory_checks_scope on;
        const fr::team t = fr::team::all();
        const auto made = [&] { return fr::sharded_array<double, 2>(t, {8, 9}, {.axis = axis, .halo = halo}, 7.0); };
        auto all = made(), swept = made(), reduced = made(), sure = made();
        fr::parallel_for(fr::owned(all), write_even_columns{}, fr::out(all));
        fr::parallel_for(fr::sweep(fr::owned(swept)), write_even_columns{}, fr::out(swept));
        const auto sum = fr::parallel_reduce(fr::owned(reduced), write_even_columns{}, fr::plus{}, fr::out(reduced));
        const auto same =
            fr::parallel_reduce(fr::owned(sure), write_even_columns{}, fr::reproducible(fr::plus{}), fr::out(sure));
        BOOST_TEST(sum.value() == 72);
        BOOST_TEST(same.value() == 72);
        for (const auto* a : {&all, &swept, &reduced, &sure}) BOOST_TEST(wrong_cells(*a) == 0u);
        for (std::size_t m = 0; m < t.size() && halo > 0; ++m) {  // out() does not cover halos
          const auto cells = fr::to_vector(all.shard_with_halo(m));
          BOOST_TEST(std::count(cells.begin(), cells.end(), 7.0) ==
                     static_cast<std::ptrdiff_t>(cells.size() - all.layout().own(m).extents().count()));
        }
      }
}

// A loop that throws for one member leaves its outputs unchanged.
BOOST_AUTO_TEST_CASE(loops_that_throw_leave_their_outputs_alone) {
  for (const char* how : {"devices=2;peers=none", "devices=2;peers=none;schedule=random:3"}) {
    fr::simulation sim(how);
    sim.get().peers().kernels(fr::detail::peer_kernels::error);
    const fr::memory_checks_scope on;
    const fr::team t = fr::team::all();
    fr::sharded_array<double, 2> a(t, {8, 9}, {.halo = 1}, 7.0);
    fr::device_array<double, 2> other({8, 9}, 1.0, fr::device(0));
    BOOST_CHECK_THROW(fr::parallel_for(fr::owned(a), write_beside_pointer{}, fr::out(a), fr::in(other)),
                      fr::peer_access_error);
    const auto cells = fr::to_vector(a.shard(1));
    BOOST_TEST(std::count(cells.begin(), cells.end(), 7.0) == static_cast<std::ptrdiff_t>(cells.size()));
    fr::sharded_array<double, 2> b(t, {8, 9}, {}, 7.0), c(t, {8, 9}, {}, 7.0);
    BOOST_CHECK_THROW(
        fr::parallel_for(fr::owned(b), write_beside_pointer{}, fr::out(b), fr::in(other.slice({{}, {2, 5}}))),
        fr::invalid_argument);
    BOOST_CHECK_THROW((void)fr::parallel_reduce(fr::owned(c), write_beside_pointer{}, fr::plus{}, fr::out(c),
                                                fr::in(other.slice({{}, {2, 5}}))),
                      fr::invalid_argument);
    for (const auto* all : {&b, &c})
      for (std::size_t m = 0; m < t.size(); ++m) {
        const auto own = fr::to_vector(all->shard(m));
        BOOST_TEST(std::count(own.begin(), own.end(), 7.0) == static_cast<std::ptrdiff_t>(own.size()));
      }
  }
}

// A table with a copy on each device, changed on each by a global result, and read by loops over shards.
BOOST_AUTO_TEST_CASE(replicated_arrays) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:4", "devices=1", "devices=3;peers=none"}) {
    fr::simulation sim(how);
    const fr::team t = fr::team::all();
    fr::replicated_array<int> table(t, {3}, 9);
    fr::copy(std::vector<int>{1, 2, 3}, table);
    fr::sharded_array<int, 2> a(t, {5, 3}, {}, 1);
    fr::parallel_for(fr::owned(a), scale_by_table{}, fr::in(table), a);
    const auto sum = fr::parallel_reduce(fr::owned(a), cell{}, fr::plus{}, a);  // 5 (1 + 2 + 3)
    fr::parallel_for(fr::each_member(t, 1), set_to_sum{}, sum, table);
    fr::parallel_for(fr::owned(a), scale_by_table{}, table, a);
    for (std::size_t m = 0; m < t.size(); ++m)
      CHECK_EQUAL(fr::to_vector(table.copy_of(m)), (std::vector<int>{1, 30, 3}));
    std::vector<int> expected;
    for (int i = 0; i < 5; ++i) expected.insert(expected.end(), {1, 60, 9});
    CHECK_EQUAL(fr::to_vector(a), expected);
    BOOST_TEST(sum.value() == 30);
    check_error<fr::invalid_argument>([&] { fr::copy(std::vector<int>{1}, table); }, {"1 elements"});

    fr::all_reduce(t, table.copies(), fr::plus{});
    const auto members = static_cast<int>(t.size());
    CHECK_EQUAL(fr::to_vector(table), (std::vector<int>{members, 30 * members, 3 * members}));
    fr::copy(fr::device_array<int>::from(std::vector<int>{4, 5, 6}, fr::devices().back()), table);
    for (std::size_t m = 0; m < t.size(); ++m)
      CHECK_EQUAL(fr::to_vector(table.copy_of(m)), (std::vector<int>{4, 5, 6}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
