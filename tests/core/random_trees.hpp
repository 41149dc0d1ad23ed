// Random elements, views and trees of operations, with their values by the oracle and their programs.
#pragma once
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <ferry/core.hpp>

#include "expressions_oracle.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "random_functions.hpp"

namespace expressions_random {

namespace fr = ferry;
using namespace ferry::detail;
using expressions_oracle::scalar_value;
using index_of_element = std::array<std::size_t, fr::max_rank>;  // axis 0 is the last dimension

inline constexpr std::size_t room = 6000;  // elements of each array

struct dice {
  explicit dice(std::uint64_t seed) : random(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::mt19937_64 random;
};

template <class T>
void write_as(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// A random element: mostly small numbers, sometimes limits, NaN, infinities, signed zeros, denormals.
inline void write_random(scalar_type t, unsigned char* to, dice& d) {
  const int small = static_cast<int>(d.below(21)) - 10;
  const bool rare = d.chance(5);
  const auto bits = d.random();
  const auto real = [&]() -> double {
    const double rare_ones[] = {std::nan(""), INFINITY, -INFINITY, -0.0, 0.0,          1e-41,  -5e-324,
                                3e38,         -65504,   65520,     1e-7, 2147483648.0, -9.3e18};
    return rare ? rare_ones[d.below(std::size(rare_ones))] : small + static_cast<double>(bits % 1024) / 1024;
  };
  switch (t) {
    case scalar_type::boolean: write_as(to, static_cast<unsigned char>(bits & 1)); return;
    case scalar_type::int8:
    case scalar_type::uint8: write_as(to, static_cast<std::uint8_t>(rare ? bits : std::uint64_t(small))); return;
    case scalar_type::int16:
    case scalar_type::uint16: write_as(to, static_cast<std::uint16_t>(rare ? bits : std::uint64_t(small))); return;
    case scalar_type::int32:
      write_as(to, rare ? std::array{INT32_MIN, INT32_MAX, -1, static_cast<int>(bits)}[d.below(4)] : small);
      return;
    case scalar_type::uint32: write_as(to, static_cast<std::uint32_t>(rare ? bits : std::uint64_t(small))); return;
    case scalar_type::int64:
      write_as(to, rare
                       ? std::array{INT64_MIN, INT64_MAX, std::int64_t(-1), static_cast<std::int64_t>(bits)}[d.below(4)]
                       : std::int64_t(small));
      return;
    case scalar_type::uint64: write_as(to, rare ? bits : std::uint64_t(small)); return;
    case scalar_type::half: write_as(to, rare ? static_cast<std::uint16_t>(bits) : fr::half(real()).bits()); return;
    case scalar_type::bfloat16:
      write_as(to, rare ? static_cast<std::uint16_t>(bits) : fr::bfloat16(real()).bits());
      return;
    case scalar_type::float32: write_as(to, static_cast<float>(real())); return;
    case scalar_type::float64: write_as(to, real()); return;
    case scalar_type::complex64:
      write_as(to, static_cast<float>(real())), write_as(to + 4, static_cast<float>(real()));
      return;
    case scalar_type::complex128: write_as(to, real()), write_as(to + 8, real()); return;
    case scalar_type::none: return;
  }
}

// Memory of one type, and what it holds by the oracle.
struct typed_array {
  typed_array(scalar_type t, fr::device where, dice& d)
      : type(t),
        bytes({room * size_of(t)}, where),
        model(room * size_of(t)) {
    for (std::size_t i = 0; i != room; ++i) write_random(t, model.data() + i * size_of(t), d);
    fr::copy(model, bytes);
    bytes.name(std::string(name_of(t)));
  }
  scalar_type type;
  fr::unified_array<unsigned char> bytes;
  std::vector<unsigned char> model;
};

// Elements of an array at base + sum of index * stride; in elements.
struct random_view {
  typed_array* of = nullptr;
  std::ptrdiff_t base = 0;
  program_shape shape;
  std::array<std::ptrdiff_t, fr::max_rank> stride{};
  std::size_t element(const index_of_element& i) const {
    std::ptrdiff_t at = base;
    for (std::size_t a = 0; a != shape.rank; ++a)
      if (shape.extent[a] != 1) at += static_cast<std::ptrdiff_t>(i[a]) * stride[a];
    return static_cast<std::size_t>(at);
  }
  unsigned char* in(std::vector<unsigned char>& memory, const index_of_element& i) const {
    return memory.data() + element(i) * size_of(of->type);
  }
  program_operand operand() const {
    std::size_t extents[fr::max_rank];
    std::ptrdiff_t strides[fr::max_rank];
    for (std::size_t a = 0; a != shape.rank; ++a)
      extents[shape.rank - 1 - a] = shape.extent[a], strides[shape.rank - 1 - a] = stride[a];
    return operand_of(of->bytes.owner(),
                      of->bytes.unsynchronized_data() + base * static_cast<std::ptrdiff_t>(size_of(of->type)),
                      {extents, shape.rank}, {strides, shape.rank}, of->type, fr::memory_kind::unified);
  }
};

inline void each_index(const program_shape& s, const std::function<void(const index_of_element&)>& f) {
  if (s.is_empty()) return;
  index_of_element i{};
  for (;;) {
    f(i);
    std::size_t a = 0;
    while (a != s.rank && ++i[a] == s.extent[a]) i[a++] = 0;
    if (a == s.rank) return;
  }
}

// A tree: what the expression is for the oracle.
struct node {
  enum { array, number, index, applied, cast, call } what = array;
  random_view view;
  scalar_value value;
  int axis = 0;
  operation op = operation::add;
  scalar_type type = scalar_type::none;  // of the operands in registers; of a cast and an array, the type of elements
  const random_functions::random_function* function = nullptr;
  std::vector<std::unique_ptr<node>> of;
};
using tree = std::unique_ptr<node>;

inline scalar_value cast_to(scalar_type to, scalar_value v) {
  if (to != scalar_type::half && to != scalar_type::bfloat16) return expressions_oracle::converted(v, to);
  if (expressions_oracle::is_whole(v.type)) v = expressions_oracle::converted(v, scalar_type::float64);
  return {scalar_type::float32, 0,
          to == scalar_type::half ? expressions_oracle::as_half(v.re) : expressions_oracle::as_bfloat16(v.re)};
}

inline scalar_value result_of(const node& n, const index_of_element& i, const program_shape& shape) {
  switch (n.what) {
    case node::array: return expressions_oracle::loaded(n.view.of->type, n.view.in(n.view.of->model, i));
    case node::number: return n.value;
    case node::index: {
      const std::size_t rank = shape.rank;
      return {scalar_type::int64,
              static_cast<std::int64_t>(
                  i[n.axis < 0 ? static_cast<std::size_t>(-1 - n.axis) : rank - 1 - static_cast<std::size_t>(n.axis)])};
    }
    case node::cast: return cast_to(n.type, result_of(*n.of[0], i, shape));
    case node::call: {
      scalar_value x[most_parameters];
      for (std::size_t k = 0; k != n.of.size(); ++k)
        x[k] = cast_to(n.function->definition->parameter[k], result_of(*n.of[k], i, shape));
      return n.function->oracle(x);
    }
    case node::applied: break;
  }
  scalar_value v[3];
  for (std::size_t k = 0; k != n.of.size(); ++k) {
    v[k] = result_of(*n.of[k], i, shape);
    if (n.op != operation::select || k > 0) v[k] = expressions_oracle::converted(v[k], n.type);
  }
  return expressions_oracle::computed(n.op, n.type, v[0], v[1], v[2]);
}

inline expression_program program_of_tree(const node& n) {
  switch (n.what) {
    case node::array: return array_program(n.view.operand());
    case node::number: {
      unsigned char bytes[16] = {};
      const scalar_value& v = n.value;
      if (expressions_oracle::is_whole(v.type))
        write_as(bytes, v.whole);
      else if (v.type == scalar_type::float32)
        write_as(bytes, static_cast<float>(v.re));
      else if (v.type == scalar_type::float64)
        write_as(bytes, v.re);
      else if (v.type == scalar_type::complex64)
        write_as(bytes, static_cast<float>(v.re)), write_as(bytes + 4, static_cast<float>(v.im));
      else
        write_as(bytes, v.re), write_as(bytes + 8, v.im);
      return constant_program(bytes, v.type);
    }
    case node::index: return index_program(n.axis);
    case node::cast: return cast_program(program_of_tree(*n.of[0]), n.type);
    case node::call: {
      std::vector<expression_program> arguments;
      for (const auto& x : n.of) arguments.push_back(program_of_tree(*x));
      return call_program(*n.function->definition, arguments);
    }
    case node::applied: break;
  }
  if (n.of.size() == 1) return apply(n.op, n.type, program_of_tree(*n.of[0]));
  if (n.of.size() == 2) return apply(n.op, n.type, program_of_tree(*n.of[0]), program_of_tree(*n.of[1]));
  return apply(n.op, n.type, program_of_tree(*n.of[0]), program_of_tree(*n.of[1]), program_of_tree(*n.of[2]));
}

struct typed_tree {
  tree root;
  operand_type type;  // of the elements
};

}  // namespace expressions_random
