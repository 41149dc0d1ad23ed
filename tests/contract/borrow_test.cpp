// External memory: borrowed, pinned and adopted, of every kind, ordered like any array.
#include <algorithm>
#include <memory>
#include <thread>

#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_foreign_memory {
namespace {

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += 1; }
};
struct set_to {
  int value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] = value; }
};

// Memory that belongs to no array of ferry.
template <memory_kind K>
class foreign_ints {
 public:
  explicit foreign_ints(std::size_t n, int device = 0) : bytes_(n * sizeof(int)), device_(device) {
    p_ = static_cast<int*>(fr::runtime::current().backend().allocate(K, device, bytes_));
  }
  ~foreign_ints() {
    if (p_) fr::runtime::current().backend().release(K, device_, p_, bytes_);
  }
  foreign_ints(const foreign_ints&) = delete;
  foreign_ints& operator=(const foreign_ints&) = delete;
  int* get() const { return p_; }
  int* give() { return std::exchange(p_, nullptr); }

 private:
  std::size_t bytes_;
  int device_;
  int* p_;
};

void release_ints(memory_kind k, int* p, std::size_t n) {
  fr::runtime::current().backend().release(k, 0, p, n * sizeof(int));
}

}  // namespace
}  // namespace contract_of_foreign_memory

BOOST_FIXTURE_TEST_SUITE(contract_of_foreign_memory, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(borrowed_memory_is_ordered_like_an_array, K, kinds) {
  constexpr std::size_t n = 5000;
  const foreign_ints<K::value> memory(n);
  fr::stream a, b;
  {
    auto v = fr::borrow<K::value>(memory.get(), n, {.stream = {}, .name = "lent"});
    BOOST_TEST(v.name() == "lent");
    fr::parallel_for(a, n, set_to{7}, fr::out(v));
    fr::parallel_for(b, n, add_one{}, v);
    fr::parallel_for(a, n / 2, add_one{}, v.slice({0, n / 2}));
    auto expected = std::vector<int>(n, 8);
    std::fill_n(expected.begin(), n / 2, 9);
    CHECK_EQUAL(fr::to_vector(v), expected);
    if constexpr (K::value != memory_kind::device) BOOST_TEST(v[0] == 9);
    fr::parallel_for(b, n, add_one{}, v);
  }  // waits
  std::vector<int> seen(n);
  fr::runtime::current().backend().copy(a.native(), seen.data(), memory.get(), n * sizeof(int));
  a.synchronize();
  BOOST_TEST(seen[0] == 10);
  BOOST_TEST(seen[n - 1] == 9);
}

// The stream's earlier work runs before work on the borrow. Work of the stream that gets the memory back runs after it.
BOOST_AUTO_TEST_CASE_TEMPLATE(borrowing_from_a_stream_and_back, K, kinds) {
  constexpr std::size_t n = 100000;
  const foreign_ints<K::value> memory(n);
  fr::stream theirs, ours;
  for (int round = 0; round < 5; ++round) {
    set_ints(theirs.native(), memory.get(), n, round);
    auto v = fr::borrow<K::value>(memory.get(), n, {.stream = theirs});
    fr::parallel_for(ours, n, add_one{}, v);
    v.give_back(theirs);
    fr::device_array<int> copied({n});
    {
      fr::runtime::current().backend().copy(theirs.native(), fr::pointer(copied, theirs), memory.get(),
                                            n * sizeof(int));
    }
    CHECK_EQUAL(fr::to_vector(copied), std::vector<int>(n, round + 1));
  }
  theirs.synchronize();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(views_of_an_ended_borrow_are_refused, K, kinds) {
  const foreign_ints<K::value> memory(100);
  auto v = fr::borrow<K::value>(memory.get(), 100);
  auto part = v.slice({10, 20});
  fr::stream s;
  fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 100, add_one{}, v); });
  v.give_back();
  v.give_back();  // the second call does nothing
  check_error<fr::use_after_free>([&] { fr::fill(part, 1); }, {"give_back()"});
  check_error<fr::use_after_free>([&] { fr::parallel_for(100, add_one{}, v); }, {"give_back()"});
  check_error<fr::use_after_free>([&] { g.launch(s); }, {"give_back()"});
  if constexpr (K::value != memory_kind::device) {
    check_error<fr::use_after_free>([&] { (void)part[0]; }, {"give_back()"});
    check_error<fr::use_after_free>([&] { (void)fr::host(v); }, {"give_back()"});
  }
  auto named = fr::borrow<K::value>(memory.get(), fr::extents<1>(100), {.name = "theirs"});
  auto view = named.slice({10, 20});
  { const auto moved = std::move(named); }
  check_error<fr::use_after_free>([&] { fr::fill(view, 1); },
                                  {"array 'theirs' of 10 ints", "ended with the object", "in borrow_test.cpp:"});
}

