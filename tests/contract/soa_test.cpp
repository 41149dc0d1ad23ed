// Structures of arrays: one allocation with aligned members, used whole or by member in kernels and on the CPU, and
// resized.
#include <ranges>

#include "contract/fixture.hpp"

using namespace contract;

// A device structure can be tested for being a range without an error: batches do so for out() arguments.
static_assert(!std::ranges::range<fr::device_soa<double, int>&> && std::ranges::range<fr::unified_soa<double, int>&>);

namespace contract_of_structures_of_arrays {
namespace {

enum field : std::size_t { position, velocity, id };

template <memory_kind K>
using particles = fr::basic_soa<K, double, float, int>;

struct set_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<double, float, int> p) const {
    p.get<position>(i) = 0.5 * static_cast<double>(i);
    p.data<velocity>()[i] = static_cast<float>(i);
    p.span<id>()[i] = static_cast<int>(i + p.size());
  }
};
struct move {  // velocities and numbers are only read
  double dt;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<double, const float, const int> p) const {
    p.get<position>(i) += dt * p.get<velocity>(i) + p.get<id>(i);
  }
};
struct add_ids {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::soa_span<const double, const float, const int> p) const {
    return p.get<id>(i);
  }
};
struct generic_total {
  template <class P, class Out>
  FERRY_HOST_DEVICE void operator()(std::size_t i, P p, Out sum) const {
    sum[i] = p.template get<0>(i) + p.template get<1>(i) + p.template get<2>(i);
  }
};
struct accelerate {  // each member as a separate pointer
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* number, float* v) const {
    v[i] += static_cast<float>(2 * number[i]);
  }
};
struct fill_member {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> m) const { m(i) = static_cast<int>(i); }
};

template <memory_kind K>
particles<K> some(std::size_t n) {
  particles<K> p(n);
  fr::parallel_for(n, set_all{}, fr::out(p));
  return p;
}
std::vector<double> positions(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 0.5 * static_cast<double>(i);
  return v;
}

}  // namespace
}  // namespace contract_of_structures_of_arrays

