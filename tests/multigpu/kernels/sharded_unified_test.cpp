// Sharded arrays in unified memory: elements, pages and their places.
#include <ferry/ferry.hpp>
#include <map>

#include "contract/fixture.hpp"
#include "sim/sim_backend.hpp"

using namespace contract;

namespace sharded_unified {
namespace {

struct add_row {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) += static_cast<int>(10 * i + j);
  }
};
struct add_to_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<float, 2> a) const { a(i, j) += 1; }
};

}  // namespace
}  // namespace sharded_unified

BOOST_AUTO_TEST_SUITE(sharded_unified)

BOOST_AUTO_TEST_CASE(elements_of_unified_arrays) {
  for (std::size_t axis : {0u, 1u}) {
    fr::simulation sim("devices=3;schedule=random:1");
    const fr::team t = fr::team::all();
    fr::unified_sharded_array<int, 2> a(t, {7, 5}, {.axis = axis, .halo = 1}, 0);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 5; ++j) a(i, j) = static_cast<int>(100 * i + j);
    fr::parallel_for(fr::owned(a), add_row{}, a);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(std::as_const(a)(i, j) == static_cast<int>(110 * i + 2 * j));
    check_error<fr::invalid_argument>([&] { a(7, 0) = 1; }, {"index 7", "extent 7"});
  }
}

// One allocation, in which no page contains cells of two shards.
BOOST_AUTO_TEST_CASE(shards_of_unified_arrays_have_pages_of_their_own) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  const auto page = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) / (2u << 20); };
  for (int made = 0; made < 4; ++made) {
    const fr::unified_sharded_array<float, 2> a(t, {12, 131070}, {.halo = 1},
                                                0.f);  // 2 MiB of cells; 3 MiB with halos
    for (std::size_t m = 0; m < 3; ++m) {
      const fr::detail::byte_range own = a.shard_with_halo(m).bytes();
      BOOST_TEST(a.shard_owner(m).unchecked() == a.shard_owner(0).unchecked());
      BOOST_TEST((own.begin >= a.shard_owner(m).get().begin && own.end <= a.shard_owner(m).get().range().end));
      if (m > 0) BOOST_TEST(page(a.shard_with_halo(m - 1).bytes().end - 1) < page(own.begin));
    }
  }
}

// A device that accesses another one's shard, by plain kernels without migration, leaves the pages in place.
BOOST_AUTO_TEST_CASE(shards_of_unified_arrays_prefer_their_devices) {
  fr::simulation sim("devices=3");
  auto& inspector = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
  const fr::migration_scope by_faults(fr::migration::explicitly);
  const fr::team t = fr::team::all();
  fr::unified_sharded_array<float, 2> a(t, {12, 131070}, {.halo = 1}, 0.f);
  const auto places = [&](std::size_t m) {
    const fr::detail::byte_range own = a.shard_with_halo(m).bytes();
    return inspector.residency(own.begin, own.size());
  };
  for (std::size_t m = 0; m < t.size(); ++m) fr::prefetch(t[m], a.shard_with_halo(m), t.device(m));
  t.synchronize();
  for (std::size_t m = 0; m < t.size(); ++m) {
    const std::map<int, std::size_t> before = places(m);
    BOOST_TEST(before.at(t.device(m).index()) == a.shard_with_halo(m).bytes().size());
    auto shard = a.shard_with_halo(m);
    const fr::stream_ref other = t[(m + 1) % t.size()];
    fr::parallel_for(other, fr::extents<2>{shard.extent(0), shard.extent(1)}, add_to_all{}, fr::inout(shard));
    other.synchronize();
    BOOST_TEST((places(m) == before), "shard " << m);
  }
}

BOOST_AUTO_TEST_SUITE_END()
