// Sharded arrays as text: that of one array with the same elements, and only what is shown is copied.
#include <complex>
#include <sstream>

#include "contract/small_chunks.hpp"
#include "ferry/core/print.hpp"
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace sharded_print {
namespace {

// Counts the bytes of copies.
class measuring_backend final : public support::counting_backend {
 public:
  using counting_backend::counting_backend;
  void copy(fr::native_stream s, void* to, const void* from, std::size_t n) override {
    bytes += n;
    counting_backend::copy(s, to, from, n);
  }
  void copy_batch(fr::native_stream s, std::span<const fr::detail::copy_part> parts) override {
    for (const auto& p : parts) bytes += p.bytes;
    counting_backend::copy_batch(s, parts);
  }
  void copy_strided(fr::native_stream s, const fr::detail::strided_bytes& to, const fr::detail::strided_bytes& from,
                    const fr::detail::strided_shape& shape) override {
    std::size_t n = shape.element_bytes;
    for (std::size_t d = 0; d != shape.rank; ++d) n *= shape.extent[d];
    bytes += n;
    counting_backend::copy_strided(s, to, from, shape);
  }
  std::size_t bytes = 0;
};

template <std::size_t Rank>
void check_text(dice& d, const fr::team& t) {
  const auto [e, o] = any_layout<Rank>(d, t);
  std::vector<float> v(e.count());
  for (float& x : v) x = static_cast<float>(d.below(2000)) / 8 - 100;
  fr::sharded_array<float, Rank> u(t, e, o, 7777.f);
  fr::copy(std::span<const float>(v), u);
  const auto one = fr::host_array<float, Rank>::from(v, e);
  fr::print_options how;
  how.threshold = d.below(60), how.edge_items = d.below(4), how.line_width = d.between(20, 75);
  BOOST_TEST(fr::to_text(u, how) == fr::to_text(one, how), u.layout().text());
  BOOST_TEST(fr::to_text(2 * u + 1, how) == fr::to_text(2 * one + 1, how), u.layout().text());
}

}  // namespace
}  // namespace sharded_print

BOOST_AUTO_TEST_SUITE(sharded_print)

BOOST_AUTO_TEST_CASE(is_the_text_of_one_array) {
  for (std::size_t seed = 0; seed < seeds(100); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      fr::simulation sim(simulated_machine(seed, d.between(1, 5)) + ";check=races");
      const fr::team t = fr::team::all();
      check_text<1>(d, t), check_text<2>(d, t), check_text<3>(d, t);
    }
  }
}

BOOST_AUTO_TEST_CASE(all_kinds_of_elements) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 1> u(t, {4});
  u = fr::cast<float>(fr::index(0));
  BOOST_TEST(fr::to_text(u) == "[0. 1. 2. 3.]");
  BOOST_TEST(fr::to_text(fr::cast<int>(u * 10)) == "[ 0 10 20 30]");
  BOOST_TEST(fr::to_text(u > 1) == "[False False  True  True]");
  BOOST_TEST(fr::to_text(fr::cast<fr::half>(u / 4)) == "[0.   0.25 0.5  0.75]");
  BOOST_TEST(fr::to_text(fr::make_complex(u, -u)) == "[0.-0.j 1.-1.j 2.-2.j 3.-3.j]");
  fr::unified_sharded_array<float> shared(t, {2}, {.halo = 1}, 3.f);
  BOOST_TEST(fr::to_text(shared) == "[3. 3.]");
  BOOST_TEST(fr::to_text(fr::sharded_array<double, 2>(t, {0, 3})) == "[]");
  std::ostringstream text;
  text << fr::printed(u) << fr::printed(-u);
  BOOST_TEST(text.str() == "[0. 1. 2. 3.][-0. -1. -2. -3.]");
  const fr::replicated_array<float, 1> copies(t, {2}, 1.f);
  support::check_error<fr::invalid_argument>([&] { (void)fr::to_text(copies); },
                                             {"reads no sharded array", "copy_of(member)"});
}

BOOST_AUTO_TEST_CASE(only_what_is_shown_is_copied) {
  const contract::variable on("FERRY_PEER", "on");
  fr::simulation sim("devices=4");
  support::call_counts calls;
  auto owned = std::make_unique<measuring_backend>(sim.get().backend(), calls);
  measuring_backend* const copied = owned.get();
  const fr::runtime_scope scope(std::move(owned));
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {1000, 400}, {.axis = 0, .halo = 1}, 1.f);
  fr::sharded_array<float, 2> v(t, {1000, 400}, {.axis = 1}, 2.f);
  const std::size_t most = 2 * 36 * sizeof(float);  // cells with strides are packed, and copied
  copied->bytes = 0;
  const std::string text = fr::to_text(u);
  BOOST_TEST(copied->bytes <= most);
  copied->bytes = 0;
  BOOST_TEST(fr::to_text(v).size() == text.size());
  BOOST_TEST(copied->bytes <= most);
}

BOOST_AUTO_TEST_SUITE_END()
