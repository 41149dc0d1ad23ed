// Minima and maxima of floats through a transport that does not propagate NaN: it receives integers in the same order.
#include <bit>

#include <ferry/unified/host_guard.hpp>

#include "cases.hpp"
#include "halves.hpp"
#include "sim/sim_transport.hpp"
#include "support/seeds.hpp"
#include "transport/keyed_transport.hpp"
#include "transport/ordered_keys.hpp"

using namespace collectives;

namespace floats_as_integers {
namespace {

// A simulated transport that refuses operations where NCCL's result differs from ferry's, and buffers that overlap in a
// way that NCCL does not allow.
class without_floats final : public fr::detail::transport {
 public:
  explicit without_floats(const fr::detail::rank_layout& team) : below_(fr::detail::sim::make_transport(team)) {}
  std::string_view name() const override { return below_->name(); }
  void submit(std::span<const fr::detail::collective_call> calls, std::span<const fr::stream_ref> streams) override {
    for (const fr::detail::collective_call& c : calls)
      if (fr::detail::is_float(c.type) && fr::detail::is_extreme(c.op))
        throw fr::not_supported(std::string(fr::detail::name_of(c.op)) + " of " + fr::detail::name_of(c.type));
      else if (const std::size_t share =
                   c.kind == fr::detail::collective_kind::reduce_scatter ? c.member * c.bytes() : 0;
               c.from.range().overlaps(c.to.range()) && c.to.data != c.from.data + share)
        throw fr::invalid_argument("the buffers of member " + std::to_string(c.member) + " overlap");
    below_->submit(calls, streams);
  }

 private:
  std::shared_ptr<fr::detail::transport> below_;
};

fr::detail::rank_layout layout_of(std::size_t ranks) {
  const auto members = fr::devices().first(ranks);
  return {ranks, 0, {members.begin(), members.end()}};
}
fr::team team_with_keys(std::size_t ranks) {
  const fr::detail::rank_layout l = layout_of(ranks);
  return fr::team(l.members, 0, ranks, fr::detail::with_ordered_keys(std::make_shared<without_floats>(l), l));
}

// All values in order: keys must have the numbers' order, and convert back to the same bits.
template <class Format>
void check_keys(const std::vector<typename Format::bits>& in_order) {
  std::size_t wrong = 0;
  for (const auto nan : {Format::lowest, Format::highest})
    for (std::size_t i = 0; i < in_order.size(); ++i) {
      const auto key = Format::to_key(in_order[i], nan);
      wrong += Format::from_key(key) != in_order[i] || key == Format::lowest || key == Format::highest;
      wrong += i > 0 && Format::to_key(in_order[i - 1], nan) >= key;
    }
  BOOST_TEST(wrong == 0u);
}
template <class Format, class Float>
void check_keys_of(std::vector<Float> numbers) {
  std::sort(numbers.begin(), numbers.end(),
            [](Float a, Float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); });
  numbers.erase(std::unique(numbers.begin(), numbers.end(),
                            [](Float a, Float b) { return a == b && std::signbit(a) == std::signbit(b); }),
                numbers.end());
  std::vector<typename Format::bits> in_order;
  for (const Float x : numbers) in_order.push_back(std::bit_cast<typename Format::bits>(x));
  check_keys<Format>(in_order);
  for (const Float nan : {std::numeric_limits<Float>::quiet_NaN(), -std::numeric_limits<Float>::quiet_NaN(),
                          std::numeric_limits<Float>::signaling_NaN()}) {
    const auto key = Format::to_key(std::bit_cast<typename Format::bits>(nan), Format::highest);
    BOOST_TEST((key == Format::highest));
    BOOST_TEST(std::isnan(std::bit_cast<Float>(Format::from_key(key))));
  }
}

}  // namespace
}  // namespace floats_as_integers

BOOST_AUTO_TEST_SUITE(floats_as_integers)

