// Random expressions give the same bytes as an oracle that computes element by element: all operations, types, ranks,
// strides, broadcasts, overlaps, masks, several outputs, calls of functions; under random schedules with the race
// checker.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "random_trees.hpp"
#include "support/seeds.hpp"

namespace expressions_random {
namespace {

class world {
 public:
  explicit world(std::uint64_t seed) : d_(seed) {
    for (int k = 0; k != 2; ++k)
      for (int t = 1; t != scalar_types; ++t)
        arrays_.push_back(std::make_unique<typed_array>(static_cast<scalar_type>(t), fr::device(k), d_));
    for (int k = 0; k != 4; ++k) streams_.emplace_back(fr::device(k % 2));
  }

  void assign_something() {
    program_shape shape = some_shape();
    const std::size_t outputs = d_.chance(20) ? 2 : 1;
    std::vector<random_view> to;
    while (to.size() != outputs) {
      random_view v = view_of(some_array(), shape, false);
      if (to.empty() || to.front().of != v.of) to.push_back(v);
    }
    destination_ = &to.front();
    std::vector<tree> trees;
    std::vector<expression_program> programs;
    for (const random_view& v : to) {
      trees.push_back(value_for(v, shape));
      programs.push_back(program_of_tree(*trees.back()));
    }
    std::vector<assignment> all;
    std::vector<std::vector<scalar_value>> expected(outputs);
    for (std::size_t k = 0; k != outputs; ++k) {
      all.push_back({to[k].operand(), &programs[k]});
      each_index(shape, [&](const index_of_element& i) {
        expected[k].push_back(
            expressions_oracle::converted(result_of(*trees[k], i, shape), computed_as(to[k].of->type)));
      });
    }
    std::vector<std::string> what;
    for (const expression_program& p : programs) what.push_back(text_of(p));
    const fr::stream_ref s = streams_[d_.below(streams_.size())];
    assign_programs(d_.chance(70) ? &s : nullptr, all, {});
    for (std::size_t k = 0; k != outputs; ++k) {
      const fr::unified_array<unsigned char>& bytes = to[k].of->bytes;
      const unsigned char* const now = bytes.begin();
      std::size_t at = 0;
      bool good = true;
      each_index(shape, [&](const index_of_element& i) {
        const scalar_value& v = expected[k][at++];
        const unsigned char* const got = now + to[k].element(i) * size_of(to[k].of->type);
        if (good && !expressions_oracle::holds(to[k].of->type, got, v)) {
          good = false;
          BOOST_TEST(false, "output " << k << " of " << text_of(shape) << " " << name_of(to[k].of->type) << " = "
                                      << what[k] << ": element " << at - 1 << " is "
                                      << text(expressions_oracle::loaded(to[k].of->type, got)) << ", expected "
                                      << text(v));
        }
        std::memcpy(to[k].in(to[k].of->model, i), got, size_of(to[k].of->type));
      });
      BOOST_TEST_REQUIRE(good);
    }
    ++assignments;
  }
  // Nothing outside of the destinations has changed.
  void check_all() {
    for (const auto& a : arrays_) {
      const auto now = fr::to_vector(a->bytes);
      BOOST_TEST((now == a->model),
                 "bytes outside of the destinations have changed in the array of " << name_of(a->type));
    }
  }
  std::size_t assignments = 0;

 private:
  typed_array& some_array() { return *arrays_[d_.below(arrays_.size())]; }

  program_shape some_shape() {
    program_shape s;
    s.rank = d_.below(d_.chance(10) ? 7 : 4);
    std::size_t all = 1;
    for (std::size_t a = 0; a != s.rank; ++a) {
      const std::size_t choices[] = {1, 2, 3, 5, 8, 17, 64, 700};
      std::size_t e = choices[d_.below(s.rank > 3 ? 4 : 8)];
      if (all * e > 2500) e = 1;
      if (d_.chance(1)) e = 0;
      s.extent[a] = e;
      all *= e ? e : 1;
    }
    return s;
  }

