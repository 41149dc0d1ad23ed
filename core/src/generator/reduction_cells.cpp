#include "generator/reduction_cells.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// Functions that cells call. Minimum and maximum are NaN if one value is NaN; -0 is less than +0.
constexpr std::string_view cell_text = R"(__device__ inline bool is_negative(float a) { return __float_as_int(a) < 0; }
__device__ inline bool is_negative(double a) { return __double_as_longlong(a) < 0; }
__device__ inline bool is_negative(long long) { return false; }
__device__ inline bool is_negative(unsigned long long) { return false; }
__device__ inline bool is_negative(int) { return false; }
__device__ inline bool is_negative(unsigned) { return false; }
template <class T>
__device__ inline T lesser_of(T a, T b) {
  return a < b || (a == b && is_negative(a)) || a != a ? a : b;
}
template <class T>
__device__ inline T greater_of(T a, T b) {
  return a > b || (a == b && is_negative(b)) || a != a ? a : b;
}
// NaN if one is NaN, and -0 below +0, as above.
#if __CUDA_ARCH__ >= 800
__device__ inline float lesser_of(float a, float b) {
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
__device__ inline float greater_of(float a, float b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
#endif
template <class T, class R = T>
struct moments {
  T mean;
  R squares;
  unsigned long long n;
};
template <class T, class R>
__device__ inline R variance_of(const moments<T, R>& m, double freedom) {
  const R by = R(double(m.n) - freedom);
  return by > 0 ? m.squares / by : R(__int_as_float(0x7fffffff));
}
template <class T>
struct position {
  T v;
  long long at;
};
)";

}  // namespace

std::string_view cell_functions() { return cell_text; }

void cell_writer::write(source_builder& s) const {
  const std::string t(register_type(type_));
  const bool is_signed_whole = is_integer(type_) && is_signed(type_);
  const std::string wrap = is_signed_whole ? "unsigned long long" : t;
  switch (what_) {
    case reduction_operation::moments: return write_moments(s, t);
    case reduction_operation::least: return write_position(s, t, "<");
    case reduction_operation::greatest: return write_position(s, t, ">");
    case reduction_operation::sum:
      return write_plain(s, t, neutral("0"),
                         is_complex(type_) ? "a + b" : concat("(", t, ")((", wrap, ")a + (", wrap, ")b)"));
    case reduction_operation::product:
      return write_plain(s, t, neutral("1"),
                         is_complex(type_) ? "a * b" : concat("(", t, ")((", wrap, ")a * (", wrap, ")b)"));
    case reduction_operation::minimum: return write_plain(s, t, extreme(false), "lesser_of(a, b)");
    case reduction_operation::maximum: return write_plain(s, t, extreme(true), "greater_of(a, b)");
    case reduction_operation::any: return write_plain(s, t, "false", "a || b");
    case reduction_operation::all: return write_plain(s, t, "true", "a && b");
  }
}

std::string cell_writer::finished(const std::string& c, std::size_t k) const {
  const std::string t(register_type(type_));
  if (what_ == reduction_operation::least || what_ == reduction_operation::greatest) return c + ".at";
  switch (finish_) {
    case reduction_finish::none: return c;
    case reduction_finish::root: return "sqrt(" + c + ")";
    case reduction_finish::mean:
      if (is_complex(type_)) {
        const std::string part(register_type(real_of(type_)));
        return concat(t, "(real(", c, ") / ", part, "(g.reduced), imag(", c, ") / ", part, "(g.reduced))");
      }
      return concat(c, " / ", t, "(g.reduced)");
    case reduction_finish::variance: return concat("variance_of(", c, ", g.freedom", k, ")");
    case reduction_finish::deviation: return concat("sqrt(variance_of(", c, ", g.freedom", k, "))");
  }
  return c;
}

std::string cell_writer::neutral(const char* number) const {
  const std::string_view t = register_type(type_);
  return is_complex(type_) ? concat(t, "(", number, ", 0)") : concat("(", t, ")", number);
}

std::string cell_writer::extreme(bool lowest) const {
  switch (type_) {
    case scalar_type::int32: return lowest ? "(-2147483647 - 1)" : "2147483647";
    case scalar_type::uint32: return lowest ? "0u" : "4294967295u";
    case scalar_type::int64: return lowest ? "(-9223372036854775807ll - 1)" : "9223372036854775807ll";
    case scalar_type::uint64: return lowest ? "0ull" : "18446744073709551615ull";
    case scalar_type::float32: return lowest ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
    default:
      return lowest ? "__longlong_as_double(0xfff0000000000000ll)" : "__longlong_as_double(0x7ff0000000000000ll)";
  }
}

void cell_writer::write_plain(source_builder& s, const std::string& t, const std::string& none,
                              const std::string& sum) const {
  s.line("using ", name_, " = ", t, ";");
  s.line("__device__ inline ", t, " none_of_", name_, "() { return ", none, "; }");
  s.line("__device__ inline void add_to_", name_, "(", t, "& a, ", t, " b, long long) { a = ", sum, "; }");
  s.line("__device__ inline void join_", name_, "(", t, "& a, const ", t, "& b) { a = ", sum, "; }");
}

