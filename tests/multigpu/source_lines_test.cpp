// Work on the program's arrays is never attributed to lines of ferry's own headers.
#include <filesystem>
#include <sstream>

#include <ferry/multigpu/sharded_npy.hpp>

#include "multigpu/shards.hpp"
#include "named_lines.hpp"

using namespace shards;

namespace lines_of_the_program {
namespace {

template <fr::memory_kind K>
void use_arrays() {
  const fr::device last = fr::devices().back();
  auto a = fr::basic_array<float, 2, K>::from(std::vector<float>(12, 1), fr::extents<2>(3, 4), last);
  a.name("a");
  std::ostringstream() << a;
  std::vector<float> column(3);
  fr::copy(a.slice({fr::all_of, {1, 2}}), column);
  auto b = a.clone();
  b.resize({5, 5});
  (void)fr::to_host(b.transpose());
  (void)fr::to_unified(b);
  const std::string file = "source_lines.npy";
  fr::save_npy(file, a);
  fr::save_npy(file, a.transpose());
  fr::save_npy(file, std::vector<float>(12), fr::extents<2>(3, 4), fr::storage_order::column_major);
  (void)fr::load_npy<float, 2, K>(file, last);
  std::filesystem::remove(file);
  fr::basic_soa<K, float, int> s(4), other(4);
  fr::copy(s, other);
  s.resize(9);
  (void)s.clone();
  if constexpr (K != fr::memory_kind::device) {
    (void)fr::host_span(s);
    (void)fr::const_host_span(s);
    (void)fr::host_span(a);
    (void)fr::host(a);
  }
}

template <fr::memory_kind K>
void use_sharded_arrays() {
  const fr::team t = fr::team::all();
  fr::shard_options o{1};
  o.halo = 1;
  fr::sharded_array<float, 2, K> a(t, {8, 9}, o, 1.f), b(t, {8, 9});
  fr::exchange_halos(a);
  fr::reshard(a, b);
  (void)fr::reshard(b, t, o);
  fr::copy(std::span<const float>(fr::to_vector(a)), b);
  fr::basic_array<float, 2, K> whole({8, 9});
  fr::copy(a, whole);
  fr::copy(whole, b);
  const std::string file = "source_lines.npy";
  fr::save_npy(file, a);
  (void)fr::load_npy<float, 2, K>(file, t, {});
  std::filesystem::remove(file);
  fr::replicated_array<float, 1, K> r(t, {9});
  fr::copy(std::span<const float>(std::vector<float>(9, 1)), r);
}

}  // namespace
}  // namespace lines_of_the_program

BOOST_AUTO_TEST_SUITE(lines_of_the_program)

BOOST_AUTO_TEST_CASE(are_no_lines_of_ferry) {
  using enum fr::memory_kind;
  const support::named_lines lines;
  const fr::simulation sim("devices=3");
  use_arrays<device>(), use_arrays<unified>(), use_arrays<host>();
  use_sharded_arrays<device>(), use_sharded_arrays<unified>();
  fr::scalar<int> n;
  fr::submit(
      fr::default_stream(fr::device(0)), [](fr::native_stream, const int*) {}, fr::in(n));
  BOOST_TEST(n.is_ready());
  (void)n.value();
  (void)int(n);
  lines.check(100);
}

BOOST_AUTO_TEST_SUITE_END()