// Borrows of the same bytes share an access history, so work on one is ordered after work on the other.
BOOST_AUTO_TEST_CASE_TEMPLATE(borrows_that_overlap, K, kinds) {
  constexpr std::size_t n = 20000;
  const foreign_ints<K::value> memory(n);
  fr::stream a, b;
  auto whole = fr::borrow<K::value>(memory.get(), n);
  {
    auto half = fr::borrow<K::value>(memory.get() + n / 2, n / 2);
    fr::parallel_for(a, n, set_to{3}, fr::out(whole));
    fr::parallel_for(b, n / 2, add_one{}, half);
    fr::parallel_for(a, n, add_one{}, whole);
  }
  auto expected = std::vector<int>(n, 4);
  std::fill_n(expected.begin() + n / 2, n / 2, 5);
  CHECK_EQUAL(fr::to_vector(whole), expected);
  whole.give_back();
  auto left = fr::borrow<K::value>(memory.get(), 10), right = fr::borrow<K::value>(memory.get() + 20, 10);
  check_error<fr::invalid_argument>([&] { (void)fr::borrow<K::value>(memory.get() + 5, 20); },
                                    {"overlap several borrows", "the whole first"});
  const auto longer = fr::borrow<K::value>(memory.get() + 5, 10);
  BOOST_TEST(longer.owner().unchecked() == left.owner().unchecked());
}

