#include "interpreter/reduce.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "interpreter/block_interpreter.hpp"
#include "interpreter/cpu_threads.hpp"
#include "interpreter/reduction_layout.hpp"
#include "interpreter/reduction_steps.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t blocks_of_a_part = 128;  // combined by one thread; the same for any number of threads
constexpr std::size_t rows_of_leaf = 16;       // rows that are added one after the other

// The factors of a value that is a product of numbers of one type, if its products are summed in long runs: then they
// are added without being stored.
struct factors {
  std::uint8_t a, b;
};
std::optional<factors> factors_of(const reduction_evaluation& r, const reduction_layout& layout,
                                  const reduction_output& o) {
  if (layout.is_short() || layout.inner != 1) return {};
  const instruction& i = r.input.code[o.value];
  if (i.what != operation::multiply || i.type != i.from || !loops_of(o.what, i.type).fold_products) return {};
  return factors{i.a, i.b};
}

// How the blocks of long runs are combined. A column is a set of blocks with common accumulators: a run, or the blocks
// of some inner kept indices. Its blocks are combined in parts, and the parts are joined.
struct long_reduction {
  long_reduction(const reduction_evaluation& reduction, const reduction_layout& shape, const block_plan& blocks)
      : r(reduction),
        layout(shape),
        plan(blocks) {
    is_run = layout.inner == 1;
    is_wide = layout.inner >= shortest_run;
    if (is_wide) {
      lines = layout.inner / plan.line;
      steps = layout.reduced;
      stride = lines * plan.blocks;
      columns = layout.outer * lines * plan.blocks;
      width = plan.block;
    } else {
      steps = layout.group() / plan.line * plan.blocks;
      columns = layout.outer;
      width = layout.inner;
    }
    parts = (steps + blocks_of_a_part - 1) / blocks_of_a_part;
  }
  // Returns the first block of a column; the others follow at distances of `stride`.
  std::size_t first_block(std::size_t column) const {
    return is_wide ? column / stride * layout.reduced * stride + column % stride : column * steps;
  }
  // Return the number of accumulators of a column, and the kept index of the first one.
  std::size_t accumulators_of(std::size_t column) const {
    return is_wide ? std::min(plan.block, plan.line - column % plan.blocks * plan.block) : width;
  }
  std::size_t kept_index(std::size_t column) const {
    return is_wide ? column / plan.blocks * plan.line + column % plan.blocks * plan.block : column * width;
  }
  // Returns the reduced index of the first element in block `step` of a column.
  std::size_t position(std::size_t step) const {
    if (is_wide) return step;
    return (step / plan.blocks * plan.line + step % plan.blocks * plan.block) / layout.inner;
  }

  const reduction_evaluation& r;
  const reduction_layout& layout;
  const block_plan& plan;
  bool is_run, is_wide;
  std::size_t lines = 1, steps, stride = 1, columns, width, parts;
};

// The accumulators of one result in one thread.
class column_sum {
 public:
  column_sum(const long_reduction& all, const reduction_output& o)
      : all_(&all),
        loops_(&loops_of(o.what, type_of(all.r, o))),
        value_(o.value),
        factors_(factors_of(all.r, all.layout, o)),
        size_(size_of(type_of(all.r, o))),
        by_rows_(o.what == reduction_operation::least || o.what == reduction_operation::greatest),
        // fold_rows() divides a block into at most as many parts as the number of its rows has bits.
        tree_(o.what, type_of(all.r, o), all.width,
              blocks_of_a_part * static_cast<std::size_t>(std::bit_width(all.plan.block) + 1)),
        wide_(all.plan.block, o.what, type_of(all.r, o)) {}