void cell_writer::write_position(source_builder& s, const std::string& t, const char* sign) const {
  s.line("using ", name_, " = position<", t, ">;");
  s.line("__device__ inline bool wins_", name_, "(", t, " a, ", t, " b) { return a ", sign,
         " b || (a != a && b == b); }");
  s.line("__device__ inline ", name_, " none_of_", name_, "() { return {0, -1}; }");
  s.line("__device__ inline void join_", name_, "(", name_, "& a, const ", name_, "& b) {");
  s.line("  const bool is_tie = !wins_", name_, "(b.v, a.v) && !wins_", name_, "(a.v, b.v);");
  s.line("  if (b.at >= 0 && (a.at < 0 || wins_", name_, "(b.v, a.v) || (is_tie && b.at < a.at))) a = b;");
  s.line("}");
  s.line("__device__ inline void add_to_", name_, "(", name_, "& a, ", t, " b, long long at) {");
  s.line("  if (a.at < 0 || wins_", name_, "(b, a.v)) a = {b, at};");
  s.line("}");
}

// The squared magnitude of a complex distance is its scalar product with itself.
void cell_writer::write_moments(source_builder& s, const std::string& t) const {
  const bool is_pair = is_complex(type_);
  const std::string part(register_type(real_of(type_))), zero = is_pair ? concat(t, "(0, 0)") : concat(t, "(0)");
  const auto scaled = [&](const std::string& factor) {
    return is_pair ? concat(t, "(distance.re * ", factor, ", distance.im * ", factor, ")")
                   : concat("distance * ", factor);
  };
  const auto product = [&](const std::string& with) {
    return is_pair ? concat("(distance.re * ", with, ".re + distance.im * ", with, ".im)")
                   : concat("distance * ", with);
  };
  s.line("using ", name_, " = moments<", t, is_pair ? concat(", ", part) : "", ">;");
  s.line("__device__ inline ", name_, " none_of_", name_, "() { return {", zero, ", 0, 0}; }");
  // Distances from the first value are small if the mean is large, and their sum does not overflow if squares do not.
  s.line("template <unsigned all>");
  s.line("__device__ inline void add_all_to_", name_, "(", name_, "& a, ", t, " (&v)[all], unsigned count) {");
  s.line("  const ", t, " first = v[0];");
  s.line("  ", t, " sum[4] = {", zero, ", ", zero, ", ", zero, ", ", zero, "};");
  s.line("  ", part, " squares[4] = {0, 0, 0, 0};");
  s.line("#pragma unroll");
  s.line("  for (unsigned u = 0; u < all; ++u) {");
  s.line("    v[u] = u < count ? v[u] - first : ", zero, ";");
  s.line("    sum[u % 4] = sum[u % 4] + v[u];");
  s.line("  }");
  s.line("  ", t, " distance = (sum[0] + sum[1]) + (sum[2] + sum[3]);");
  s.line("  const ", part, " by = count == all ? ", part, "(1) / ", part, "(all) : ", part, "(1) / ", part, "(count);");
  s.line("  const ", t, " mean = ", scaled("by"), ";");
  s.line("#pragma unroll");
  s.line("  for (unsigned u = 0; u < all; ++u) {");
  s.line("    distance = u < count ? v[u] - mean : ", zero, ";");
  s.line("    squares[u % 4] += ", product("distance"), ";");
  s.line("  }");
  s.line("  const unsigned n = unsigned(a.n) + count;");
  s.line("  const ", part, " share = ", part, "(count) / ", part, "(n), weight = ", part, "(unsigned(a.n)) * share;");
  s.line("  distance = first + mean - a.mean;");
  s.line("  a.mean = a.mean + ", scaled("share"), ";");
  s.line("  a.squares += (squares[0] + squares[1]) + (squares[2] + squares[3]);");
  s.line("  a.squares += ",
         is_pair ? "(distance.re * weight * distance.re + distance.im * weight * distance.im)"
                 : "distance * weight * distance",
         ";");
  s.line("  a.n = n;");
  s.line("}");
  s.line("__device__ inline void join_", name_, "(", name_, "& a, const ", name_, "& b) {");
  s.line("  if (a.n == 0) a = b;");
  s.line("  else if (b.n != 0) {");
  s.line("    const double ratio = double(b.n) / (double(a.n) + double(b.n));");
  s.line("    const ", t, " distance = b.mean - a.mean;");
  s.line("    const ", part, " share = ", part, "(ratio);");
  s.line("    a.mean = a.mean + ", scaled("share"), ";");
  s.line("    a.squares += b.squares + ", product("distance"), " * ", part, "(double(a.n) * ratio);");
  s.line("    a.n += b.n;");
  s.line("  }");
  s.line("}");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
