// Random reductions, scans and counts agree with a plain loop over the elements: integers, extremes and positions
// exactly, floating point sums within the bound of docs/reductions.md; under random schedules with the race checker.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/reductions/reduction_program.hpp"
#include "support/seeds.hpp"

namespace reductions_random {
namespace {

namespace fr = ferry;
using namespace ferry::detail;
using index_list = std::array<std::size_t, fr::max_rank>;  // axis 0 is the last dimension
using number = std::complex<long double>;

constexpr std::size_t elements_of_array = 40000;

struct dice {
  explicit dice(std::uint64_t seed) : random(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::mt19937_64 random;
};

template <class T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write_as(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void write_random(scalar_type t, std::byte* to, dice& d, bool with_specials) {
  const auto bits = d.random();
  const int small = static_cast<int>(d.below(19)) - 9;
  const double specials[] = {std::nan(""), INFINITY, -INFINITY, -0.0, 0.0, 1e30, -1e30};
  const double real = with_specials && d.chance(2) ? specials[d.below(std::size(specials))]
                                                   : small + static_cast<double>(bits % 4096) / 4096;
  switch (t) {
    case scalar_type::boolean: return write_as(to, static_cast<unsigned char>(d.chance(d.chance(50) ? 99 : 1)));
    case scalar_type::int8: return write_as(to, static_cast<std::int8_t>(small));
    case scalar_type::uint8: return write_as(to, static_cast<std::uint8_t>(bits));
    case scalar_type::int16: return write_as(to, static_cast<std::int16_t>(small));
    case scalar_type::uint16: return write_as(to, static_cast<std::uint16_t>(bits));
    case scalar_type::int32: return write_as(to, d.chance(3) ? static_cast<std::int32_t>(bits) : small);
    case scalar_type::uint32: return write_as(to, static_cast<std::uint32_t>(bits % 100));
    case scalar_type::int64: return write_as(to, d.chance(3) ? static_cast<std::int64_t>(bits) : small);
    case scalar_type::uint64: return write_as(to, d.chance(3) ? bits : bits % 100);
    case scalar_type::half: return write_as(to, fr::half(real).bits());
    case scalar_type::bfloat16: return write_as(to, fr::bfloat16(real).bits());
    case scalar_type::float32: return write_as(to, static_cast<float>(real));
    case scalar_type::float64: return write_as(to, real);
    case scalar_type::complex64:
      return write_as(to, static_cast<float>(real)), write_as(to + 4, static_cast<float>(small));
    case scalar_type::complex128: return write_as(to, real), write_as(to + 8, static_cast<double>(small));
    case scalar_type::none: return;
  }
}

bool is_whole(scalar_type t) { return t <= scalar_type::uint64; }
// Integers as their 64 bits, others as numbers.
std::uint64_t whole_at(scalar_type t, const std::byte* p) {
  switch (t) {
    case scalar_type::boolean: return read_as<unsigned char>(p);
    case scalar_type::int8: return static_cast<std::uint64_t>(read_as<std::int8_t>(p));
    case scalar_type::uint8: return read_as<std::uint8_t>(p);
    case scalar_type::int16: return static_cast<std::uint64_t>(read_as<std::int16_t>(p));
    case scalar_type::uint16: return read_as<std::uint16_t>(p);
    case scalar_type::int32: return static_cast<std::uint64_t>(read_as<std::int32_t>(p));
    case scalar_type::uint32: return read_as<std::uint32_t>(p);
    default: return read_as<std::uint64_t>(p);
  }
}
number number_at(scalar_type t, const std::byte* p) {
  switch (t) {
    case scalar_type::half: return static_cast<float>(fr::half::from_bits(read_as<std::uint16_t>(p)));
    case scalar_type::bfloat16: return static_cast<float>(fr::bfloat16::from_bits(read_as<std::uint16_t>(p)));
    case scalar_type::float32: return read_as<float>(p);
    case scalar_type::float64: return read_as<double>(p);
    case scalar_type::complex64: return {read_as<float>(p), read_as<float>(p + 4)};
    case scalar_type::complex128: return {read_as<double>(p), read_as<double>(p + 8)};
    default:
      return is_signed(t) ? static_cast<long double>(static_cast<std::int64_t>(whole_at(t, p)))
                          : static_cast<long double>(whole_at(t, p));
  }
}
long double rounding(scalar_type t) { return real_of(t) == scalar_type::float32 ? 0x1p-24L : 0x1p-53L; }

// Memory of one type.
struct typed_memory {
  typed_memory(scalar_type t, std::size_t n, fr::device where) : type(t), bytes({n * size_of(t)}, where) {}
  scalar_type type;
  fr::unified_array<std::byte> bytes;
  program_operand operand(std::ptrdiff_t base, const program_shape& shape,
                          const std::array<std::ptrdiff_t, fr::max_rank>& stride) const {
    std::size_t extents[fr::max_rank];
    std::ptrdiff_t strides[fr::max_rank];
    for (std::size_t a = 0; a != shape.rank; ++a)
      extents[shape.rank - 1 - a] = shape.extent[a], strides[shape.rank - 1 - a] = stride[a];
    return operand_of(bytes.owner(), bytes.unsynchronized_data() + base * static_cast<std::ptrdiff_t>(size_of(type)),
                      {extents, shape.rank}, {strides, shape.rank}, type, fr::memory_kind::unified);
  }
  program_operand contiguous(const program_shape& shape) const {
    std::array<std::ptrdiff_t, fr::max_rank> stride{};
    std::ptrdiff_t step = 1;
    for (std::size_t a = 0; a != shape.rank; ++a)
      stride[a] = step, step *= static_cast<std::ptrdiff_t>(shape.extent[a]);
    return operand(0, shape, stride);
  }
};
std::size_t count_of(const program_shape& s) {
  std::size_t n = 1;
  for (std::size_t a = 0; a != s.rank; ++a) n *= s.extent[a];
  return n;
}

// What is expected for the values of one kept index, in order of their positions.
struct expectation {
  bool is_whole = false;
  std::uint64_t whole = 0;
  number value;
  long double slack = 0;
  bool is_exact = false;   // signs of zeros count
  bool is_beyond = false;  // products overflow or underflow in some order
};
bool is_less(long double a, long double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }
expectation expected_of(const reduction_program& r, scalar_type t, const std::vector<const std::byte*>& x) {
  expectation e;
  const auto n = static_cast<long double>(x.size());
  const long double steps = 32 + std::log2(std::max(n, 1.L));
  switch (r.how.what) {
    case reduction_operation::sum:
    case reduction_operation::product: {
      const bool is_sum = r.how.what == reduction_operation::sum;
      if (is_whole(t)) {
        e.is_whole = true, e.whole = is_sum ? 0 : 1;
        for (const std::byte* p : x) is_sum ? e.whole += whole_at(t, p) : e.whole *= whole_at(t, p);
        return e;
      }
      number all = is_sum ? 0 : 1;
      long double size = is_sum ? 0 : 1, high = 1, low = 1;  // high, low: limits of all partial products
      for (const std::byte* p : x) {
        const number v = number_at(t, p);
        const long double both = std::fabs(v.real()) + std::fabs(v.imag());
        is_sum ? all += v : all *= v;
        is_sum ? size += both : size *= both;
        high *= std::max(both, 1.L), low *= both > 0 ? std::min(both, 1.L) : 1;
      }
      e.value = all;
      e.slack = rounding(t) * size * (is_sum ? steps : 4 * n + 4);
      const bool is_float = real_of(t) == scalar_type::float32;
      e.is_beyond = !is_sum && !(high < (is_float ? 1e38L : 1e308L) && low > (is_float ? 1e-35L : 1e-300L));
      if (r.how.finish == reduction_finish::mean) e.value /= n, e.slack = e.slack / n + rounding(t) * std::abs(e.value);
      if (r.how.finish == reduction_finish::root) {
        const long double root = std::sqrt(all.real());
        e.slack = root > 0 ? e.slack / root + 2 * rounding(t) * root : 0, e.value = root;
      }
      return e;
    }
    case reduction_operation::moments: {
      number mean = 0;
      long double squares = 0;
      for (const std::byte* p : x) mean += number_at(t, p);
      mean /= n;
      for (const std::byte* p : x) squares += std::norm(number_at(t, p) - mean);
      const long double by = n - static_cast<long double>(r.how.freedom);
      const long double variance = by > 0 ? squares / by : std::nan("");
      const long double condition = std::sqrt(1 + std::norm(mean) * n / std::max(squares, 1e-30L));
      e.slack =
          4 * steps * rounding(t) * condition * variance + n * std::norm(mean) * rounding(t) * rounding(t) * steps;
      e.value = variance;
      e.is_beyond = squares > (real_of(t) == scalar_type::float32 ? 1e37L : 1e307L);
      if (r.how.finish == reduction_finish::deviation) {
        const long double root = std::sqrt(variance);
        e.slack = root > 0 ? std::min(e.slack / root, std::sqrt(e.slack)) + 2 * rounding(t) * root : std::sqrt(e.slack);
        e.value = root;
      }
      return e;
    }
    case reduction_operation::any:
    case reduction_operation::all: {
      const bool is_any = r.how.what == reduction_operation::any;
      e.is_whole = true, e.whole = !is_any;
      for (const std::byte* p : x)
        if ((whole_at(t, p) != 0) == is_any) e.whole = is_any;
      return e;
    }
    default: break;
  }
  // Extremes and positions.
  const bool is_least = r.how.what == reduction_operation::minimum || r.how.what == reduction_operation::least;
  std::size_t best = 0;
  for (std::size_t k = 1; k != x.size(); ++k) {
    const long double a = number_at(t, x[k]).real(), b = number_at(t, x[best]).real();
    if (std::isnan(b)) break;
    const bool is_position = combined_as(r.how.what, t) != t || r.how.what >= reduction_operation::least;
    const bool wins = is_position ? (is_least ? a < b : a > b) : is_least ? is_less(a, b) : is_less(b, a);
    if (wins || std::isnan(a)) best = k;
  }
  if (r.how.what == reduction_operation::least || r.how.what == reduction_operation::greatest) {
    e.is_whole = true, e.whole = best;
  } else if (is_whole(t)) {
    e.is_whole = true, e.whole = whole_at(t, x[best]);
  } else {
    e.value = number_at(t, x[best]), e.is_exact = true;
  }
  return e;
}

bool agrees(const expectation& e, scalar_type t, const std::byte* got) {
  if (e.is_whole && is_whole(t)) {  // in the bits of the result's type
    std::byte bytes[8];
    write_as(bytes, e.whole);
    return std::memcmp(bytes, got, size_of(t)) == 0;
  }
  if (e.is_beyond) return true;
  const number g = number_at(t, got);
  const auto one = [&](long double a, long double b) {
    if (std::isnan(b) || std::isnan(a)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(b) || std::isinf(a)) return a == b || std::isinf(e.slack);
    if (t == scalar_type::half) b = static_cast<float>(fr::half(static_cast<float>(b)));
    if (t == scalar_type::bfloat16) b = static_cast<float>(fr::bfloat16(static_cast<float>(b)));
    return e.is_exact ? a == b && std::signbit(a) == std::signbit(b) : std::fabs(a - b) <= e.slack;
  };
  if (e.is_whole) return g.real() == static_cast<long double>(static_cast<std::int64_t>(e.whole));
  const bool has_nan = std::isnan(e.value.real()) || std::isnan(e.value.imag());
  return one(g.real(), e.value.real()) && (!is_complex(t) || has_nan || one(g.imag(), e.value.imag()));
}

class world {
 public:
  explicit world(std::uint64_t seed) : d_(seed) {
    const bool with_specials = d_.chance(30);
    for (int t = 1; t != scalar_types; ++t)
      for (int k = 0; k != 2; ++k) {
        const auto type = static_cast<scalar_type>(t);
        auto a = std::make_unique<typed_memory>(type, elements_of_array, fr::device(d_.chance(50) ? 0 : 1));
        std::vector<std::byte> bytes(elements_of_array * size_of(type));
        for (std::size_t i = 0; i != elements_of_array; ++i)
          write_random(type, bytes.data() + i * size_of(type), d_, with_specials);
        fr::copy(bytes, a->bytes);
        arrays_.push_back(std::move(a));
      }
    for (int k = 0; k != 4; ++k) streams_.emplace_back(fr::device(k % 2));
  }

  void reduce_something() {
    const program_shape shape = some_shape();
    std::vector<int> axes;
    for (std::size_t a = 0; a != shape.rank; ++a)
      if (d_.chance(50)) axes.push_back(static_cast<int>(a) - (d_.chance(30) ? static_cast<int>(shape.rank) : 0));
    const axis_list list{axes, axes.empty(), d_.chance(20)};
    std::vector<reduction_program> programs;
    const std::size_t results = d_.chance(30) ? 2 + d_.below(2) : 1;
    while (programs.size() != results) {
      const auto f = static_cast<reduction_function>(d_.below(13));
      scalar_type element = scalar_type::none;
      expression_program p = elements(shape, f, element);
      programs.push_back(reduce_program(f, std::move(p), element, list, d_.chance(30) ? 1 : 0));
    }
    run(programs);
  }
  void scan_something() {
    const program_shape shape = some_shape();
    if (shape.rank == 0) return;
    constexpr reduction_operation operations[] = {reduction_operation::sum, reduction_operation::product,
                                                  reduction_operation::minimum, reduction_operation::maximum};
    const reduction_operation what = operations[d_.below(4)];
    const bool is_sum = what == reduction_operation::sum || what == reduction_operation::product;
    const reduction_function f = is_sum ? reduction_function::sum : reduction_function::min;
    scalar_type element = scalar_type::none;
    expression_program p = elements(shape, f, element);
    const scalar_type result = reduced_as(f, element);
    std::byte initial[16] = {};
    write_random(result, initial, d_, false);
    const bool is_exclusive = d_.chance(40);
    run_scan(scan_program("scan", what, std::move(p), result, static_cast<int>(d_.below(shape.rank)),
                          is_exclusive ? initial : nullptr));
  }
  std::size_t done = 0;

 private:
  program_shape some_shape() {
    program_shape s;
    s.rank = d_.below(d_.chance(15) ? 7 : 4);
    std::size_t all = 1;
    for (std::size_t a = 0; a != s.rank; ++a) {
      const std::size_t choices[] = {1, 2, 3, 5, 7, 33, 130, 700, 3000, 30000};
      std::size_t e = choices[d_.below(s.rank > 3 ? 5 : 10)];
      if (all * e > elements_of_array / 2) e = 1;
      s.extent[a] = e;
      all *= e;
    }
    return s;
  }
  typed_memory& array_for(reduction_function f) {
    for (;;) {
      typed_memory& a = *arrays_[d_.below(arrays_.size())];
      if (reduced_as(f, a.type) != scalar_type::none) return a;
    }
  }
  // A view of an array, or a sum of two of its views that broadcast.
  expression_program elements(const program_shape& shape, reduction_function f, scalar_type& element) {
    typed_memory& of = array_for(f);
    element = of.type;
    expression_program p = array_program(view(of, shape, false));
    if (of.type != scalar_type::boolean && !is_floating(of.type) && d_.chance(40)) {
      element = integer_promoted(of.type);
      p = apply(operation::add, element, std::move(p), array_program(view(of, shape, true)));
    } else if (is_floating(of.type) && d_.chance(40)) {
      p = apply(d_.chance(50) ? operation::multiply : operation::subtract, element, std::move(p),
                array_program(view(of, shape, true)));
    }
    return p;
  }
  program_operand view(typed_memory& of, program_shape shape, bool broadcasts) {
    if (broadcasts)
      for (std::size_t a = 0; a != shape.rank; ++a)
        if (d_.chance(25)) shape.extent[a] = 1;
    for (;;) {
      std::array<std::ptrdiff_t, fr::max_rank> stride{};
      std::array<std::size_t, fr::max_rank> order{};
      for (std::size_t a = 0; a != shape.rank; ++a) order[a] = a;
      if (d_.chance(40))
        std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shape.rank), d_.random);
      std::size_t step = d_.chance(15) ? 2 : 1, low = 0;
      std::ptrdiff_t first = 0;
      for (std::size_t k = 0; k != shape.rank; ++k) {
        const std::size_t a = order[k], e = shape.extent[a];
        const bool is_back = d_.chance(15);
        stride[a] = is_back ? -static_cast<std::ptrdiff_t>(step) : static_cast<std::ptrdiff_t>(step);
        if (is_back) first += static_cast<std::ptrdiff_t>(step * (e - 1));
        low += step * (e - 1), step *= e;
        if (d_.chance(10)) step += d_.below(3);
      }
      if (low < elements_of_array)
        return of.operand(first + static_cast<std::ptrdiff_t>(d_.below(elements_of_array - low)), shape, stride);
    }
  }

