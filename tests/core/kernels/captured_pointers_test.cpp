// Addresses hidden in functors, captures and values. The simulator searches for them.
#include <cstdint>
#include <cstring>
#include <ferry/core.hpp>
#include <ferry/core/memory_checks.hpp>
#include <memory>
#include <string>
#include <utility>

#include <boost/test/unit_test.hpp>

#include "support/failures.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;

namespace captured_pointers {
namespace {

// Types with padding are searched only if the compiler can clear the padding, as g++ can.
constexpr bool padding_is_cleared = FERRY_CLEARS_PADDING != 0;

struct add_captured {
  const int* raw;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += raw[i]; }
};
struct add_span {
  fr::mdspan<const int, 1> span;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += span(i); }
};
struct add_value {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p, const int* raw) const { p[i] += raw[i]; }
};
struct sum_captured {
  const int* raw;
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* p) const { return p[i] + raw[i]; }
};
struct add_number {
  int number;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += number; }
};
struct add_first_of {
  const int* raw;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += raw ? raw[0] : 0; }
};
struct add_letter {
  const char* text;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += text[0]; }
};
struct with_padding {
  double scale;
  bool negative;  // followed by seven padding bytes with stale contents
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const {
    p[i] += static_cast<int>(negative ? -scale : scale);
  }
};
struct with_numbers {
  std::size_t n;
  double scale;
  int rows, columns;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const {
    p[i] += static_cast<int>(n % 7) + static_cast<int>(scale) + (rows < columns ? 1 : 2);
  }
};
struct two_integers {
  int rows, columns;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] = rows < columns ? 1 : 2; }
};
struct add_value_unless_null {
  const int* raw;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += raw ? 1 : 0; }
};
struct members_of_an_object {
  int step = 3;
  int unused[7] = {};
  void advance(fr::device_array<int>& u) {
    fr::parallel_for(
        u.size(), [this] FERRY_HOST_DEVICE(std::size_t i, int* p) { p[i] += step; }, u);
  }
  void advance_a_copy(fr::device_array<int>& u) {
    fr::parallel_for(
        u.size(), [*this] FERRY_HOST_DEVICE(std::size_t i, int* p) { p[i] += step; }, u);
  }
};

bool has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos) return false;
  return true;
}

std::string seeded(std::size_t seed) { return "devices=2;schedule=random:" + std::to_string(seed); }

struct writes_both {
  double* p;
  FERRY_HOST_DEVICE void operator()(std::size_t i, double* q) const { p[i] = q[i] = static_cast<double>(i); }
};

}  // namespace
}  // namespace captured_pointers

BOOST_AUTO_TEST_SUITE(captured_pointers)

// These seeds cover blocks of adjacent arrays. A guard around one array must not refuse an open pointer to the other.
BOOST_AUTO_TEST_CASE(a_pointer_of_the_stream_reaches_the_array_beside) {
  for (const char* how : {"devices=1", "devices=1;check=on", "devices=1;schedule=random:4"}) BOOST_TEST_CONTEXT(how) {
      const fr::simulation sim(how);
      fr::stream s;
      fr::device_array<double> a({64}, 1.0), b({64}, 1.0);
      double* const p = fr::pointer(a, s);
      fr::parallel_for(s, 64, writes_both{p}, b);
      BOOST_TEST(fr::to_vector(b)[5] == 5);
      BOOST_TEST(fr::to_vector(a)[5] == 5);
    }
}

BOOST_AUTO_TEST_CASE(a_captured_pointer_is_refused_on_every_schedule) {
  for (std::size_t seed = 0; seed < support::seeds(50); ++seed) {
    const fr::simulation sim(seeded(seed));
    fr::device_array<int> u({100}, 0), v({100}, 0);
    u.name("u");
    fr::stream other(fr::devices()[1]);
    fr::parallel_for(100, add_number{1}, u);
    const std::string text = failure_of<fr::invalid_argument>(
        [&] { fr::parallel_for(other, 100, add_captured{u.unsynchronized_data()}, v); });
    BOOST_TEST(has(text, {"captured_pointers_test.cpp:", "add_captured", "device array 'u'", "device 0", "in(a)"}),
               text);
    BOOST_TEST(fr::to_vector(v) == std::vector<int>(100, 0));  // the kernel did not run
  }
}

