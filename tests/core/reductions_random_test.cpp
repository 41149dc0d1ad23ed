// Random reductions, scans and counts agree with a plain loop over the elements: integers, extremes and positions
// exactly, floating point sums within the bound of docs/reductions.md; under random schedules with the race checker.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "reductions_oracle.hpp"
#include "support/seeds.hpp"

namespace reductions_random {
namespace {

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
  const std::size_t seeds = support::seeds(15);
  for (std::size_t seed = 0; seed != seeds; ++seed) reductions_random::run("devices=2;schedule=eager", seed, 40);
}

BOOST_AUTO_TEST_CASE(results_agree_under_random_schedules) {
  const std::size_t seeds = support::seeds(10);
  for (std::size_t seed = 0; seed != seeds; ++seed)
    reductions_random::run("devices=2;check=races;schedule=random:" + std::to_string(seed), 1000 + seed, 20);
}

BOOST_AUTO_TEST_SUITE_END()