  // The values that are combined, as the interpreter of expressions computes them; other tests are about these.
  std::vector<std::byte> values_of(const reduction_program& r) {
    const scalar_type t = r.program.type();
    typed_memory all(t, std::max<std::size_t>(count_of(r.program.shape), 1), fr::device(0));
    expression_program p = r.program;
    assignment one{all.contiguous(p.shape), &p};
    assign_programs(nullptr, {&one, 1}, {});
    return fr::to_vector(all.bytes);
  }
  // The destination of a result, often a view with gaps.
  struct destination {
    typed_memory memory;
    program_operand to;
    std::array<std::ptrdiff_t, fr::max_rank> stride;
  };
  destination destination_for(const program_shape& s, scalar_type t) {
    std::array<std::ptrdiff_t, fr::max_rank> stride{};
    std::ptrdiff_t step = d_.chance(30) ? 2 : 1;
    for (std::size_t a = 0; a != s.rank; ++a) stride[a] = step, step *= static_cast<std::ptrdiff_t>(s.extent[a]);
    typed_memory memory(t, static_cast<std::size_t>(std::max<std::ptrdiff_t>(step, 1)), fr::device(d_.chance(50)));
    program_operand to = memory.operand(0, s, stride);
    return {std::move(memory), std::move(to), stride};
  }
  static std::size_t offset(const index_list& i, const program_shape& s,
                            const std::array<std::ptrdiff_t, fr::max_rank>& stride) {
    std::size_t at = 0;
    for (std::size_t a = 0; a != s.rank; ++a) at += i[a] * static_cast<std::size_t>(stride[a]);
    return at;
  }

