// as: host
// Scratch memory of strided copies: never more than copy_options allow, for any shape, and less if memory is short.
#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"

#include <algorithm>

using namespace contract;

namespace scratch_of_copies {
namespace {

constexpr std::size_t memory = std::size_t{2} << 20;

// Two devices of 2 MiB each, with the given scratch size.
struct small_devices {
  small_devices(const std::string& peers, const std::string& schedule, std::size_t scratch)
      : sim("devices=2;memory=2MiB;peers=" + peers + ";schedule=" + schedule) {
    fr::copy_options o = fr::current_copy_options();
    o.scratch_bytes = scratch;
    o.chunk_bytes = o.small_chunk_bytes = o.parallel_chunk_bytes = 50000;
    fr::set_copy_options(o);
  }
  fr::simulation sim;
};

// The whole array, with the last dimension reversed.
template <class Array>
auto backwards(Array& a) {
  constexpr std::size_t rank = Array::rank;
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return a.slice(std::initializer_list<fr::slice>{fr::slice{0, a.extent(D), D + 1 == rank ? -1 : 1}...});
  }
  (std::make_index_sequence<rank>());
}

template <class To, std::size_t Rank>
std::vector<To> with_reversed_rows(const std::vector<float>& v, const fr::extents<Rank>& e) {
  std::vector<To> r(v.size());
  const std::size_t n = e[Rank - 1];
  for (std::size_t i = 0; i < v.size(); ++i) r[i] = static_cast<To>(v[i / n * n + n - 1 - i % n]);
  return r;
}

// Strided on both sides, on the source's side only, and on the destination's only; also from and to CPU memory.
template <class To, std::size_t Rank>
void copy_all_ways(const fr::extents<Rank>& e) {
  std::vector<float> v(e.count());
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 30011);
  const std::vector<To> turned = with_reversed_rows<To>(v, e);
  const fr::device here(0), there(1);
  const auto a = fr::device_array<float, Rank>::from(std::span<const float>(v), e, here);
  fr::device_array<To, Rank> b(e, there);
  const fr::stream s{there};
  fr::copy(s, backwards(a), backwards(b));
  const auto& uses = b.owner().get().history.uses();
  BOOST_TEST(std::ranges::count(uses, &s.timeline(), &fr::detail::access_record::by) ==
             1);  // several parts, but one operation
  BOOST_TEST((fr::to_vector(b) == std::vector<To>(v.begin(), v.end())));
  fr::fill(b, To{});
  fr::copy(backwards(a), b);
  BOOST_TEST((fr::to_vector(b) == turned));
  fr::fill(b, To{});
  fr::copy(s, a, backwards(b));
  BOOST_TEST((fr::to_vector(b) == turned));
  std::vector<To> down(v.size());
  fr::copy(backwards(a), down);
  BOOST_TEST((down == turned));
  fr::fill(b, To{});
  fr::copy(v, backwards(b));
  BOOST_TEST((fr::to_vector(b) == turned));
}

}  // namespace
}  // namespace scratch_of_copies

BOOST_FIXTURE_TEST_SUITE(scratch_of_copies, clean)

// Each array takes about two thirds of its device's memory, so half of another one does not fit beside it.
BOOST_AUTO_TEST_CASE(rows_larger_than_scratch_are_split) {
  for (const std::string peers : {"none", "all"})
    for (const std::string schedule : {"eager", "random:1", "random:2"}) BOOST_TEST_CONTEXT(peers << ' ' << schedule) {
        const small_devices sim(peers, schedule, 4096);
        const std::size_t n = memory / 4 * 2 / 3;
        copy_all_ways<float>(fr::extents<1>{n});
        copy_all_ways<float>(fr::extents<2>{2, n / 2});
        copy_all_ways<float>(fr::extents<3>{1, 2, n / 2});
        copy_all_ways<std::int32_t>(fr::extents<3>{2, 2, n / 4});
        copy_all_ways<std::int16_t>(fr::extents<2>{2, n / 2});
        copy_all_ways<float>(fr::extents<4>{3, 1, 700, 31});  // row counts that are not multiples of the parts
      }
}

BOOST_AUTO_TEST_CASE(one_element_may_be_larger) {
  const small_devices sim("none", "eager", 3);
  copy_all_ways<double>(fr::extents<3>{2, 3, 5});
}

BOOST_AUTO_TEST_CASE(less_scratch_where_memory_is_short) {
  for (const std::string peers : {"none", "all"}) {
    const small_devices sim(peers, "random:3", fr::copy_options().scratch_bytes);
    const std::size_t n = memory / 4 * 2 / 3;
    copy_all_ways<float>(fr::extents<2>{2, n / 2});
    copy_all_ways<std::int32_t>(fr::extents<1>{n});
  }
}

// A copy in parts would overwrite some elements before it reads them.
BOOST_AUTO_TEST_CASE(views_that_overlap_go_through_as_much_memory) {
  const small_devices sim("none", "eager", 4096);
  const auto few = counting<float>(3000);
  auto a = fr::device_array<float, 2>::from(std::span<const float>(few), {2, 1500});
  fr::copy(backwards(std::as_const(a)), a);
  BOOST_TEST((fr::to_vector(a) == with_reversed_rows<float>(few, fr::extents<2>{2, 1500})));
  const std::size_t n = memory / 4 * 2 / 3;
  fr::device_array<float> large({n}, 7.0f);
  check_error<fr::out_of_memory>([&] { fr::copy(backwards(std::as_const(large)), large); }, {});
}

BOOST_AUTO_TEST_SUITE_END()