BOOST_FIXTURE_TEST_SUITE(contract_of_structures_of_arrays, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(members_lie_aligned_in_one_allocation, K, kinds) {
  const std::size_t before = fr::runtime::current().allocations();
  particles<K::value> p(1001);
  BOOST_TEST(fr::runtime::current().allocations() == before + 1);
  const auto s = p.unsynchronized_span();
  const auto at = [](const void* q) { return reinterpret_cast<std::uintptr_t>(q); };
  for (const std::uintptr_t address : {at(s.template data<0>()), at(s.template data<1>()), at(s.template data<2>())})
    BOOST_TEST(address % 256 == 0u);
  BOOST_TEST(at(s.template data<1>()) >= at(s.template data<0>() + 1001));
  BOOST_TEST(at(s.template data<2>()) >= at(s.template data<1>() + 1001));
  BOOST_TEST(p.template member<id>().size() == 1001u);
  BOOST_TEST(p.template member<id>().owner().unchecked() == p.owner().unchecked());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(whole_in_kernels, K, kinds) {
  constexpr std::size_t n = 1000;
  auto p = some<K::value>(n);
  CHECK_EQUAL(fr::to_vector(p.template member<position>()), positions(n));
  fr::parallel_for(n, move{2.0}, p);  // without in() and not const: read and written
  auto expected = positions(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] += 2.0 * static_cast<double>(i) + static_cast<double>(i + n);
  CHECK_EQUAL(fr::to_vector(p.template member<position>()), expected);
  CHECK_EQUAL(fr::to_vector(std::as_const(p).template member<id>()), counting<int>(n, static_cast<int>(n)));
  const std::int64_t sum = fr::parallel_reduce(n, add_ids{}, fr::plus{}, std::as_const(p));
  BOOST_TEST(sum == static_cast<std::int64_t>(n * n + n * (n - 1) / 2));
  fr::device_array<double> total({n});
  fr::parallel_for(n, generic_total{}, fr::in(p), fr::out(total));
  BOOST_TEST(fr::to_vector(total)[3] == expected[3] + 3 + 1003);
}

// Work on different members is not ordered: access records have ranges.
BOOST_AUTO_TEST_CASE_TEMPLATE(by_member_in_kernels, K, kinds) {
  constexpr std::size_t n = 777;
  auto p = some<K::value>(n);
  fr::parallel_for(n, accelerate{}, fr::in(p.template member<id>()), fr::inout(p.template member<velocity>()));
  const auto v = fr::to_vector(p.template member<velocity>());
  for (std::size_t i = 0; i < n; ++i) BOOST_REQUIRE(v[i] == static_cast<float>(i + 2 * (i + n)));
  fr::stream a, b;
  fr::parallel_for(a, n, fill_member{}, fr::out(p.template member<id>()));
  fr::fill(b, p.template member<velocity>(), 1.f);
  const auto& uses = p.owner().get().history.uses();
  BOOST_TEST(std::any_of(uses.begin(), uses.end(), [&](const auto& u) { return u.by == &a.timeline() && u.write; }));
  BOOST_TEST(std::any_of(uses.begin(), uses.end(), [&](const auto& u) { return u.by == &b.timeline() && u.write; }));
  CHECK_EQUAL(fr::to_vector(p.template member<id>()), counting<int>(n));
  CHECK_EQUAL(fr::to_vector(p.template member<velocity>()), std::vector<float>(n, 1.f));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(resized_and_copied, K, kinds) {
  auto p = some<K::value>(100);
  p.name("cloud");
  const auto* const block = p.owner().unchecked();
  p.resize(70);
  BOOST_TEST(p.capacity() == 100u);
  BOOST_TEST(p.owner().unchecked() == block);
  p.resize(300);
  BOOST_TEST((p.size() == 300u && p.capacity() == 300u));
  BOOST_TEST(p.name() == "cloud");
  auto expected = positions(100);
  expected.resize(70);
  CHECK_EQUAL(fr::to_vector(p.template member<position>().slice({0, 70})), expected);
  CHECK_EQUAL(fr::to_vector(p.template member<id>().slice({0, 70})), counting<int>(70, 100));
  p.resize(70);
  p.shrink_to_fit();
  BOOST_TEST(p.capacity() == 70u);
  const auto copied = p.clone();
  fr::fill(p.template member<position>(), -1.0);
  CHECK_EQUAL(fr::to_vector(copied.template member<position>()), expected);
  auto elsewhere = fr::to_kind<memory_kind::unified>(copied, fr::devices().back());
  CHECK_EQUAL(fr::to_vector(elsewhere.template member<position>()), expected);
  fr::copy(elsewhere, p);
  CHECK_EQUAL(fr::to_vector(p.template member<position>()), expected);
  p.resize(0);
  p.shrink_to_fit();
  BOOST_TEST((p.empty() && p.capacity() == 0u && !p.owner()));
  fr::parallel_for(p.size(), set_all{}, fr::out(p));  // nothing
  p.resize(5);
  fr::parallel_for(5, set_all{}, fr::out(p));
  CHECK_EQUAL(fr::to_vector(p.template member<position>()), positions(5));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(iterated_by_the_cpu, K, host_kinds) {
  constexpr std::size_t n = 321;
  auto p = some<K::value>(n);
  std::size_t at = 0;
  for (auto [x, v, number] : p) {
    BOOST_REQUIRE(x == 0.5 * static_cast<double>(at));
    v = static_cast<float>(x) + 1;
    number = static_cast<int>(n - at++);
  }
  BOOST_TEST(at == n);
  fr::parallel_for(n, move{1.0}, fr::inout(p));
  for (auto [x, v, number] : std::as_const(p)) {
    static_assert(std::is_same_v<decltype(v), const float&>);
    BOOST_REQUIRE(x == static_cast<double>(v) - 1 + static_cast<double>(v) + number);
  }
  p[7] = std::tuple(1.0, 2.f, 3);
  BOOST_TEST(std::get<id>(std::as_const(p)[7]) == 3);
  BOOST_TEST((p.end() - p.begin()) == static_cast<std::ptrdiff_t>(n));
  BOOST_TEST(std::get<velocity>(p.begin()[7]) == 2.f);
  auto raw = fr::host_span(p);
  raw.template get<id>(0) = 99;
  BOOST_TEST(fr::to_vector(p.template member<id>())[0] == 99);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(made_from_elements_of_the_cpu, K, kinds) {
  const std::vector<double> x{1, 2, 3};
  const std::vector<float> v{4, 5, 6};
  const std::vector<int> numbers{7, 8, 9}, two{1, 2};
  const auto p = particles<K::value>::from(x, v, numbers, fr::devices().back());
  BOOST_TEST((p.device() == fr::devices().back()));
  CHECK_EQUAL(fr::to_vector(p.template member<position>()), x);
  CHECK_EQUAL(fr::to_vector(p.template member<velocity>()), v);
  CHECK_EQUAL(fr::to_vector(p.template member<id>()), numbers);
  check_error<fr::invalid_argument>([&] { (void)particles<K::value>::from(x, v, two); },
                                    {"members of 3", "of 2 elements"});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(wrong_sizes_and_freed_structures, K, kinds) {
  check_error<fr::invalid_argument>([] { particles<K::value> p(std::size_t(1) << 61); }, {"structure of 3", "2^64"});
  check_error<fr::invalid_argument>([] { particles<K::value> p(~std::size_t{0}); }, {"structure of 3", "2^64"});
  auto p = some<K::value>(10);
  auto velocities = p.template member<velocity>();
  p.free();
  p.free();
  check_error<fr::use_after_free>([&] { fr::parallel_for(10, move{1}, p); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::parallel_for(10, set_all{}, fr::out(p)); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::fill(velocities, 1.f); }, {"free()"});
  check_error<fr::use_after_free>([&] { (void)p.clone(); }, {"free()"});
  check_error<fr::use_after_free>([&] { p.reserve(11); }, {"free()"});
  if constexpr (K::value != memory_kind::device) {
    check_error<fr::use_after_free>([&] { (void)p[0]; }, {"free()"});
    check_error<fr::use_after_free>([&] { (void)p.begin(); }, {"free()"});
    check_error<fr::use_after_free>([&] { (void)fr::host_span(std::as_const(p)); }, {"free()"});
  }
}

BOOST_AUTO_TEST_SUITE_END()