  void run(const std::vector<reduction_program>& programs) {
    const program_shape &shape = programs.front().program.shape, kept = programs.front().shape();
    std::vector<destination> to;
    std::vector<reduction_assignment> all;
    for (const reduction_program& r : programs) to.push_back(destination_for(kept, r.result));
    for (std::size_t k = 0; k != programs.size(); ++k) all.push_back({to[k].to, &programs[k]});
    const fr::stream_ref s = streams_[d_.below(streams_.size())];
    assign_reductions(d_.chance(70) ? &s : nullptr, all, {});
    for (std::size_t k = 0; k != programs.size(); ++k) {
      const reduction_program& r = programs[k];
      const scalar_type t = r.program.type();
      const std::vector<std::byte> x = values_of(r), got = fr::to_vector(to[k].memory.bytes);
      const std::size_t n = count_of(shape), size = size_of(t), results = count_of(kept);
      std::vector<std::vector<const std::byte*>> runs(results);
      std::vector<index_list> where(results);
      for (std::size_t e = 0; e != n; ++e) {
        std::size_t rest = e, result = 0, step = 1, axis = 0;
        index_list at{};
        for (std::size_t a = 0; a != shape.rank; ++a) {
          const std::size_t i = rest % shape.extent[a];
          rest /= shape.extent[a];
          const bool is_reduced = (r.axes >> a & 1) != 0;
          if (is_reduced && !r.are_kept) continue;
          at[axis++] = is_reduced ? 0 : i;
          if (!is_reduced) result += i * step, step *= shape.extent[a];
        }
        runs[result].push_back(x.data() + e * size);
        where[result] = at;
      }
      for (std::size_t i = 0; i != results; ++i) {
        const expectation e = expected_of(r, t, runs[i]);
        const std::byte* const g = got.data() + offset(where[i], kept, to[k].stride) * size_of(r.result);
        BOOST_TEST_REQUIRE(agrees(e, r.result, g),
                           text_of(r) << " of " << text_of(shape) << " " << name_of(t) << ": result " << i << " is "
                                      << number_at(r.result, g) << ", expected "
                                      << (e.is_whole ? number(static_cast<long double>(e.whole)) : e.value)
                                      << " within " << e.slack);
      }
    }
    ++done;
  }

