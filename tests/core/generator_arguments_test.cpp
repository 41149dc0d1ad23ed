// Arguments of generated kernels, and the kernels that were used last. Needs no device.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "generator/kernel_arguments.hpp"
#include "generator/recent_kernels.hpp"
#include "generator_fixture.hpp"

BOOST_AUTO_TEST_SUITE(generator_texts)

BOOST_AUTO_TEST_CASE(arguments_are_as_the_structure_declares_them) {
  sum_of_two s(512, 256, {1, 600}, {0, 1});
  const kernel_plan plan(s.view());
  // p0, s0_1, p1, s1_1, q0, t0_1, n0, n1, positions, m0, h0; padded to 16 bytes.
  BOOST_TEST_REQUIRE(generator::argument_bytes(s.view(), plan) == std::size_t{96});
  alignas(16) std::byte bytes[96];
  generator::write_arguments(s.view(), plan, bytes);
  std::uint64_t words[11];
  std::memcpy(words, bytes, sizeof words);
  const std::uint64_t expected[] = {1 << 20, 2400, 2 << 20, 4, 3 << 20, 2048, 512, 256, 128 * 256};
  for (std::size_t k = 0; k != std::size(expected); ++k) BOOST_TEST(words[k] == expected[k], "word " << k);
  BOOST_TEST((std::uint64_t{1000} * words[9] >> words[10]) == 1000u / 128);
}

BOOST_AUTO_TEST_CASE(constants_are_the_first_arguments) {
  sum_of_two s(64, 1, {1, 0}, {1, 0});
  program_constant constants[2] = {};
  constants[0].bytes[0] = std::byte{17}, constants[1].bytes[15] = std::byte{18};
  evaluation e = s.view();
  e.constants = constants;
  const kernel_plan plan(e);
  // c0, c1, p0, p1, q0, n0, positions; padded to 16 bytes.
  BOOST_TEST_REQUIRE(generator::argument_bytes(e, plan) == std::size_t{80});
  alignas(16) std::byte bytes[80];
  generator::write_arguments(e, plan, bytes);
  BOOST_TEST((bytes[0] == std::byte{17} && bytes[31] == std::byte{18}));
  std::uint64_t words[5];
  std::memcpy(words, bytes + 32, sizeof words);
  const std::uint64_t expected[] = {1 << 20, 2 << 20, 3 << 20, 64, 16};
  for (std::size_t k = 0; k != std::size(expected); ++k) BOOST_TEST(words[k] == expected[k], "word " << k);
}

BOOST_AUTO_TEST_CASE(dividers_divide_all_narrow_numbers) {
  for (const std::size_t by : {1u, 2u, 3u, 7u, 128u, 641u, 65537u, 2147483646u, 2147483647u}) {
    const generator::divider d = generator::divider_for(by);
    for (const std::uint64_t n :
         {0ull, 1ull, by - 1ull, by + 0ull, by + 1ull, 2 * by - 1ull, 2147483646ull, 2147483647ull})
      if (n < 1ull << 31) BOOST_TEST((n * d.multiplier >> d.shift) == n / by, n << " / " << by);
  }
}

BOOST_AUTO_TEST_CASE(recent_kernels_are_of_equal_evaluations) {
  generator::recent_kernels recent;
  int function = 0;
  const program_constant constant{};
  const auto fresh = [&] {
    sum_of_two s(512, 256, {1, 512}, {1, 0});
    s.e.constants = {&constant, 1};
    return s;
  };
  sum_of_two first = fresh();
  const evaluation e = first.view();
  BOOST_TEST(!recent.find(1, 0, e));
  recent.put(1, 0, e, kernel_plan(e), &function);
  sum_of_two moved = fresh();
  moved.operands[0].data += 4096, moved.outputs[0].to.data += 256;
  const auto* const found = recent.find(1, 0, moved.view());
  BOOST_TEST_REQUIRE(found);
  BOOST_TEST((found->function == &function && found->plan.shape() == kernel_plan(moved.view()).shape()));
  BOOST_TEST((!recent.find(2, 0, e) && !recent.find(1, 1, e)));
  const auto differs = [&](auto change) {
    sum_of_two s = fresh();
    change(s);
    return recent.find(1, 0, s.view()) == nullptr;
  };
  BOOST_TEST(differs([](sum_of_two& s) { s.e.fast_math = true; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.rank = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.extent[0] = 508; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.extent[1] = 255; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.e.constants = {}; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.code[2].what = operation::multiply; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.code[2].a = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].data += 4; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].type = scalar_type::int32; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[0].stride_bytes[0] = 8; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.operands[1].stride_bytes[1] = 4; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].to.data += 8; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].to.stride_bytes[1] = 4096; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].value = 1; }));
  BOOST_TEST(differs([](sum_of_two& s) { s.outputs[0].mask = 1; }));
  BOOST_TEST(!differs([](sum_of_two&) {}));
  sum_of_two large = fresh();
  for (int k = 0; k != 30; ++k)
    large.code.push_back({operation::negate, scalar_type::float32, scalar_type::float32, 2});
  recent.put(1, 0, large.view(), kernel_plan(large.view()), &function);
  BOOST_TEST(!recent.find(1, 0, large.view()));
}

BOOST_AUTO_TEST_SUITE_END()
