// Generated kernels compile by NVRTC: every operation on every type, and random programs. Needs no device.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "cuda/jit/interpreter_program.hpp"
#include "cuda/jit/nvrtc_compiler.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/kernel_text.hpp"
#include "generator/reduction_kernel.hpp"
#include "random_reduction.hpp"
#include "support/seeds.hpp"

namespace cuda_logic_generator {
namespace {

using namespace ferry::detail;
constexpr jit::architecture target{9, 0};

// Without NVRTC the error ends the test: machines that build for CUDA have it.
std::string compiled(const evaluation& e) {
  const generator::kernel_plan plan(e);
  const jit::kernel_source source = generator::kernel_source_for(e, plan);
  cuda::nvrtc_compiler nvrtc;
  try {
    return nvrtc.compile(source, target);
  } catch (const jit::compile_error& error) {
    BOOST_ERROR(error.what() << "\n" << source.text);
    return {};
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_logic_generator)

BOOST_AUTO_TEST_CASE(every_operation_on_every_type_compiles) {
  for (int t = 1; t != scalar_types; ++t) {
    const auto type = static_cast<scalar_type>(t);
    if (computed_as(type) != type) continue;
    std::vector<instruction> code{{operation::load, type, type, 0},
                                  {operation::load, type, type, 1},
                                  {operation::load, type, type, 2},
                                  {operation::load, scalar_type::boolean, scalar_type::boolean, 3}};
    const auto add = [&](const instruction& i) { code.push_back(i); };
    for (int o = 0; o != listed_operations; ++o) {
      const auto what = static_cast<operation>(o);
      if (!is_defined(what, type)) continue;
      if (what == operation::select)
        add({what, type, type, 3, 0, 1});
      else
        add({what, result_type(what, type), type, 0, 1, 2});
    }
    for (int to = 1; to != scalar_types; ++to) {
      const auto result = static_cast<scalar_type>(to);
      if (computed_as(result) != result || result == type || (is_complex(type) && !is_complex(result))) continue;
      add({operation::cast, result, type, 0});
    }
    if (type == scalar_type::float32 || type == scalar_type::float64) {
      add({operation::round_to_half, scalar_type::float32, type, 0});
      add({operation::round_to_bfloat16, scalar_type::float32, type, 0});
    }
    std::vector<evaluation_operand> operands;
    const auto array = [&](std::size_t n, scalar_type of) {
      return evaluation_operand{reinterpret_cast<std::byte*>(n << 20), {std::ptrdiff_t(size_of(of))}, of};
    };
    for (std::size_t k = 1; k != 4; ++k) operands.push_back(array(k, type));
    operands.push_back(array(4, scalar_type::boolean));
    std::vector<evaluation_output> outputs;
    for (std::size_t k = 4; k != code.size(); ++k)
      outputs.push_back({array(k + 1, code[k].type), static_cast<std::uint8_t>(k)});
    evaluation e;
    e.rank = 1;
    e.extent[0] = 4096;
    e.code = code, e.operands = operands, e.outputs = outputs;
    BOOST_TEST(!compiled(e).empty(), "operations on " << name_of(type));
  }
}

BOOST_AUTO_TEST_CASE(random_programs_compile) {
  std::set<std::string> seen;
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    random_evaluations::random_evaluation r(seed, false);
    evaluation e = r.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30));
    const generator::kernel_plan plan(e);
    if (!seen.insert(std::string(plan.shape())).second) continue;
    BOOST_TEST(generator::argument_bytes(e, plan) <= generator::most_argument_bytes);
    BOOST_TEST_REQUIRE(!compiled(e).empty(), "seed " << seed);
  }
  BOOST_TEST(seen.size() > 0u);
}

BOOST_AUTO_TEST_CASE(random_reductions_compile) {
  cuda::nvrtc_compiler nvrtc;
  std::size_t compiled_ones = 0;
  for (std::size_t seed = 0; seed != support::seeds(30); ++seed) {
    random_evaluations::random_reduction random(seed);
    if (random.is_empty()) continue;
    const reduction_evaluation r = random.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30),
                                             reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40));
    const jit::kernel_source source = generator::reduction_kernel(r).source();
    try {
      compiled_ones += !nvrtc.compile(source, target).empty();
    } catch (const jit::compile_error& error) {
      BOOST_ERROR("seed " << seed << ": " << error.what() << "\n" << source.text);
      return;
    }
  }
  BOOST_TEST(compiled_ones > 0u);
}

// The interpreter kernel makes constants once a block.
BOOST_AUTO_TEST_CASE(the_interpreter_never_writes_to_the_slot_of_a_constant) {
  std::size_t constants = 0, fitting = 0;
  for (std::size_t seed = 0; seed != support::seeds(200); ++seed) {
    random_evaluations::random_evaluation r(seed, false);
    const evaluation e = r.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30));
    const cuda::interpreter_program program(e);
    const cuda::interpreter_header& h = program.header();
    BOOST_TEST_REQUIRE(h.steps == e.code.size() + e.outputs.size());
    const auto* const steps = reinterpret_cast<const cuda::interpreter_step*>(
        program.data() + sizeof h + e.constants.size_bytes() + h.accesses * sizeof(cuda::interpreter_access));
    std::set<int> of_constants;
    for (int k = 0; k != h.first_step; ++k) of_constants.insert(steps[k].to);
    BOOST_TEST(of_constants.size() == h.first_step);
    constants += of_constants.size();
    for (int k = h.first_step; k != h.steps; ++k) {
      if (steps[k].what == cuda::store_code) continue;
      BOOST_TEST(steps[k].to < h.slots);
      BOOST_TEST(of_constants.count(steps[k].to) == 0u, "seed " << seed << ", step " << k);
    }
    // Only programs with many live values of 16 bytes lack room for a block of 32 threads.
    const std::size_t room = std::size_t{96} << 10;
    const unsigned threads = program.threads_for(room);
    BOOST_TEST((threads != 0u) == (program.shared_bytes(32) <= room), "seed " << seed);
    if (threads != 0u) BOOST_TEST(program.shared_bytes(threads) <= room, "seed " << seed);
    BOOST_TEST((threads != 0u || h.slots > 40), "seed " << seed << ": " << h.slots << " slots");
    fitting += threads != 0u;
  }
  BOOST_TEST(constants > 0u);
  BOOST_TEST(fitting > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_logic_generator