BOOST_AUTO_TEST_CASE(keep_order_and_bits) {
  std::mt19937_64 random(1);
  for (const auto type : {fr::detail::element_type::float16, fr::detail::element_type::bfloat16})
    fr::detail::with_float_format(type, [&]<class Format>(Format) {
      if constexpr (sizeof(typename Format::bits) == 2) {
        const auto infinity = static_cast<int>(Format::from_key(Format::highest)) &
                              ~(type == fr::detail::element_type::float16 ? 0x200 : 0x40);
        std::vector<std::int16_t> in_order;
        for (int b = infinity; b >= 0; --b) in_order.push_back(static_cast<std::int16_t>(b | ~0x7fff));
        for (int b = 0; b <= infinity; ++b) in_order.push_back(static_cast<std::int16_t>(b));
        check_keys<Format>(in_order);
        for (int b = infinity + 1; b <= 0x7fff; ++b)
          BOOST_REQUIRE((Format::to_key(static_cast<std::int16_t>(b), Format::lowest) == Format::lowest));
      }
    });
  const auto numbers = [&]<class Float, class Bits>(Float, Bits) {
    std::vector<Float> all{0,
                           -Float(0),
                           1,
                           -1,
                           std::numeric_limits<Float>::infinity(),
                           -std::numeric_limits<Float>::infinity(),
                           std::numeric_limits<Float>::max(),
                           std::numeric_limits<Float>::lowest(),
                           std::numeric_limits<Float>::denorm_min()};
    for (int i = 0; i < 20000; ++i)
      if (const auto x = std::bit_cast<Float>(static_cast<Bits>(random())); !std::isnan(x)) all.push_back(x);
    return all;
  };
  fr::detail::with_float_format(fr::detail::element_type::float32, [&]<class Format>(Format) {
    if constexpr (sizeof(typename Format::bits) == 4) check_keys_of<Format>(numbers(0.f, std::uint32_t()));
  });
  fr::detail::with_float_format(fr::detail::element_type::float64, [&]<class Format>(Format) {
    if constexpr (sizeof(typename Format::bits) == 8) check_keys_of<Format>(numbers(0.0, std::uint64_t()));
  });
}

BOOST_AUTO_TEST_CASE(are_what_the_transport_is_given) {
  for (std::size_t seed = 0; seed < support::seeds(12); ++seed) {
    const fr::simulation runtime("devices=4;check=on;peers=" + std::string(seed % 3 == 0 ? "none" : "all") +
                                 (seed % 4 == 0 ? "" : ";schedule=random:" + std::to_string(seed)));
    BOOST_TEST_CONTEXT("seed " << seed) {
      const fr::team t = team_with_keys(1 + seed % 4);
      check_special_values_of_floats(t);
      check_reductions<float>(t, 5, fr::minimum{});
      check_reductions<double>(t, 0, fr::maximum{});
      check_reductions<int>(t, 5, fr::maximum{});
      check_half_reductions<__half>(t, 3, fr::maximum_number{});
    }
  }
}

// The error comes before any member's numbers are replaced by keys in place.
BOOST_AUTO_TEST_CASE(a_refused_collective_leaves_numbers_as_they_were) {
  const fr::simulation runtime("devices=2");
  const fr::team t = team_with_keys(2);
  std::vector<fr::unified_array<float>> all;
  all.emplace_back(fr::extents<1>{4}, -1.5f, t.device(0)), all.emplace_back(fr::extents<1>{4}, 2.5f, t.device(1));
  {
    const fr::host_guard guard(fr::inout(all[1]));
    BOOST_CHECK_THROW(fr::all_reduce(t, all, fr::minimum{}), fr::invalid_argument);
  }
  BOOST_TEST(fr::to_vector(all[0]) == std::vector<float>(4, -1.5f), boost::test_tools::per_element());
  BOOST_TEST(fr::to_vector(all[1]) == std::vector<float>(4, 2.5f), boost::test_tools::per_element());
}

// Grouped with other calls, whose arrays are unchanged.
BOOST_AUTO_TEST_CASE(in_groups_and_graphs) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t seed = 0; seed < support::seeds(12); ++seed) {
    const fr::simulation runtime("devices=3;check=on;schedule=random:" + std::to_string(seed));
    BOOST_TEST_CONTEXT("seed " << seed) {
      const fr::team t = team_with_keys(3);
      auto sums = filled<double>(t, 4, 1), least = filled<double>(t, 4, 2);
      auto some = filled<float>(t, 5, 1), most = filled<float>(t, 5, 0);
      auto halves = enqueue_halves<__half>(t, 6);
      const auto submit = [&] {
        fr::collective_group(t)
            .all_reduce(sums, fr::plus{})
            .all_reduce(least, fr::minimum{})
            .all_reduce(some, most, fr::maximum{})
            .all_reduce(halves, fr::minimum_number{})
            .submit();
      };
      fr::all_reduce(t, some, fr::minimum{});  // the first call
      fr::graph g = fr::capture(t[0], submit);
      for (int i = 0; i < 3; ++i) {
        fr::fill(some[1], i == 1 ? nan : static_cast<float>(i));
        if (seed % 2 == 0)
          g.launch(t[0]);
        else
          submit();
        for (std::size_t m = 0; m < 3; ++m) {
          BOOST_TEST(fr::to_vector(sums[m])[3] == std::pow(3.0, i + 1));
          BOOST_TEST(fr::to_vector(least[m])[3] == 2);
          const float found = fr::to_vector(most[m])[4];
          BOOST_TEST((i == 1 ? std::isnan(found) : found == std::max(1.f, static_cast<float>(i))));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
