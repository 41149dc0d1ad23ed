// Programs for the tile kernel: their slots hold what each step reads. Needs no device.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "cuda/jit/tile_program.hpp"
#include "random_evaluation.hpp"
#include "support/seeds.hpp"

namespace cuda_logic_tiles {
namespace {

using namespace ferry::detail;

// What is in a slot: an operand, or the value of an instruction.
using content = std::pair<bool, std::size_t>;
content content_of(const evaluation& e, std::size_t value) {
  if (e.code[value].what == operation::load) return {true, e.code[value].a};
  return {false, value};
}

// Follows the contents of all slots. Returns the number of steps that were checked.
std::size_t check_slots(const evaluation& e, const cuda::tile_program& p, std::size_t seed) {
  std::map<std::size_t, content> slots;
  const auto is = [&](std::size_t slot, std::size_t value) {
    const auto at = slots.find(slot);
    return at != slots.end() && at->second == content_of(e, value);
  };
  const std::size_t bytes = p.shared_bytes() / p.slots;
  const auto is_slot = [&](std::size_t offset) { return offset % bytes == 0 && offset < p.shared_bytes(); };
  for (std::size_t k = 0; k != p.operands; ++k) slots[p.access[k].slot] = {true, k};
  std::size_t constants = 0, steps = 0;
  for (std::size_t k = 0; k != e.code.size(); ++k)
    if (e.code[k].what == operation::constant) slots[p.constant_slot[constants++]] = {false, k};
  BOOST_TEST(constants == p.constants);
  BOOST_TEST(slots.size() == std::size_t{p.operands} + p.constants, "seed " << seed);
  for (std::size_t k = 0; k != e.code.size(); ++k) {
    const instruction& i = e.code[k];
    if (!is_listed(i.what)) continue;
    BOOST_TEST_REQUIRE(steps < p.steps);
    const cuda::tile_step& s = p.step[steps++];
    const int operands = info_of(i.what).operands;
    BOOST_TEST(s.what == static_cast<std::uint16_t>(i.what));
    BOOST_TEST(is(s.a, i.a), "seed " << seed << ", value " << k);
    if (operands > 1) BOOST_TEST(is(s.b, i.b), "seed " << seed << ", value " << k);
    if (operands > 2) BOOST_TEST(is(s.c, i.c), "seed " << seed << ", value " << k);
    BOOST_TEST((is_slot(s.to) && is_slot(s.a) && is_slot(s.b) && is_slot(s.c)));
    slots[s.to] = {false, k};
  }
  BOOST_TEST(steps == p.steps);
  for (std::size_t k = 0; k != e.outputs.size(); ++k) {
    const cuda::tile_access& to = p.access[p.operands + k];
    BOOST_TEST(is(to.slot, e.outputs[k].value), "seed " << seed << ", output " << k);
    if (e.outputs[k].mask == evaluation_output::no_mask)
      BOOST_TEST(to.mask == cuda::tile_program::no_mask);
    else
      BOOST_TEST(is(to.mask, e.outputs[k].mask), "seed " << seed << ", mask of output " << k);
  }
  return steps;
}

// Each position, divided by the factors, has the digits of its indices.
void check_digits(const cuda::tile_program& p) {
  for (const std::uint32_t position : {std::uint32_t{0}, p.positions / 3, p.positions - 1, p.positions + 511}) {
    std::uint32_t left = position, expected = position;
    for (unsigned d = 0; d + 1u < p.rank; ++d) {
      left = static_cast<std::uint32_t>(std::uint64_t{left} * p.factor[d] >> p.shift[d]);
      expected /= p.digits[d];
      BOOST_TEST(left == expected);
    }
  }
}

struct floats {
  std::byte* memory = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30);
  std::vector<instruction> code;
  std::vector<evaluation_operand> operands;
  std::vector<evaluation_output> outputs;
  evaluation e;