  // Random strides that fit; each element at most once.
  random_view view_of(typed_array& of, const program_shape& shape, bool) {
    for (;;) {
      random_view v{&of, 0, shape, {}};
      std::array<std::size_t, fr::max_rank> order{};
      for (std::size_t a = 0; a != shape.rank; ++a) order[a] = a;
      if (d_.chance(30))
        std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shape.rank), d_.random);
      std::size_t step = d_.chance(25) ? 2 : 1, low = 0;
      std::ptrdiff_t first = 0;
      for (std::size_t k = 0; k != shape.rank; ++k) {
        const std::size_t a = order[k], e = std::max<std::size_t>(shape.extent[a], 1);
        const bool back = d_.chance(15);
        v.stride[a] = back ? -static_cast<std::ptrdiff_t>(step) : static_cast<std::ptrdiff_t>(step);
        if (back) first += static_cast<std::ptrdiff_t>(step * (e - 1));
        low += step * (e - 1);
        step *= e;
        if (d_.chance(10)) step += d_.below(4);
      }
      if (low >= room) continue;
      v.base = first + static_cast<std::ptrdiff_t>(d_.chance(30) ? 0 : d_.below(room - low));
      return v;
    }
  }
  // Elements that broadcast to the shape.
  random_view operand_for(const program_shape& shape) {
    if (destination_ && destination_->shape == shape && d_.chance(15)) return *destination_;
    program_shape s = shape;
    if (d_.chance(30)) {
      if (d_.chance(40)) s.rank = d_.below(s.rank + 1);
      for (std::size_t a = 0; a != s.rank; ++a)
        if (d_.chance(35)) s.extent[a] = 1;
      for (std::size_t a = s.rank; a != fr::max_rank; ++a) s.extent[a] = 0;
    }
    return view_of(some_array(), s, true);
  }

  typed_tree leaf(const program_shape& shape) {
    auto n = std::make_unique<node>();
    const std::size_t kind = d_.below(10);
    if (kind == 0 && shape.rank > 0) {
      n->what = node::index;
      n->axis = static_cast<int>(d_.below(shape.rank)) - (d_.chance(50) ? static_cast<int>(shape.rank) : 0);
      return {std::move(n), {scalar_type::int64, false}};
    }
    if (kind == 1) {
      const scalar_type types[] = {scalar_type::int32, scalar_type::float32, scalar_type::float64, scalar_type::boolean,
                                   scalar_type::complex64};
      n->what = node::number;
      n->value = {types[d_.below(5)]};
      const int v = static_cast<int>(d_.below(9)) - 4;
      if (expressions_oracle::is_whole(n->value.type))
        n->value.whole = n->value.type == scalar_type::boolean ? v > 0 : v;
      else
        n->value.re = v + 0.25;
      const scalar_type t = n->value.type;
      return {std::move(n), {t, true}};
    }
    n->view = operand_for(shape);
    n->type = n->view.of->type;
    const scalar_type t = n->type;
    return {std::move(n), {t, false}};
  }