  void add(const block_interpreter& blocks, std::size_t n, std::size_t position) {
    if (factors_) {
      loops_->fold_products(tree_.next(), blocks.value(factors_->a), blocks.value(factors_->b), n);
      return tree_.push(1, n);
    }
    const std::byte* const x = blocks.value(value_);
    if (all_->is_run) {
      loops_->fold(tree_.next(), x, n, static_cast<std::int64_t>(position), 0);
      tree_.push(1, n);
      return;
    }
    if (rows_ != 0 && (rows_ == rows_of_leaf || n != elements_)) close_leaf();
    elements_ = n;
    if (rows_ == 0) begin_leaf();
    if (all_->is_wide || !by_rows_) {
      loops_->fold_each(leaf_, x, n, static_cast<std::int64_t>(position), rows_);
    } else {
      for (std::size_t done = 0; done != n; done += all_->width, ++position)
        loops_->fold_each(leaf_, x + done * size_, all_->width, static_cast<std::int64_t>(position), rows_);
    }
    ++rows_;
  }
  accumulators take() {
    if (rows_ != 0) close_leaf();
    return tree_.take(all_->is_wide ? elements_ : all_->width);
  }
  std::size_t count() const { return tree_.count(); }

 private:
  // True if a leaf has accumulators for each row of a block. They are joined when the leaf is complete.
  bool is_folded() const { return !all_->is_wide && !by_rows_; }
  void begin_leaf() {
    leaf_ = is_folded() ? wide_.at(0) : tree_.next();
    if (is_folded()) loops_->clear(leaf_, elements_);
  }
  void close_leaf() {
    if (is_folded())
      fold_rows();
    else if (all_->is_wide)
      tree_.push(elements_, rows_);
    else
      tree_.push(all_->width, rows_ * (elements_ / all_->width));
    rows_ = 0;
  }
  // Joins the rows of a block in trees, one for each bit of their number.
  void fold_rows() {
    const std::size_t width = all_->width;
    for (std::size_t at = 0, left = elements_ / width; left != 0;) {
      const std::size_t rows = std::bit_floor(left);
      std::size_t count = rows_;
      for (std::size_t half = rows / 2; half != 0; half /= 2, count *= 2)
        loops_->join(wide_.at(at * width), wide_.at((at + half) * width), half * width, count, count);
      loops_->join(tree_.next(), wide_.at(at * width), width, 0, count);
      tree_.push(width, count);
      at += rows, left -= rows;
    }
  }

  const long_reduction* all_;
  const reduction_loops* loops_;
  std::uint8_t value_;
  std::optional<factors> factors_;
  std::size_t size_;
  bool by_rows_;
  combination_tree tree_;
  accumulator_memory wide_;
  accumulators leaf_{};
  std::size_t rows_ = 0, elements_ = 0;
};

// The state of one part of the tasks: its registers, accumulators and writers.
struct reducing_share {
  reducing_share(const long_reduction& all) : blocks(all.r.input, all.plan) {
    for (const reduction_output& o : all.r.results) {
      sums.emplace_back(all, o);
      writers.emplace_back(all.r, o, all.width);
    }
  }
  block_interpreter blocks;
  std::vector<column_sum> sums;
  std::vector<result_writer> writers;
};

// Joins the parts of each column, and writes the results.
void write_parts(const long_reduction& all, std::vector<accumulator_memory>& parts,
                 const std::vector<std::size_t>& counts) {
  for (std::size_t k = 0; k != all.r.results.size(); ++k) {
    const reduction_output& o = all.r.results[k];
    const reduction_loops& loops = loops_of(o.what, type_of(all.r, o));
    combination_tree tree(o.what, type_of(all.r, o), all.width, all.parts);
    result_writer writer(all.r, o, all.width);
    for (std::size_t column = 0; column != all.columns; ++column) {
      const std::size_t n = all.accumulators_of(column);
      for (std::size_t part = 0; part != all.parts; ++part) {
        const std::size_t at = column * all.parts + part;
        loops.join(tree.next(), parts[k].at(at * all.width), n, 0, counts[at]);
        tree.push(n, counts[at]);
      }
      const accumulators sum = tree.take(n);
      writer.write(all.kept_index(column), sum, n, tree.count());
    }
  }
}