BOOST_AUTO_TEST_CASE(every_place_for_a_pointer_is_looked_at) {
  const fr::simulation sim("devices=2");
  fr::device_array<int> u({100}, 0), v({100}, 0);
  u.name("u");
  const int* const raw = u.unsynchronized_data() + 3;
  const auto refused = [&](const auto& call) { return failure_of<fr::invalid_argument>(call); };
  BOOST_TEST(has(refused([&] { fr::parallel_for(90, add_captured{raw}, v); }), {"array 'u'", " 12 bytes behind"}));
  BOOST_TEST(has(refused([&] { fr::parallel_for(90, add_span{{raw, 90}}, v); }), {"array 'u'", "add_span"}));
  BOOST_TEST(has(refused([&] { fr::parallel_for(90, add_value{}, v, raw); }),
                 {"array 'u'", "argument 2", "of type const int"}));
  BOOST_TEST(has(refused([&] { (void)fr::parallel_reduce(90, sum_captured{raw}, fr::plus{}, fr::in(v)); }),
                 {"array 'u'", "sum_captured"}));
  BOOST_TEST(has(refused([&] {
                   fr::submit(
                       fr::default_stream(fr::devices()[0]), [raw](fr::native_stream, int*) { (void)raw; }, v);
                 }),
                 {"array 'u'", "captured_pointers_test.cpp:"}));
}

BOOST_AUTO_TEST_CASE(memory_of_every_origin_is_known) {
  std::vector<int> own(100, 1);
  for (const char* pools : {"split", "binned", "none", "driver"}) {
    const fr::simulation sim("devices=2", {.kind = fr::parse_pool_kind(pools)});
    fr::device_array<int> v({100}, 0);
    const auto text_for = [&](const auto& a) {
      return failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, add_captured{a.unsynchronized_data()}, v); });
    };
    const fr::device_array<int> device({100}, 0);
    const fr::unified_array<int> unified({100}, 0);
    const fr::host_array<int> host({100}, 0);
    BOOST_TEST(has(text_for(device), {"device array"}), pools);
    BOOST_TEST(has(text_for(unified), {"unified array"}), pools);
    BOOST_TEST(has(text_for(host), {"host array"}), pools);
    const fr::memory_checks_scope checked;
    fr::device_array<int> poisoned({100}, 0);
    poisoned.name("poisoned");
    BOOST_TEST(has(text_for(poisoned), {"device array 'poisoned'"}), pools);
  }
  const fr::simulation sim("devices=2");
  fr::device_array<int> v({100}, 0);
  auto pinned = fr::pin(own, {.name = "pinned"});
  BOOST_TEST(has(failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, add_captured{own.data()}, v); }),
                 {"host array 'pinned'"}));
  pinned.give_back();
  fr::pool apart(fr::devices()[0], {});
  const fr::pool_scope from(apart);
  const fr::device_array<int> pooled({100}, 0);
  BOOST_TEST(has(
      failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, add_captured{pooled.unsynchronized_data()}, v); }),
      {"device array"}));
}

// Such an address may be a number, or lie in an unused object: it is refused only with all checks on.
BOOST_AUTO_TEST_CASE(a_pointer_to_freed_memory_is_refused_under_all_checks) {
  const fr::simulation sim("devices=1;check=on");
  fr::device_array<int> u({100}, 0), v({100}, 0);
  const int* const raw = u.unsynchronized_data();
  u.free();
  const auto call = [&] { fr::parallel_for(100, add_value_unless_null{raw}, v); };
  BOOST_TEST(has(failure_of<fr::invalid_argument>(call), {"was freed"}));
  fr::runtime::current().checks.set(fr::check::uses, false);
  BOOST_TEST(failure_of<fr::error>(call) == "");
}

// submit() runs its functor on the CPU.
BOOST_AUTO_TEST_CASE(what_the_cpu_reaches_may_be_captured_by_a_submission) {
  const fr::simulation sim("devices=1");
  fr::stream s{fr::devices()[0]};
  fr::host_array<double> pinned({4}, 2.0);
  fr::unified_array<double> unified({4}, 3.0);
  const fr::device_array<int> device({4}, 0);
  fr::device_array<int> y({100}, 0);
  const double& alpha = pinned[1];
  double& beta = unified[2];
  double sum = 0;
  fr::submit(
      s, [&](fr::native_stream, int*) { sum = alpha + beta; }, y);
  BOOST_TEST(sum == 5.0);
  const int* const raw = device.unsynchronized_data();
  BOOST_TEST(!failure_of<fr::invalid_argument>([&] {
                fr::submit(
                    s, [raw](fr::native_stream, int*) { (void)raw; }, y);
              }).empty());
  BOOST_TEST(has(failure_of<fr::invalid_argument>([&] {
                   (void)fr::capture(s, [&] {
                     fr::submit(
                         s, [&beta](fr::native_stream, int*) { beta = 1; }, y);
                   });
                 }),
                 {"A graph orders work only", "unified array"}));
}