BOOST_AUTO_TEST_CASE(memory_of_another_kind_is_refused) {
  std::vector<int> pageable(100);
  const foreign_ints<memory_kind::device> on_device(100);
  const foreign_ints<memory_kind::unified> managed(100);
  check_error<fr::invalid_argument>([&] { (void)fr::borrow(pageable.data(), 100); },
                                    {"400 bytes at", "not registered", "ferry::pin(span)", "array::from"});
  check_error<fr::invalid_argument>([&] { (void)fr::borrow<memory_kind::host>(pageable.data(), 100); }, {"ferry::pin"});
  check_error<fr::invalid_argument>([&] { (void)fr::adopt(pageable.data(), 100, [](int*) {}); }, {"not registered"});
  check_error<fr::invalid_argument>([&] { (void)fr::borrow<memory_kind::unified>(on_device.get(), 100); },
                                    {"this is device memory", "unified", "borrow<ferry::memory_kind::device>"});
  check_error<fr::invalid_argument>([&] { (void)fr::borrow(managed.get(), 100); },
                                    {"this is unified memory", "borrow<ferry::memory_kind::unified>"});
  check_error<fr::invalid_argument>([&] { (void)fr::adopt(managed.get(), 100, [](int*) { BOOST_ERROR("called"); }); },
                                    {"this is unified memory", "adopt<ferry::memory_kind::unified>"});
  check_error<fr::invalid_argument>([&] { (void)fr::pin(std::span(on_device.get(), 100)); },
                                    {"pin of 400 bytes", "device memory", "ferry::borrow<ferry::memory_kind::device>"});
  check_error<fr::invalid_argument>([&] { (void)fr::borrow(static_cast<int*>(nullptr), 100); },
                                    {"null pointer", "100"});
  check_error<fr::invalid_argument>([&] { (void)fr::borrow(on_device.get(), ~std::size_t{0}); }, {"2^64"});
  check_error<fr::invalid_argument>([&] { (void)fr::adopt(on_device.get(), 0, [](int*) {}); }, {"no elements"});
  const auto nothing = fr::borrow(static_cast<int*>(nullptr), 0);
  BOOST_TEST(nothing.empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(adopted_memory_is_given_to_its_deleter, K, kinds) {
  constexpr std::size_t n = 50000;
  int deleted = 0;
  int* const p = foreign_ints<K::value>(n).give();
  const auto delete_it = [&](int* q) {
    BOOST_TEST(q == p);
    release_ints(K::value, q, n);  // the simulator throws on a second release
    ++deleted;
  };
  fr::stream s;
  {
    auto a = fr::adopt<K::value>(p, fr::extents<1>(n), delete_it, {.stream = s, .name = "mine now"});
    static_assert(std::is_same_v<decltype(a), fr::basic_array<int, 1, K::value>>);
    BOOST_TEST(a.name() == "mine now");
    fr::parallel_for(s, n, set_to{5}, fr::out(a));
    auto view = a.slice({1, 3});
    auto moved = std::move(a);
    BOOST_TEST(fr::to_vector(view)[0] == 5);
    fr::parallel_for(s, n, add_one{}, moved);
    check_error<fr::invalid_argument>([&] { (void)fr::adopt<K::value>(p, n, delete_it); },
                                      {"adopted already", "end that first"});
    check_error<fr::invalid_argument>([&] { (void)fr::borrow<K::value>(p, n); }, {"use that array"});
  }
  s.synchronize();  // all pending work is complete
  BOOST_TEST(deleted == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_deleter_may_want_a_stream, K, kinds) {
  constexpr std::size_t n = 50000;
  int called = 0;
  fr::stream s, other;
  std::vector<int> last(n);
  const foreign_ints<K::value> memory(n);
  {
    auto a = fr::adopt<K::value>(memory.get(), n, [&](int* q, fr::stream_ref after) {
      fr::runtime::current().backend().copy(after.native(), last.data(), q, n * sizeof(int));
      after.synchronize();
      ++called;
    });
    fr::parallel_for(s, n, set_to{1}, fr::out(a));
    fr::parallel_for(other, n, add_one{}, a);
    a.free();
    BOOST_TEST(called == 1);
  }
  BOOST_TEST(called == 1);
  CHECK_EQUAL(last, std::vector<int>(n, 2));
}

// Freeing while work is pending does not wait. The deleter runs later, and never before the work is complete.
BOOST_AUTO_TEST_CASE(deleters_run_late_rather_than_early) {
  constexpr std::size_t n = 1000;
  for (int seed = 0; seed < 40; ++seed) {
    const fr::simulation runtime("devices=2;schedule=random:" + std::to_string(seed));
    fr::stream s(fr::device(1));
    bool deleted = false;
    int* const p = foreign_ints<memory_kind::device>(n).give();
    auto done = std::make_shared<bool>(false);
    {
      auto a = fr::adopt(p, n, [&, done](int* q) {
        BOOST_TEST(*done);
        release_ints(memory_kind::device, q, n);
        deleted = true;
      });
      fr::submit(
          s,
          [done](fr::native_stream to, int*) {
            fr::runtime::current().backend().run_on_host(to, [done] { *done = true; });
          },
          a);
    }
    s.synchronize();
    BOOST_TEST(deleted);
  }
}

BOOST_AUTO_TEST_CASE(a_deleter_that_throws_is_reported_and_forgotten) {
  const foreign_ints<memory_kind::device> memory(10);
  {
    auto a = fr::adopt(memory.get(), 10, [](int*) { throw std::runtime_error("no"); });
  }
  auto again = fr::borrow(memory.get(), 10);
  BOOST_TEST(again.size() == 10u);
}

BOOST_AUTO_TEST_CASE(pinned_memory_is_copied_without_waiting) {
  constexpr std::size_t n = 100000;
  std::vector<int> v(n, 1);
  fr::device_array<int> a({n});
  {
    auto p = fr::pin(v);
    static_assert(std::is_base_of_v<fr::array_view<int, 1, memory_kind::host>, decltype(p)>);
    BOOST_TEST(p.unsynchronized_data() == v.data());
    fr::copy(p, a);
    fr::parallel_for(n, add_one{}, a);
    fr::copy(a, p);
    BOOST_TEST(p[n - 1] == 2);  // an access check
    p[0] = 10;
    fr::parallel_for(n, add_one{}, p);  // devices can access it
  }
  BOOST_TEST(v[0] == 11);
  BOOST_TEST(v[n - 1] == 3);
  const std::vector<int> constant(n, 4);
  {
    auto p = fr::pin(constant);
    static_assert(std::is_same_v<decltype(p)::element_type, const int>);
    fr::copy(p, a);
  }
  CHECK_EQUAL(fr::to_vector(a), constant);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(lent_memory_is_walked_over_like_an_array, K, host_kinds) {
  constexpr std::size_t n = 3000;
  const foreign_ints<K::value> memory(n);
  auto v = fr::borrow<K::value>(memory.get(), n);
  fr::parallel_for(n, set_to{2}, fr::out(v));
  for (int& x : v) ++x;
  BOOST_TEST(std::count(v.begin(), v.end(), 3) == std::ptrdiff_t{n});
  std::vector<int> own(n);
  std::iota(own.rbegin(), own.rend(), 0);
  auto p = fr::pin(own);
  fr::parallel_for(n, add_one{}, p);
  std::sort(p.begin(), p.end());
  fr::parallel_for(n, add_one{}, p);
  int expected = 1;
  for (const int x : std::as_const(p)) BOOST_REQUIRE(x == ++expected);
  p.give_back();
  BOOST_TEST(own[n - 1] == int{n} + 1);
}

BOOST_AUTO_TEST_CASE(pins_that_overlap_or_touch) {
  auto& backend = fr::runtime::current().backend();
  std::vector<int> v(1 << 16, 1);
  const auto is_pinned = [&](std::size_t i) { return backend.attributes(&v[i]).is_known; };
  fr::device_array<int> a({v.size()});
  {
    auto left = fr::pin(std::span(v).subspan(0, 20000)), right = fr::pin(std::span(v).subspan(20000, 20000));
    auto again = fr::pin(std::span(v).subspan(1000, 10));
    BOOST_TEST((is_pinned(0) && is_pinned(19999) && is_pinned(39999) && !is_pinned(v.size() - 1)));
    fr::stream s, t;
    fr::parallel_for(s, 20000, set_to{5}, fr::out(left));
    fr::parallel_for(t, 10, add_one{}, again);  // the same bytes through another pin
    fr::copy(left, a.slice({0, 20000}));
    fr::copy(right, a.slice({20000, 40000}));
    BOOST_TEST(fr::to_vector(a)[1005] == 6);
    BOOST_TEST(fr::to_vector(a)[39999] == 1);
    left.give_back();
    BOOST_TEST((is_pinned(1000) && is_pinned(1009) && is_pinned(20000)));
    again.give_back();
    BOOST_TEST((!is_pinned(0) && !is_pinned(1000) && is_pinned(20000)));
  }
  BOOST_TEST((!is_pinned(20000) && !is_pinned(39999)));
  BOOST_TEST(v[1005] == 6);
  auto whole = fr::pin(v);
  BOOST_TEST((is_pinned(0) && is_pinned(v.size() - 1)));
}

BOOST_AUTO_TEST_CASE(memory_that_is_pinned_already_may_be_pinned) {
  const foreign_ints<memory_kind::host> memory(1000);
  auto p = fr::pin(std::span(memory.get(), 1000));
  fr::fill(p, 3);
  BOOST_TEST(p[999] == 3);
}

BOOST_AUTO_TEST_CASE(borrows_in_wrong_places) {
  const foreign_ints<memory_kind::device> memory(10);
  std::vector<int> v(10);
  fr::device_array<int> a({10}, 0);
  fr::stream s;
  check_error<fr::invalid_argument>([&] { (void)fr::capture(s, [&] { (void)fr::borrow(memory.get(), 10); }); },
                                    {"borrow inside a capture"});
  check_error<fr::invalid_argument>([&] { (void)fr::capture(s, [&] { (void)fr::pin(v); }); }, {"pin inside a capture"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::submit(
            s, [&](fr::native_stream, int*) { (void)fr::borrow(memory.get(), 10); }, a);
      },
      {"borrow", "inside a submission"});
}

BOOST_AUTO_TEST_SUITE_END()