  void run_scan(const reduction_program& r) {
    const program_shape& shape = r.program.shape;
    destination to = destination_for(shape, r.result);
    const reduction_assignment one{to.to, &r};
    const fr::stream_ref s = streams_[d_.below(streams_.size())];
    assign_reductions(d_.chance(70) ? &s : nullptr, {&one, 1}, {});
    const scalar_type t = r.program.type();
    const std::vector<std::byte> x = values_of(r), got = fr::to_vector(to.memory.bytes);
    std::size_t axis = 0;
    while (!(r.axes >> axis & 1)) ++axis;
    std::size_t below = 1;
    for (std::size_t a = 0; a != axis; ++a) below *= shape.extent[a];
    reduction_program so_far = r;
    so_far.kind = reduction_kind::reduce;
    for (std::size_t e = 0; e < count_of(shape); e += d_.below(7) + 1) {
      const std::size_t i = e / below % shape.extent[axis];
      std::vector<const std::byte*> run;
      if (r.how.has_initial) run.push_back(r.how.initial.bytes);
      for (std::size_t k = 0; k != i + !r.how.is_exclusive; ++k)
        run.push_back(x.data() + (e - (i - k) * below) * size_of(t));
      if (run.size() > 3000) continue;  // the oracle's time
      expectation want = expected_of(so_far, t, run);
      index_list at{};
      for (std::size_t a = 0, rest = e; a != shape.rank; ++a) at[a] = rest % shape.extent[a], rest /= shape.extent[a];
      const std::byte* const g = got.data() + offset(at, shape, to.stride) * size_of(r.result);
      if (r.how.what == reduction_operation::minimum || r.how.what == reduction_operation::maximum) want.slack = 0;
      BOOST_TEST_REQUIRE(agrees(want, r.result, g), text_of(r) << " of " << text_of(shape) << " " << name_of(t)
                                                               << ": element " << e << " is " << number_at(r.result, g)
                                                               << ", expected " << want.value << " or " << want.whole);
    }
    ++done;
  }