  // y = a + b of floats, with strides along two axes.
  floats(std::array<std::size_t, 2> extent, std::array<std::ptrdiff_t, 2> a, std::array<std::ptrdiff_t, 2> b) {
    constexpr auto type = scalar_type::float32;
    code = {{operation::load, type, type, 0}, {operation::load, type, type, 1}, {operation::add, type, type, 0, 1}};
    operands = {{memory, {a[0], a[1]}, type}, {memory, {b[0], b[1]}, type}};
    outputs = {{{memory, {4, static_cast<std::ptrdiff_t>(extent[0]) * 4}, type}, 2}};
    e.rank = 2;
    e.extent[0] = extent[0], e.extent[1] = extent[1];
    e.code = code, e.operands = operands, e.outputs = outputs;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_logic_tiles)

BOOST_AUTO_TEST_CASE(slots_hold_what_steps_read) {
  std::size_t programs = 0, steps = 0, transposed = 0;
  for (std::size_t seed = 0; seed != support::seeds(2000); ++seed) {
    random_evaluations::random_evaluation r(seed, false);
    const evaluation e = r.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30));
    cuda::tile_program p;
    if (!p.assign(e)) continue;
    ++programs;
    steps += check_slots(e, p, seed);
    for (std::size_t k = 0; k != e.operands.size(); ++k)
      transposed += p.access[k].kind == cuda::tile_access_kind::transposed;
    check_digits(p);
    BOOST_TEST(p.threads() >= 32u);
    BOOST_TEST(p.shared_bytes() <= std::size_t{48} << 10);
  }
  BOOST_TEST(programs > 0u);
  BOOST_TEST(steps > programs);
  BOOST_TEST(transposed > 0u);
}

BOOST_AUTO_TEST_CASE(accesses_are_classified) {
  using kind = cuda::tile_access_kind;
  const auto kinds = [](const floats& f) {
    cuda::tile_program p;
    BOOST_TEST_REQUIRE(p.assign(f.e));
    return std::vector<kind>{p.access[0].kind, p.access[1].kind, p.access[2].kind};
  };
  BOOST_TEST((kinds({{64, 40}, {4, 256}, {0, 4}}) == std::vector{kind::chunks, kind::one, kind::chunks}));
  BOOST_TEST((kinds({{64, 40}, {4, 0}, {160, 4}}) == std::vector{kind::chunks, kind::transposed, kind::chunks}));
  BOOST_TEST((kinds({{63, 40}, {4, 252}, {8, 0}}) == std::vector{kind::elements, kind::elements, kind::elements}));
  // Too small for tiles.
  BOOST_TEST((kinds({{8, 40}, {4, 32}, {160, 4}}) == std::vector{kind::chunks, kind::elements, kind::chunks}));
}

BOOST_AUTO_TEST_CASE(tiles_cover_all_elements) {
  const floats f({100, 70}, {4, 400}, {280, 4});
  cuda::tile_program p;
  BOOST_TEST_REQUIRE(p.assign(f.e));
  BOOST_TEST(p.tile_axis == 1u);
  BOOST_TEST(p.digits[0] == 2u);  // of 64 floats
  BOOST_TEST(p.digits[1] == 3u);  // of 32 rows
  BOOST_TEST(p.blocks() == 6u);
}

BOOST_AUTO_TEST_CASE(other_programs_are_refused) {
  cuda::tile_program p;
  floats f({64, 40}, {4, 256}, {4, 256});
  BOOST_TEST(p.assign(f.e));
  f.operands[0].stride_bytes[1] = std::ptrdiff_t{1} << 31;
  BOOST_TEST(!p.assign(f.e));
  f.operands[0].stride_bytes[1] = 256;
  f.code[0].type = f.code[0].from = f.operands[0].type = scalar_type::float64;
  BOOST_TEST(!p.assign(f.e));
  f.code[0].type = f.code[0].from = f.operands[0].type = scalar_type::float32;
  f.e.extent[1] = std::size_t{1} << 26;
  BOOST_TEST(!p.assign(f.e));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_logic_tiles