void reduce_long(const reduction_evaluation& r, const reduction_layout& layout, const block_plan& plan,
                 unsigned most_threads) {
  const long_reduction all(r, layout, plan);
  const std::size_t tasks = all.columns * all.parts;
  const unsigned shares = parts_for(threads_for(r.input, most_threads), tasks);
  std::vector<accumulator_memory> parts;
  std::vector<std::size_t> counts;
  if (all.parts > 1) {
    counts.resize(tasks);
    for (const reduction_output& o : r.results) parts.emplace_back(tasks * all.width, o.what, type_of(r, o));
  }
  on_threads(shares, [&](unsigned share) {
    reducing_share t(all);
    for (std::size_t task = tasks * share / shares; task != tasks * (share + 1) / shares; ++task) {
      const std::size_t column = task / all.parts, part = task % all.parts;
      const std::size_t first = all.first_block(column), n = all.accumulators_of(column);
      const std::size_t end = std::min(all.steps, (part + 1) * blocks_of_a_part);
      for (std::size_t step = part * blocks_of_a_part; step != end; ++step) {
        const std::size_t elements = t.blocks.compute(first + step * all.stride);
        for (std::size_t k = 0; k != t.sums.size(); ++k) t.sums[k].add(t.blocks, elements, all.position(step));
      }
      for (std::size_t k = 0; k != t.sums.size(); ++k) {
        const accumulators sum = t.sums[k].take();
        if (all.parts == 1) {
          t.writers[k].write(all.kept_index(column), sum, n, t.sums[k].count());
        } else {
          parts[k].copy(task * all.width, sum, n);
          counts[task] = t.sums[k].count();
        }
      }
    }
  });
  if (all.parts > 1) write_parts(all, parts, counts);
}

// For short runs: each block has whole groups, and needs no other block.
void reduce_short(const reduction_evaluation& r, const reduction_layout& layout, const block_plan& plan,
                  unsigned most_threads) {
  const std::size_t all = plan.lines * plan.blocks, group = layout.group();
  const unsigned shares = parts_for(threads_for(r.input, most_threads), all);
  const std::size_t most = plan.block / layout.reduced;
  on_threads(shares, [&](unsigned share) {
    block_interpreter blocks(r.input, plan);
    std::vector<accumulator_memory> memory;
    std::vector<result_writer> writers;
    for (const reduction_output& o : r.results) {
      memory.emplace_back(most, o.what, type_of(r, o));
      writers.emplace_back(r, o, most);
    }
    for (std::size_t k = all * share / shares; k != all * (share + 1) / shares; ++k) {
      const std::size_t groups = blocks.compute(k) / group;
      const std::size_t first = (k / plan.blocks * plan.line + k % plan.blocks * plan.block) / layout.reduced;
      for (std::size_t o = 0; o != r.results.size(); ++o) {
        const reduction_loops& loops = loops_of(r.results[o].what, type_of(r, r.results[o]));
        const std::byte* const x = blocks.value(r.results[o].value);
        const accumulators sums = memory[o].at(0);
        if (layout.inner == 1)
          loops.fold_runs(sums, x, groups, layout.reduced);
        else
          loops.fold_groups(sums, x, groups, layout.reduced, layout.inner);
        writers[o].write(first, sums, groups * layout.inner, layout.reduced);
      }
    }
  });
}

}  // namespace

void reduce_on_cpu(const reduction_evaluation& r, unsigned most_threads) {
  if (r.kind == reduction_kind::scan) return scan_on_cpu(r, most_threads);
  if (r.kind == reduction_kind::count) return count_on_cpu(r, most_threads);
  const reduction_layout layout(r);
  std::vector<std::uint8_t> values;
  for (const reduction_output& o : r.results) {
    if (const auto product = factors_of(r, layout, o))
      values.insert(values.end(), {product->a, product->b});
    else
      values.push_back(o.value);
  }
  block_plan plan(r.input, values, layout.is_short() ? layout.group() : layout.inner < shortest_run ? layout.inner : 1);
  plan.is_block_major = false;
  if (layout.is_short())
    reduce_short(r, layout, plan, most_threads);
  else
    reduce_long(r, layout, plan, most_threads);
}

}  // namespace ferry::inline FERRY_ABI::detail
