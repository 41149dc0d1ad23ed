// Random programs over memory, as evaluators get them: all types, operations, ranks, strides, broadcasts, masks.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace random_evaluations {

using namespace ferry::detail;

// The operations whose results are defined to the last bit.
constexpr bool is_exact(operation o, scalar_type t) {
  using enum operation;
  switch (o) {
    case rsqrt:
    case cbrt:
    case exp:
    case exp2:
    case expm1:
    case log:
    case log2:
    case log10:
    case log1p:
    case sin:
    case cos:
    case tan:
    case asin:
    case acos:
    case atan:
    case sinh:
    case cosh:
    case tanh:
    case asinh:
    case acosh:
    case atanh:
    case sinpi:
    case cospi:
    case erf:
    case erfc:
    case lgamma:
    case tgamma:
    case pow:
    case atan2:
    case hypot:
    case hypot3:
    case magnitude:
    case arg:
    case polar: return false;
    case sqrt: return !is_complex(t);
    default: return true;
  }
}

// A program whose operands and outputs are at offsets from one block of memory.
class random_evaluation {
 public:
  random_evaluation(std::uint64_t seed, bool exact_only) : random_(seed), exact_only_(exact_only) {
    choose_shape();
    if (chance(20)) only_ = chance(60) ? scalar_type::float32 : scalar_type::float64;
    const std::size_t loads = 1 + below(5);
    for (std::size_t k = 0; k != loads; ++k) load(some_type());
    const std::size_t steps = below(chance(5) ? 120 : 14);
    for (std::size_t k = 0; k != steps; ++k) grow();
    const std::size_t outputs = chance(80) ? 1 : 2;
    for (std::size_t k = 0; k != outputs; ++k) store();
  }