  typed_tree casted(typed_tree x, scalar_type to) {
    auto n = std::make_unique<node>();
    n->what = node::cast;
    n->type = to;
    n->of.push_back(std::move(x.root));
    return {std::move(n), {to, false}};
  }
  typed_tree as_mask(typed_tree x) {
    if (x.type.type == scalar_type::boolean && !x.type.is_number) return x;
    if (is_complex(x.type.type)) x = applied(operation::real, std::move(x));
    return casted(std::move(x), scalar_type::boolean);
  }
  typed_tree applied(operation o, typed_tree a) {
    std::vector<typed_tree> of;
    of.push_back(std::move(a));
    return applied(o, std::move(of));
  }
  // Where the types do not fit, the first operand is returned.
  typed_tree applied(operation o, std::vector<typed_tree> of) {
    operand_type common = of.back().type;
    scalar_type t;
    if (o == operation::select) {
      const operand_type b = of[1].type, c = of[2].type;
      t = b.type == c.type ? b.type : operands_of(o, promoted(b, c));
    } else {
      for (std::size_t k = of.size() - 1; k-- > 0;) common = promoted_operand(of[k].type, common);
      const bool all_bool =
          std::all_of(of.begin(), of.end(), [](const typed_tree& x) { return x.type.type == scalar_type::boolean; });
      t = operands_of(o, all_bool ? scalar_type::boolean : common.type);
    }
    if (t == scalar_type::none) return std::move(of.front());
    auto n = std::make_unique<node>();
    n->what = node::applied;
    n->op = o;
    n->type = computed_as(t);
    for (typed_tree& x : of) n->of.push_back(std::move(x.root));
    return {std::move(n), {element_result(o, t), false}};
  }
  typed_tree called(const program_shape& shape, int depth) {
    auto n = std::make_unique<node>();
    n->what = node::call;
    n->function = &random_functions::all[d_.below(std::size(random_functions::all))];
    const function_definition& f = *n->function->definition;
    for (std::size_t k = 0; k != f.parameters; ++k) {
      typed_tree x = grown(shape, depth);
      if (is_complex(x.type.type) && !is_complex(f.parameter[k])) x = applied(operation::real, std::move(x));
      n->of.push_back(std::move(x.root));
    }
    return {std::move(n), {f.result, false}};
  }
  typed_tree grown(const program_shape& shape, int depth) {
    if (depth == 0 || d_.chance(15)) return leaf(shape);
    if (d_.chance(10)) return called(shape, depth - 1);
    if (d_.chance(10)) {
      typed_tree x = grown(shape, depth - 1);
      const auto to = static_cast<scalar_type>(1 + d_.below(scalar_types - 1));
      return is_complex(x.type.type) && !is_complex(to) ? std::move(x) : casted(std::move(x), to);
    }
    auto o = static_cast<operation>(d_.below(listed_operations));
    while (o == operation::sinpi || o == operation::cospi)  // not in <cmath>; expressions_functions has them
      o = static_cast<operation>(d_.below(listed_operations));
    std::vector<typed_tree> of;
    for (int k = 0; k != info_of(o).operands; ++k) of.push_back(grown(shape, depth - 1));
    if (o == operation::select) of[0] = as_mask(std::move(of[0]));
    return applied(o, std::move(of));
  }

  // A tree that can be assigned to the view.
  tree value_for(const random_view& v, const program_shape& shape) {
    typed_tree x = grown(shape, 1 + static_cast<int>(d_.below(4)));
    const scalar_type to = v.of->type;
    if (is_complex(x.type.type) && !is_complex(to))
      x = applied(d_.chance(50) ? operation::real : operation::imag, std::move(x));
    if (to == scalar_type::boolean)
      x = as_mask(std::move(x));
    else if (is_integer(to) && is_floating(x.type.type))
      x = casted(std::move(x), to);
    if (!d_.chance(15)) return std::move(x.root);
    // y = where(mask, x, y)
    if (x.type.type != to) x = casted(std::move(x), to);
    auto y = std::make_unique<node>();
    y->view = v;
    y->type = to;
    std::vector<typed_tree> of;
    of.push_back(as_mask(leaf(shape)));
    of.push_back(std::move(x));
    of.push_back({std::move(y), {to, false}});
    return applied(operation::select, std::move(of)).root;
  }

  dice d_;
  std::vector<std::unique_ptr<typed_array>> arrays_;
  std::vector<fr::stream> streams_;
  const random_view* destination_ = nullptr;
};

void run(const std::string& options, std::uint64_t seed, int assignments) {
  BOOST_TEST_CONTEXT(options << ", seed " << seed) {
    fr::simulation sim(options);
    world w(seed);
    for (int k = 0; k != assignments; ++k) w.assign_something();
    w.check_all();
    fr::synchronize();
    BOOST_TEST(w.assignments == static_cast<std::size_t>(assignments));
  }
}

}  // namespace
}  // namespace expressions_random

BOOST_AUTO_TEST_SUITE(expressions_random)

BOOST_AUTO_TEST_CASE(programs_give_the_bytes_of_the_oracle) {
  const std::size_t seeds = support::seeds(40);
  for (std::size_t seed = 0; seed != seeds; ++seed) expressions_random::run("devices=2;schedule=eager", seed, 40);
}

BOOST_AUTO_TEST_CASE(programs_give_the_same_bytes_under_random_schedules) {
  const std::size_t seeds = support::seeds(15);
  for (std::size_t seed = 0; seed != seeds; ++seed)
    expressions_random::run("devices=2;check=races;schedule=random:" + std::to_string(seed), 1000 + seed, 20);
}

BOOST_AUTO_TEST_SUITE_END()
