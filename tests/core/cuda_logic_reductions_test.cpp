// Generated kernels of reductions compile by NVRTC: every operation on every type, last steps, types of results, axes,
// several results. Needs no device.
#include <array>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "cuda/jit/nvrtc_compiler.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/reduction_kernel.hpp"

namespace cuda_logic_reductions {
namespace {

using namespace ferry::detail;

// A reduction of a + b over three axes.
struct described_reduction {
  described_reduction(scalar_type type, std::vector<reduction_output> outputs, std::array<bool, 3> reduced)
      : results(std::move(outputs)) {
    for (std::size_t k = 0; k != 2; ++k)
      operands.push_back({reinterpret_cast<std::byte*>((k + 1) << 20), {8, 800, 80000}, type});
    code = {{operation::load, type, type, 0}, {operation::load, type, type, 1}};
    const operation both = type == scalar_type::boolean ? operation::bit_and : operation::add;
    code.push_back({both, type, type, 0, 1});
    for (reduction_output& o : results) o.value = 2;
    r.input.rank = 3;
    r.input.extent[0] = 1000, r.input.extent[1] = 100, r.input.extent[2] = 50;
    r.input.code = code, r.input.operands = operands;
    for (std::size_t d = 0; d != 3; ++d) r.is_reduced[d] = reduced[d];
    r.results = results;
  }
  described_reduction(const described_reduction&) = delete;
  std::vector<instruction> code;
  std::vector<evaluation_operand> operands;
  std::vector<reduction_output> results;
  reduction_evaluation r;
};

reduction_output output_of(reduction_operation what, reduction_finish finish, scalar_type to) {
  reduction_output o{};
  o.to = {reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30), {}, to};
  o.what = what, o.finish = finish;
  return o;
}

// Without NVRTC the error ends the test: machines that build for CUDA have it.
bool compiles(const described_reduction& d) {
  const generator::reduction_kernel kernel(d.r);
  const jit::kernel_source source = kernel.source();
  BOOST_TEST(kernel.arguments(0).size() <= generator::most_argument_bytes);
  cuda::nvrtc_compiler nvrtc;
  try {
    return !nvrtc.compile(source, {9, 0}).empty();
  } catch (const jit::compile_error& error) {
    BOOST_ERROR(error.what() << "\n" << source.text);
    return false;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_logic_reductions)

BOOST_AUTO_TEST_CASE(every_operation_on_every_type_compiles) {
  std::size_t compiled = 0;
  for (int o = 0; o != reduction_operations; ++o)
    for (int t = 1; t != scalar_types; ++t) {
      const auto what = static_cast<reduction_operation>(o);
      const auto type = static_cast<scalar_type>(t);
      if (!combines(what, type)) continue;
      const reduction_finish finish =
          what == reduction_operation::moments ? reduction_finish::deviation : reduction_finish::none;
      BOOST_TEST(compiles({type, {output_of(what, finish, combined_as(what, type))}, {true, false, true}}),
                 "operation " << o << " of " << name_of(type));
      ++compiled;
    }
  BOOST_TEST(compiled == 42u);
}

BOOST_AUTO_TEST_CASE(last_steps_and_types_of_results_compile) {
  using enum reduction_operation;
  const auto f = scalar_type::float32, d = scalar_type::float64, z = scalar_type::complex64;
  BOOST_TEST(compiles({f, {output_of(sum, reduction_finish::mean, scalar_type::half)}, {true, true, true}}));
  BOOST_TEST(compiles({f, {output_of(sum, reduction_finish::root, scalar_type::bfloat16)}, {true, true, false}}));
  BOOST_TEST(compiles({d, {output_of(moments, reduction_finish::variance, f)}, {false, true, true}}));
  BOOST_TEST(compiles({z, {output_of(sum, reduction_finish::mean, scalar_type::complex128)}, {false, true, false}}));
  BOOST_TEST(compiles({z, {output_of(moments, reduction_finish::variance, f)}, {false, true, false}}));
  BOOST_TEST(compiles(
      {scalar_type::complex128, {output_of(moments, reduction_finish::deviation, scalar_type::half)}, {true}}));
  BOOST_TEST(compiles({scalar_type::int32, {output_of(minimum, reduction_finish::none, scalar_type::int8)}, {true}}));
  BOOST_TEST(compiles({f, {output_of(least, reduction_finish::none, d)}, {true}}));
}

BOOST_AUTO_TEST_CASE(several_results_and_all_axes_compile) {
  using enum reduction_operation;
  const auto f = scalar_type::float32;
  std::set<std::string> shapes;
  for (int bits = 0; bits != 8; ++bits) {
    const described_reduction d(
        f,
        {output_of(sum, reduction_finish::none, f), output_of(maximum, reduction_finish::none, f),
         output_of(moments, reduction_finish::variance, f),
         output_of(greatest, reduction_finish::none, scalar_type::int64)},
        {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    BOOST_TEST(compiles(d), "axes " << bits);
    shapes.insert(generator::reduction_kernel(d.r).shape());
  }
  BOOST_TEST(shapes.size() == 8u);
}

// Lines of a scan: of one tile, of tiles in a chain, and of tiles that read a window.
enum class scanned_lines { short_ones, many, few };
void set_lines(described_reduction& d, bool is_run, scanned_lines lines) {
  d.r.kind = reduction_kind::scan;
  const std::size_t scanned = is_run ? 0 : 1, kept = is_run ? 1 : 0;
  d.r.input.extent[scanned] = lines == scanned_lines::short_ones ? 100 : 100000;
  d.r.input.extent[kept] = lines == scanned_lines::few ? 3 : 1000;
  if (lines == scanned_lines::few) d.r.input.extent[2] = 1;
  const std::string name = generator::reduction_kernel(d.r).source().shape;
  BOOST_TEST((name.find(" chain") != std::string::npos) == (lines == scanned_lines::many));
  BOOST_TEST((name.find(" window") != std::string::npos) == (lines == scanned_lines::few));
}

BOOST_AUTO_TEST_CASE(scans_of_every_operation_and_type_compile) {
  using enum reduction_operation;
  std::size_t compiled = 0;
  for (const reduction_operation what : {sum, product, minimum, maximum})
    for (int t = 1; t != scalar_types; ++t) {
      const auto type = static_cast<scalar_type>(t);
      if (!combines(what, type)) continue;
      static constexpr std::array all_lines{scanned_lines::short_ones, scanned_lines::many, scanned_lines::few};
      const bool is_run = (compiled + compiled / 3) % 2 == 0;
      reduction_output o = output_of(what, reduction_finish::none, type);
      o.has_initial = compiled % 2 == 0, o.is_exclusive = compiled % 5 > 2;
      described_reduction d(type, {o}, {is_run, !is_run});
      set_lines(d, is_run, all_lines[compiled % 3]);
      BOOST_TEST(compiles(d), "operation " << int(what) << " of " << name_of(type));
      ++compiled;
    }
  BOOST_TEST(compiled == 24u);
}

BOOST_AUTO_TEST_CASE(scans_of_several_results_and_other_types_compile) {
  using enum reduction_operation;
  const auto f = scalar_type::float32;
  for (const auto lines : {scanned_lines::short_ones, scanned_lines::many, scanned_lines::few})
    for (const bool is_run : {true, false}) {
      described_reduction d(f,
                            {output_of(sum, reduction_finish::none, scalar_type::half),
                             output_of(maximum, reduction_finish::none, scalar_type::float64)},
                            {is_run, !is_run});
      set_lines(d, is_run, lines);
      BOOST_TEST(compiles(d), "lines " << int(lines) << (is_run ? ", run" : ", column"));
    }
}

// Lines whose elements are neighbors: one instruction loads several, and stores several if the destination is aligned.
BOOST_AUTO_TEST_CASE(scans_that_load_and_store_vectors_compile) {
  for (const auto type : {scalar_type::float32, scalar_type::float64, scalar_type::complex64})
    for (const auto to : {type, scalar_type::complex128, scalar_type::half}) {
      if (is_complex(type) != is_complex(to)) continue;
      described_reduction d(type, {output_of(reduction_operation::sum, reduction_finish::none, to)}, {true});
      const auto place = [](evaluation_operand& o) {
        const auto size = static_cast<std::ptrdiff_t>(size_of(o.type));
        o.stride_bytes = {size, size * 100000, size * 300000};
      };
      for (evaluation_operand& o : d.operands) place(o);
      place(d.results[0].to);
      set_lines(d, true, scanned_lines::few);
      BOOST_TEST(compiles(d), name_of(type) << " to " << name_of(to));
      const std::string name = generator::reduction_kernel(d.r).source().shape;
      const std::string vectors = " vectors " + std::to_string(16 / size_of(type));
      BOOST_TEST((name.find(vectors + " stored") != std::string::npos) == (size_of(to) <= size_of(type)), name);
      d.results[0].to.data += size_of(to);
      BOOST_TEST(generator::reduction_kernel(d.r).source().shape.find(" stored") == std::string::npos);
      BOOST_TEST(compiles(d), name_of(type) << " to " << name_of(to) << " that is not aligned");
    }
}

BOOST_AUTO_TEST_CASE(counts_compile) {
  for (const std::size_t bins : {1, 100, 4096, 5000})
    for (const bool is_weighted : {false, true}) {
      reduction_output o = output_of(reduction_operation::sum, reduction_finish::none,
                                     is_weighted ? scalar_type::float64 : scalar_type::uint64);
      described_reduction d(scalar_type::int64, {o}, {true, true, true});
      d.code.push_back({operation::cast, scalar_type::float64, scalar_type::int64, 1});
      d.r.input.code = d.code;
      if (is_weighted) d.results[0].weight = 3;
      d.r.kind = reduction_kind::count, d.r.bins = bins;
      BOOST_TEST(compiles(d), bins << " bins" << (is_weighted ? ", weighted" : ""));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_logic_reductions