  std::size_t bytes() const { return bytes_; }
  // The part of the block in which outputs are.
  std::size_t output_begin() const { return output_begin_; }
  const std::vector<std::byte>& content() const { return content_; }
  const std::vector<evaluation_output>& outputs() const { return outputs_; }
  // Valid until the next call and as long as this object.
  evaluation at(std::byte* base) {
    bound_operands_ = operands_;
    bound_outputs_ = outputs_;
    for (std::size_t k = 0; k != operands_.size(); ++k) bound_operands_[k].data = base + offsets_[k];
    for (std::size_t k = 0; k != outputs_.size(); ++k) bound_outputs_[k].to.data = base + output_offsets_[k];
    evaluation e = shape_;
    e.code = code_, e.operands = bound_operands_, e.constants = constants_, e.outputs = bound_outputs_;
    return e;
  }
  // Calls f(output, offset of the element) for all elements.
  template <class F>
  void each_output(F f) const {
    for (std::size_t k = 0; k != outputs_.size(); ++k)
      each_offset(outputs_[k].to, [&](std::ptrdiff_t at) {
        f(outputs_[k], static_cast<std::size_t>(static_cast<std::ptrdiff_t>(output_offsets_[k]) + at));
      });
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  scalar_type some_type() {
    if (only_ != scalar_type::none && !chance(5)) return only_;
    const scalar_type common[] = {scalar_type::float32, scalar_type::float64, scalar_type::int32, scalar_type::half};
    return chance(50) ? common[below(4)] : static_cast<scalar_type>(1 + below(scalar_types - 1));
  }

  void choose_shape() {
    shape_.rank = below(chance(15) ? 7 : 4);
    const std::size_t large[] = {1000, 4096, 30007, 100003};
    if (shape_.rank == 1 && chance(70)) {
      shape_.extent[0] = large[below(4)];
      return;
    }
    std::size_t all = 1;
    for (std::size_t d = 0; d != shape_.rank; ++d) {
      const std::size_t choices[] = {2, 3, 5, 8, 17, 33, 64, 130, 256};
      std::size_t n = choices[below(9)];
      if (all * n > 40000) n = 2;
      shape_.extent[d] = n;
      all *= n;
    }
  }

  // Strides of a view of this shape. Returns the bytes that it takes, and the first element's offset in them.
  std::size_t view(evaluation_operand& o, bool is_output, std::size_t& first) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(o.type));
    std::array<std::size_t, ferry::max_rank> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (chance(is_output ? 10 : 30)) std::shuffle(order.begin(), order.begin() + std::ptrdiff_t(shape_.rank), random_);
    std::ptrdiff_t step = size * (chance(10) ? 3 : 1), reach = 0, low = 0;
    o.stride_bytes = {};
    for (std::size_t k = 0; k != shape_.rank; ++k) {
      const std::size_t d = order[k];
      if (!is_output && chance(20)) continue;  // broadcasts
      const auto span = step * static_cast<std::ptrdiff_t>(shape_.extent[d] - 1);
      const bool back = chance(8);
      o.stride_bytes[d] = back ? -step : step;
      if (back) low += span;
      reach += span;
      step *= static_cast<std::ptrdiff_t>(shape_.extent[d]);
      if (chance(10)) step += size * static_cast<std::ptrdiff_t>(below(5));
    }
    first = static_cast<std::size_t>(low);
    return static_cast<std::size_t>(reach + size);
  }
  template <class F>
  void each_offset(const evaluation_operand& o, F f) const {
    std::array<std::size_t, ferry::max_rank> i{};
    for (;;) {
      std::ptrdiff_t at = 0;
      for (std::size_t d = 0; d != shape_.rank; ++d) at += static_cast<std::ptrdiff_t>(i[d]) * o.stride_bytes[d];
      f(at);
      std::size_t d = 0;
      while (d != shape_.rank && ++i[d] == shape_.extent[d]) i[d++] = 0;
      if (d == shape_.rank) return;
    }
  }
  // A place for bytes, aligned to the elements, and to 64 bytes in most cases.
  std::size_t place(std::size_t bytes, scalar_type t) {
    std::size_t at = (bytes_ + 63) / 64 * 64;
    if (chance(25)) at += size_of(t) * (1 + below(7));
    bytes_ = at + bytes;
    return at;
  }

  void load(scalar_type t) {
    evaluation_operand o{nullptr, {}, t};
    std::size_t first = 0;
    const std::size_t bytes = view(o, false, first), at = place(bytes, t);
    content_.resize(bytes_);
    for (std::size_t k = at; k + size_of(t) <= at + bytes; k += size_of(t)) write_random(content_.data() + k, t);
    code_.push_back({operation::load, computed_as(t), t, static_cast<std::uint8_t>(operands_.size())});
    operands_.push_back(o);
    offsets_.push_back(at + first);
  }
  void write_random(std::byte* to, scalar_type t) {
    const auto put = [&](auto v) { std::memcpy(to, &v, sizeof v); };
    const double number = (static_cast<double>(below(4001)) - 2000) / 64;
    const bool is_rare = chance(4);
    const double rare[] = {std::nan(""), INFINITY, -INFINITY, -0.0, 0.0, 1e-41, 3e38, -9.3e18, 1e300};
    const double x = is_rare ? rare[below(9)] : number;
    if (t == scalar_type::boolean) return put(static_cast<unsigned char>(below(2)));
    if (t == scalar_type::float32) return put(static_cast<float>(x));
    if (t == scalar_type::float64) return put(x);
    if (t == scalar_type::half)
      return put(is_rare ? static_cast<std::uint16_t>(random_()) : ferry::half(number).bits());
    if (t == scalar_type::bfloat16)
      return put(is_rare ? static_cast<std::uint16_t>(random_()) : ferry::bfloat16(number).bits());
    if (t == scalar_type::complex64) {
      const float parts[] = {static_cast<float>(x), static_cast<float>(static_cast<double>(below(64)) / 8 - 4)};
      return put(parts);
    }
    if (t == scalar_type::complex128) {
      const double parts[] = {static_cast<double>(below(64)) / 8 - 4, x};
      return put(parts);
    }
    const std::uint64_t bits =
        is_rare ? random_() : static_cast<std::uint64_t>(static_cast<std::int64_t>(below(21)) - 10);
    std::memcpy(to, &bits, size_of(t));
  }

  std::uint8_t add(const instruction& i) {
    code_.push_back(i);
    return static_cast<std::uint8_t>(code_.size() - 1);
  }
  std::uint8_t some_value() { return static_cast<std::uint8_t>(below(code_.size())); }
  // A value of type t: a random one that has the type, or a cast.
  std::uint8_t value_of_type(scalar_type t) {
    for (int k = 0; k != 4; ++k)
      if (const std::uint8_t v = some_value(); code_[v].type == t) return v;
    if (chance(15)) return add_constant(t);
    std::uint8_t v = some_value();
    if (code_[v].type == t) return v;
    if (is_complex(code_[v].type) && !is_complex(t)) {
      const scalar_type from = code_[v].type;
      v = add({chance(50) ? operation::real : operation::imag, real_of(from), from, v});
    }
    return code_[v].type == t ? v : add({operation::cast, t, code_[v].type, v});
  }
  std::uint8_t add_constant(scalar_type t) {
    program_constant c{};
    write_random(c.bytes, t);
    constants_.push_back(c);
    return add({operation::constant, t, t, static_cast<std::uint8_t>(constants_.size() - 1)});
  }
  void grow() {
    if (code_.size() + 12 > most_instructions) return;
    if (chance(5) && shape_.rank > 0) {
      add({operation::index, scalar_type::int64, scalar_type::int64, static_cast<std::uint8_t>(below(shape_.rank))});
      return;
    }
    if (chance(8)) {
      const std::uint8_t v = value_of_type(chance(50) ? scalar_type::float32 : scalar_type::float64);
      add({chance(50) ? operation::round_to_half : operation::round_to_bfloat16, scalar_type::float32, code_[v].type,
           v});
      return;
    }
    for (;;) {
      const auto o = static_cast<operation>(below(listed_operations));
      const scalar_type t = chance(60) ? code_[some_value()].type : computed_as(some_type());
      if (!is_defined(o, t) || (exact_only_ && !is_exact(o, t))) continue;
      instruction i{o, result_type(o, t), t};
      i.a = value_of_type(o == operation::select ? scalar_type::boolean : t);
      if (info_of(o).operands > 1) i.b = value_of_type(t);
      if (info_of(o).operands > 2) i.c = value_of_type(t);
      add(i);
      return;
    }
  }
  void store() {
    const auto value = outputs_.empty() ? static_cast<std::uint8_t>(code_.size() - 1) : some_value();
    scalar_type t = code_[value].type;
    if (t == scalar_type::float32 && chance(40)) t = chance(50) ? scalar_type::half : scalar_type::bfloat16;
    evaluation_output o{{nullptr, {}, t}, value};
    if (chance(20)) o.mask = value_of_type(scalar_type::boolean);
    std::size_t first = 0;
    const std::size_t bytes = view(o.to, true, first), at = place(bytes, t);
    if (outputs_.empty()) output_begin_ = at;
    content_.resize(bytes_, std::byte{0x5a});
    outputs_.push_back(o);
    output_offsets_.push_back(at + first);
  }

  std::mt19937_64 random_;
  const bool exact_only_;
  scalar_type only_ = scalar_type::none;  // the type of most values; none: any types
  evaluation shape_;
  std::vector<instruction> code_;
  std::vector<evaluation_operand> operands_, bound_operands_;
  std::vector<program_constant> constants_;
  std::vector<evaluation_output> outputs_, bound_outputs_;
  std::vector<std::size_t> offsets_, output_offsets_;
  std::vector<std::byte> content_;
  std::size_t bytes_ = 0, output_begin_ = 0;
};

}  // namespace random_evaluations
