// Programs as text.
#include <algorithm>
#include <charconv>
#include <complex>
#include <cstring>
#include <span>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t longest_text = 400;  // values that are used twice are printed twice

template <class T>
std::string number_text(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string constant_text(const std::byte* bytes, scalar_type type) {
  switch (type) {
    case scalar_type::boolean: return bytes[0] == std::byte{} ? "false" : "true";
    case scalar_type::int8: return number_text<std::int8_t>(bytes);
    case scalar_type::uint8: return number_text<std::uint8_t>(bytes);
    case scalar_type::int16: return number_text<std::int16_t>(bytes);
    case scalar_type::uint16: return number_text<std::uint16_t>(bytes);
    case scalar_type::int32: return number_text<std::int32_t>(bytes);
    case scalar_type::uint32: return number_text<std::uint32_t>(bytes);
    case scalar_type::int64: return number_text<std::int64_t>(bytes);
    case scalar_type::uint64: return number_text<std::uint64_t>(bytes);
    case scalar_type::float32: return number_text<float>(bytes);
    case scalar_type::float64: return number_text<double>(bytes);
    case scalar_type::complex64: return "(" + number_text<float>(bytes) + ", " + number_text<float>(bytes + 4) + ")";
    case scalar_type::complex128: return "(" + number_text<double>(bytes) + ", " + number_text<double>(bytes + 8) + ")";
    default: return "?";
  }
}

// Operators as C++ spells them, with their precedence: higher binds more tightly. "" for functions.
struct spelling {
  std::string_view sign;
  int precedence;
};
spelling spelling_of(operation o) {
  switch (o) {
    case operation::multiply: return {" * ", 10};
    case operation::divide: return {" / ", 10};
    case operation::modulo: return {" % ", 10};
    case operation::add: return {" + ", 9};
    case operation::subtract: return {" - ", 9};
    case operation::shift_left: return {" << ", 8};
    case operation::shift_right: return {" >> ", 8};
    case operation::less: return {" < ", 7};
    case operation::less_equal: return {" <= ", 7};
    case operation::greater: return {" > ", 7};
    case operation::greater_equal: return {" >= ", 7};
    case operation::equal: return {" == ", 6};
    case operation::not_equal: return {" != ", 6};
    case operation::bit_and: return {" & ", 5};
    case operation::bit_xor: return {" ^ ", 4};
    case operation::bit_or: return {" | ", 3};
    case operation::logical_and: return {" && ", 2};
    case operation::logical_or: return {" || ", 1};
    default: return {"", 0};
  }
}
std::string_view prefix_of(operation o) {
  return o == operation::negate ? "-" : o == operation::bit_not ? "~" : o == operation::logical_not ? "!" : "";
}
std::string_view function_name(operation o) {
  switch (o) {
    case operation::select: return "where";
    case operation::magnitude: return "abs";
    case operation::norm: return "abs2";
    case operation::hypot3: return "hypot";
    default: return info_of(o).name;
  }
}

class writer {
 public:
  explicit writer(const expression_program& p) : p_(p) {}
  // Appends the text of a value, in parentheses if its operator binds less tightly than `least`.
  void write(std::uint8_t value, int least) {
    if (text.size() > longest_text) {
      if (!text.ends_with("...")) text += "...";
      return;
    }
    const instruction& i = p_.code[value];
    switch (i.what) {
      case operation::load: return array(p_.operands[i.a]);
      case operation::constant: text += constant_text(p_.constants[i.a].bytes, i.type); return;
      case operation::index:
        text +=
            concat("index(", i.a < expression_program::last_axes ? i.a : expression_program::last_axes - 1 - i.a, ")");
        return;
      case operation::call: {
        const function_call& c = p_.calls[i.a];
        return call(c.function->name, {c.value.data(), c.function->parameters});
      }
      case operation::gather:
        array(p_.operands[i.b]);
        text += "[";
        write(i.a, 0);
        text += "]";
        return;
      case operation::bounded_offset: return write(i.a, least);
      case operation::cast: return call(concat("cast<", name_of(i.type), ">"), {&i.a, 1});
      case operation::round_to_half: return call("cast<half>", {&i.a, 1});
      case operation::round_to_bfloat16: return call("cast<bfloat16>", {&i.a, 1});
      default: break;
    }
    const spelling s = spelling_of(i.what);
    if (!s.sign.empty()) {
      if (s.precedence < least) text += "(";
      write(i.a, s.precedence);
      text += s.sign;
      write(i.b, s.precedence + 1);
      if (s.precedence < least) text += ")";
    } else if (const std::string_view sign = prefix_of(i.what); !sign.empty()) {
      text += sign;
      write(i.a, 11);
    } else {
      const std::uint8_t values[] = {i.a, i.b, i.c};
      call(std::string(function_name(i.what)),
           std::span(values).first(static_cast<std::size_t>(info_of(i.what).operands)));
    }
  }
  std::string text;

 private:
  void array(const program_operand& o) {
    if (o.is_placeholder) {
      text += placeholder_of(o).text();
      return;
    }
    const bool is_named = o.owner && !o.owner.is_freed() && !o.owner.unchecked()->name.empty();
    const std::size_t number = number_of(o);
    text += is_named ? o.owner.unchecked()->name.get() : concat("array#", number);
  }
  // Returns the number of an array for the text: unnamed arrays are numbered in the order in which they appear.
  std::size_t number_of(const program_operand& o) {
    const auto known = std::find(numbered_.begin(), numbered_.end(), &o);
    if (known == numbered_.end()) return numbered_.push_back(&o), numbered_.size();
    return static_cast<std::size_t>(known - numbered_.begin()) + 1;
  }
  void call(const std::string& name, std::span<const std::uint8_t> values) {
    text += name + "(";
    for (const std::uint8_t& v : values) {
      if (&v != values.data()) text += ", ";
      write(v, 0);
    }
    text += ")";
  }
  const expression_program& p_;
  std::vector<const program_operand*> numbered_;
};

}  // namespace

std::string text_of(const expression_program& p) {
  writer w(p);
  w.write(p.root, 0);
  return std::move(w.text);
}

std::string text_of(const program_shape& s) {
  if (s.rank == 0) return "scalar";
  std::string text;
  for (std::size_t d = s.rank; d-- > 0;) text += concat(s.extent[d], d ? " x " : "");
  return text;
}

}  // namespace ferry::inline FERRY_ABI::detail