BOOST_AUTO_TEST_CASE(a_pointer_for_the_stream_of_the_call_is_valid_until_another_use) {
  for (std::size_t seed = 0; seed < support::seeds(10); ++seed) {
    const fr::simulation sim(seeded(seed));
    fr::device_array<int> u({100}, 1), v({100}, 0);
    fr::stream own(fr::devices()[0]), other(fr::devices()[0]);
    const int* const raw = fr::pointer(u, own);
    fr::parallel_for(own, 100, add_captured{raw}, v);
    fr::parallel_for(own, 100, add_value{}, v, raw);
    BOOST_TEST(!failure_of<fr::invalid_argument>([&] { fr::parallel_for(other, 100, add_captured{raw}, v); }).empty());
    BOOST_TEST(fr::to_vector(v) == std::vector<int>(100, 2));
    fr::parallel_for(other, 100, add_number{1}, u);  // closes the pointer
    BOOST_TEST(!failure_of<fr::invalid_argument>([&] { fr::parallel_for(own, 100, add_captured{raw}, v); }).empty());
    fr::parallel_for(own, 100, add_captured{fr::pointer(u, own)}, v);
    BOOST_TEST(fr::to_vector(v) == std::vector<int>(100, 4));
  }
}

BOOST_AUTO_TEST_CASE(graphs_hold_no_pointers) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 1), v({100}, 0);
  fr::stream own(fr::devices()[0]);
  const int* const raw = fr::pointer(u, own);
  const std::string text = failure_of<fr::invalid_argument>(
      [&] { (void)fr::capture(own, [&] { fr::parallel_for(own, 100, add_captured{raw}, v); }); });
  BOOST_TEST(has(text, {"A graph orders work only by the arrays", "device array"}), text);
}

BOOST_AUTO_TEST_CASE(memory_of_the_cpu_is_refused_with_the_remedy) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 0);
  members_of_an_object on_stack;
  const auto on_heap = std::make_unique<members_of_an_object>();
  static int of_program = 0;
  of_program = 3;  // touches the page
  for (const std::string& text :
       {failure_of<fr::invalid_argument>([&] { on_stack.advance(u); }),
        failure_of<fr::invalid_argument>([&] { on_heap->advance(u); }),
        failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, add_first_of{&on_stack.step}, u); }),
        failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, add_first_of{&of_program}, u); })})
    BOOST_TEST(has(text, {"memory of the CPU", "[*this]", "captured_pointers_test.cpp:"}), text);
  on_stack.advance_a_copy(u);
  fr::parallel_for(100, add_letter{"a text that nobody writes"}, u);
  fr::parallel_for(100, add_first_of{nullptr}, u);
  fr::submit(
      fr::default_stream(fr::devices()[0]), [&](fr::native_stream, int*) { ++of_program, ++on_stack.step; }, u);
  BOOST_TEST(fr::to_vector(u) == std::vector<int>(100, 3 + 'a'));
}

// A functor of the program with the template parameters of nvcc's wrapper of lambdas is searched as any functor.
template <bool, bool, bool, class, class, class...>
struct add_held {
  const int* raw;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += raw[i]; }
};
BOOST_AUTO_TEST_CASE(functors_are_not_taken_for_lambdas) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 0), v({100}, 1);
  const add_held<true, false, true, float, int, void> f{v.unsynchronized_data()};
  const std::string text = failure_of<fr::invalid_argument>([&] { fr::parallel_for(100, f, u); });
  BOOST_TEST(has(text, {"holds the address", "device array"}), text);
}

