// A sum of two arrays for tests of generated kernels, and the text of its kernel.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "generator/kernel_text.hpp"

namespace generator_texts {

using namespace ferry::detail;
using generator::access_class;
using generator::kernel_plan;

inline std::byte* address(std::size_t n) { return reinterpret_cast<std::byte*>(n); }

// y = a + b of two dimensions; strides in elements of 4 bytes.
struct sum_of_two {
  sum_of_two(std::size_t n0, std::size_t n1, std::array<std::ptrdiff_t, 2> a, std::array<std::ptrdiff_t, 2> b,
             std::size_t at = 1 << 20)
      : operands{{address(at), {4 * a[0], 4 * a[1]}, scalar_type::float32},
                 {address(2 << 20), {4 * b[0], 4 * b[1]}, scalar_type::float32}},
        outputs{{{address(3 << 20), {4, static_cast<std::ptrdiff_t>(4 * n0)}, scalar_type::float32}, 2}} {
    e.rank = n1 == 1 ? 1 : 2;
    e.extent = {n0, n1};
  }
  evaluation view() {
    e.code = code, e.operands = operands, e.outputs = outputs;
    return e;
  }
  evaluation e;
  std::vector<instruction> code{{operation::load, scalar_type::float32, scalar_type::float32, 0},
                                {operation::load, scalar_type::float32, scalar_type::float32, 1},
                                {operation::add, scalar_type::float32, scalar_type::float32, 0, 1}};
  std::vector<evaluation_operand> operands;
  std::vector<evaluation_output> outputs;
};

inline std::string kernel_text_of(const evaluation& e) { return generator::kernel_source_for(e, kernel_plan(e)).text; }
inline bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace generator_texts