  dice d_;
  std::vector<std::unique_ptr<typed_memory>> arrays_;
  std::vector<fr::stream> streams_;
};

void run(const std::string& options, std::uint64_t seed, int rounds) {
  BOOST_TEST_CONTEXT(options << ", seed " << seed) {
    fr::simulation sim(options);
    world w(seed);
    for (int k = 0; k != rounds; ++k) k % 4 == 3 ? w.scan_something() : w.reduce_something();
    fr::synchronize();
    BOOST_TEST(w.done > 0u);
  }
}

}  // namespace
}  // namespace reductions_random

BOOST_AUTO_TEST_SUITE(reductions_random)

BOOST_AUTO_TEST_CASE(results_agree_with_a_plain_loop) {
  const std::size_t seeds = support::seeds(25);
  for (std::size_t seed = 0; seed != seeds; ++seed) reductions_random::run("devices=2;schedule=eager", seed, 40);
}

BOOST_AUTO_TEST_CASE(results_agree_under_random_schedules) {
  const std::size_t seeds = support::seeds(10);
  for (std::size_t seed = 0; seed != seeds; ++seed)
    reductions_random::run("devices=2;check=races;schedule=random:" + std::to_string(seed), 1000 + seed, 20);
}

BOOST_AUTO_TEST_SUITE_END()