BOOST_AUTO_TEST_CASE(each_capture_of_a_lambda_is_searched) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 0), v({100}, 1);
  char small = 1, small_too = 1;
  const double number = 2;
  const int* const raw = v.unsynchronized_data();
  fr::parallel_for(
      100,
      [small, number, small_too] FERRY_HOST_DEVICE(std::size_t i, int* p) {
        p[i] += small + small_too + static_cast<int>(number);
      },
      u);
  const std::string text = failure_of<fr::invalid_argument>([&] {
    fr::parallel_for(
        100,
        [small, number, small_too, raw] FERRY_HOST_DEVICE(std::size_t i, int* p) {
          p[i] += raw[i] + small + small_too + static_cast<int>(number);
        },
        u);
  });
  BOOST_TEST(has(text, {"holds the address", "device array"}) == padding_is_cleared, text);
  BOOST_TEST(fr::to_vector(u) == std::vector<int>(100, padding_is_cleared ? 4 : 9));
}

BOOST_AUTO_TEST_CASE(devices_that_use_pageable_memory_may_have_its_addresses) {
  const fr::simulation sim("devices=1;pageable_access=on");
  fr::device_array<int> u({100}, 0);
  members_of_an_object it;
  it.advance(u);
  BOOST_TEST(fr::to_vector(u) == std::vector<int>(100, 3));
}

BOOST_AUTO_TEST_CASE(padding_and_numbers_are_no_addresses) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 0);
  int on_stack = 0;
  const int* const raw = u.unsynchronized_data();
  for (const void* junk : {static_cast<const void*>(&on_stack), static_cast<const void*>(raw)}) {
    alignas(with_padding) std::byte bytes[sizeof(with_padding)];
    for (std::size_t at = 0; at < sizeof bytes; at += sizeof junk) std::memcpy(bytes + at, &junk, sizeof junk);
    auto* const f = reinterpret_cast<with_padding*>(bytes);
    f->scale = 2, f->negative = false;
    fr::parallel_for(100, *f, u);
  }
  fr::parallel_for(100, with_numbers{std::size_t{1} << 40, 3.5, 10, 20}, u);
  fr::parallel_for(100, with_numbers{123456789, -1e-300, 4096, 3000}, u);
  BOOST_TEST(fr::to_vector(u).size() == 100u);
}

// Two adjacent integers may form the value of an address: of any CPU memory, or of an array.
BOOST_AUTO_TEST_CASE(two_integers_are_no_address) {
  const fr::simulation sim("devices=1");
  fr::device_array<int> u({100}, 0);
  const auto untouched = std::make_unique_for_overwrite<char[]>(std::size_t{64} << 20);
  const int on_stack = 0;
  const auto numbers = [](const void* p) {
    const auto word = reinterpret_cast<std::uintptr_t>(p);
    return std::pair{static_cast<int>(word), static_cast<int>(word >> 32)};
  };
  for (const void* p : {static_cast<const void*>(&untouched[std::size_t{32} << 20]),
                        static_cast<const void*>(&on_stack), static_cast<const void*>(u.unsynchronized_data())}) {
    const auto [low, high] = numbers(p);
    BOOST_TEST(failure_of<fr::error>([&, l = low, h = high] { fr::parallel_for(100, two_integers{l, h}, u); }) == "");
  }
  // In a functor with a pointer-aligned member, adjacent integers that point elsewhere are no address, either.
  const auto* const odd = reinterpret_cast<const char*>(&on_stack) + 1;
  for (const void* p : {static_cast<const void*>(&untouched[std::size_t{32} << 20]), static_cast<const void*>(odd)}) {
    const auto [low, high] = numbers(p);
    BOOST_TEST(failure_of<fr::error>([&, l = low, h = high] {
                 fr::parallel_for(100, with_numbers{1, 2.5, l, h}, u);
               }) == "");
  }
  const auto [low, high] = numbers(&on_stack);
  BOOST_TEST(has(failure_of<fr::invalid_argument>([&, l = low, h = high] {
                   fr::parallel_for(100, with_numbers{1, 2.5, l, h}, u);
                 }),
                 {"memory of the CPU", "no address", "FERRY_CHECK=off"}) == padding_is_cleared);
}

BOOST_AUTO_TEST_CASE(the_search_can_be_switched_off) {
  const fr::simulation sim("devices=1;check=off");
  fr::runtime::current().checks.set(fr::check::pointers, false);  // FERRY_CHECK=on may have enabled it
  fr::device_array<int> u({100}, 1), v({100}, 0);
  fr::parallel_for(100, add_captured{u.unsynchronized_data()}, v);
  fr::runtime::current().checks.set(fr::check::pointers, true);
  BOOST_TEST(!failure_of<fr::invalid_argument>([&] {
                fr::parallel_for(100, add_captured{u.unsynchronized_data()}, v);
              }).empty());
}

BOOST_AUTO_TEST_SUITE_END()
