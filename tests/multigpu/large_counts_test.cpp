// Computations about more than 2^31 elements, without the memory for them.
#include <cstdint>

#include <boost/test/unit_test.hpp>

#include <ferry/multigpu.hpp>

#include "../../benchmarks/support/null_backend.hpp"
#include "mpi/pieces.hpp"

namespace fr = ferry;

namespace large_counts {
namespace {

constexpr std::size_t many = (std::size_t{1} << 31) + 6;  // even

// Records the arguments of the library's calls.
class noting_transport final : public fr::detail::transport {
 public:
  std::string_view name() const override { return "noting"; }
  void submit(std::span<const fr::detail::collective_call> calls, std::span<const fr::stream_ref>) override {
    given.assign(calls.begin(), calls.end());
  }
  std::vector<fr::detail::collective_call> given;
};

}  // namespace
}  // namespace large_counts

BOOST_AUTO_TEST_SUITE(large_counts)

BOOST_AUTO_TEST_CASE(shards_of_many_cells) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  for (std::size_t axis : {0u, 1u}) {
    const fr::extents<2> e{axis == 0 ? 3 * many : 5, axis == 0 ? 5 : 3 * many};
    const fr::shard_layout<2> layout(t, e, {.axis = axis, .halo = 2, .periodic = true});
    std::size_t sum = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      const fr::box<2> own = layout.own(m), local = layout.local(m);
      BOOST_TEST(own.extents().count() == 5 * many);
      BOOST_TEST(static_cast<std::size_t>(own.begin[axis]) == m * many);
      BOOST_TEST(local.extents().count() == 5 * (many + 4));
      sum += own.extents().count();
    }
    BOOST_TEST(sum == e.count());
  }
  BOOST_TEST(t.member_of(2 * many, 3 * many) == 2u);
  BOOST_TEST((t.part_of(1, 3 * many) == fr::part{many, 2 * many}));
}

BOOST_AUTO_TEST_CASE(collectives_of_many_elements) {
  const fr::runtime_scope null_machine(std::make_unique<benchmarks::null_backend>(2));
  const auto wire = std::make_shared<noting_transport>();
  const fr::team t(fr::devices(), 0, 2, wire);
  std::vector<fr::device_array<std::int32_t>> whole, half;  // addresses without memory
  for (const fr::device d : fr::devices())
    whole.emplace_back(fr::extents<1>{many}, d), half.emplace_back(fr::extents<1>{many / 2}, d);
  fr::all_reduce(t, whole, fr::plus{});
  BOOST_TEST(wire->given.size() == 2u);
  for (const auto& c : wire->given) {
    BOOST_TEST(c.count == many);
    BOOST_TEST(c.bytes() == 4 * many);
    BOOST_TEST(c.to.bytes == 4 * many);
  }
  fr::reduce_scatter(t, whole, half, fr::plus{});
  BOOST_TEST(wire->given[1].count == many / 2);
  BOOST_TEST(wire->given[1].from.bytes == 4 * many);
  fr::all_gather(t, half, whole);
  BOOST_TEST(wire->given[1].to.bytes == 4 * many);
  fr::all_gather(t, whole);  // in place: each member's part follows the previous ones
  const auto* const begin = reinterpret_cast<const std::byte*>(whole[1].unsynchronized_data());
  BOOST_TEST(static_cast<std::size_t>(wire->given[1].from.data - begin) == 2 * many);
}

BOOST_AUTO_TEST_CASE(messages_of_many_bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 44);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, fr::detail::mpi::most_bytes, fr::detail::mpi::most_bytes + 1, 5 * many}) {
    const std::byte* next = begin;
    fr::detail::mpi::each_piece(begin, bytes, [&](const std::byte* p, int n) {
      BOOST_TEST((p == next));
      BOOST_TEST(n > 0);
      next = p + n;
    });
    BOOST_TEST(static_cast<std::size_t>(next - begin) == bytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
