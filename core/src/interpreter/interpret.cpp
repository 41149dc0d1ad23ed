#include "interpreter/interpret.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "interpreter/block_interpreter.hpp"
#include "interpreter/block_plan.hpp"
#include "interpreter/cpu_threads.hpp"
#include "interpreter/index_outside.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

const loop_table& common_loops() { return avx2_loops() ? *avx2_loops() : portable_loops(); }
int log_of_size(scalar_type t) { return std::countr_zero(size_of(t)); }

// Divides the elements [first, first + n) of a line into rectangles. Calls f for each with the offset of its first
// element in the array, the number of elements before it, and its shape.
template <class F>
void over_rectangles(const evaluation& e, std::size_t span, const evaluation_operand& o, std::size_t first,
                     std::size_t n, F f) {
  const auto at = [](std::size_t i, std::ptrdiff_t stride) { return static_cast<std::ptrdiff_t>(i) * stride; };
  if (span < 2) return f(at(first, o.stride_bytes[0]), std::size_t{0}, element_grid{1, n, 0, o.stride_bytes[0]});
  const std::size_t columns = e.extent[0];
  for (std::size_t done = 0; done != n;) {
    std::size_t row = (first + done) / columns;
    const std::size_t column = (first + done) % columns, below = row % e.extent[1];
    element_grid g{1, std::min(columns - column, n - done), o.stride_bytes[1], o.stride_bytes[0]};
    if (column == 0 && n - done >= columns)
      g.rows = std::min((n - done) / columns, e.extent[1] - below), g.columns = columns;
    std::ptrdiff_t offset = at(column, o.stride_bytes[0]);
    for (std::size_t d = 1; d != span; ++d) {
      offset += at(row % e.extent[d], o.stride_bytes[d]);
      row /= e.extent[d];
    }
    f(offset, done, g);
    done += g.rows * g.columns;
  }
}

}  // namespace

// Evaluates blocks in one thread. Has the registers, and the current line and block.
class block_run {
 public:
  block_run(const evaluation& e, const block_plan& plan)
      : e_(e),
        plan_(plan),
        memory_(std::make_unique_for_overwrite<std::byte[]>(
            (static_cast<std::size_t>(plan.slots) + 1) * plan.slot_bytes + 64)) {
    const auto from = reinterpret_cast<std::uintptr_t>(memory_.get());
    registers_ = memory_.get() + (64 - from % 64) % 64;
    scratch_ = slot(plan.slots);
    for (std::size_t k = 0; k != plan.steps.size(); ++k)
      if (plan.steps[k].slot >= 0) at_[k] = slot(plan.steps[k].slot);
  }

  // Evaluates the blocks [first, last), numbered over all lines.
  void run(std::size_t first, std::size_t last) {
    if (first == last) return;
    go_to(first);
    materialize(load_way::once, plan_.block);
    for (std::size_t k = first; k != last; ++k) {
      if (k == first || go_to(k)) materialize(load_way::each_line, plan_.block);
      run_block();
    }
  }

  // Computes the values of block k, and returns its number of elements.
  std::size_t compute(std::size_t k) {
    const bool is_first = !is_placed_;
    const bool is_new = go_to(k);
    if (is_first) materialize(load_way::once, plan_.block);
    if (is_new) materialize(load_way::each_line, plan_.block);
    return run_steps();
  }
  std::byte* value(std::uint8_t number) const { return at_[number]; }  // cppcheck-suppress CastIntegerToAddressAtReturn
  // Stores elements from `from` instead of the output's value.
  void store_from(const evaluation_output& o, std::byte* from) {
    std::swap(at_[o.value], from);
    store(o, std::min(plan_.block, plan_.line - first_));
    std::swap(at_[o.value], from);
  }

 private:
  std::byte* slot(int s) const { return registers_ + static_cast<std::size_t>(s) * plan_.slot_bytes; }

  // Makes block k the current one. Returns true if it is on another line.
  bool go_to(std::size_t k) {
    const std::size_t before = line_;
    line_ = plan_.is_block_major ? k % plan_.lines : k / plan_.blocks;
    first_ = (plan_.is_block_major ? k / plan_.lines : k % plan_.blocks) * plan_.block;
    if (line_ == before && is_placed_) return false;
    is_placed_ = true;
    std::size_t rest = line_;
    for (std::size_t d = plan_.span; d != e_.rank; ++d) {
      outer_[d] = rest % e_.extent[d];
      rest /= e_.extent[d];
    }
    return true;
  }
  std::ptrdiff_t line_offset(const evaluation_operand& o) const {
    std::ptrdiff_t offset = 0;
    for (std::size_t d = plan_.span; d != e_.rank; ++d)
      offset += static_cast<std::ptrdiff_t>(outer_[d]) * o.stride_bytes[d];
    return offset;
  }
  // Returns the first element of the block, for an array that is contiguous on the line.
  std::byte* flat(const evaluation_operand& o) const {
    return o.data + line_offset(o) + static_cast<std::ptrdiff_t>(first_ * size_of(o.type));
  }

  // Fills registers that several blocks share, with the elements of the line's first block.
  void materialize(load_way when, std::size_t n) {
    const std::size_t here = first_;
    first_ = 0;
    for (std::size_t k = 0; k != plan_.steps.size(); ++k)
      if (plan_.steps[k].way == when) fill(k, std::min(n, plan_.line));
    first_ = here;
  }

  void fill(std::size_t k, std::size_t n) {
    const block_step& s = plan_.steps[k];
    switch (s.what.what) {
      case operation::constant: {
        const element_grid all{1, n, 0, 0};
        common_loops().gather[log_of_size(s.what.type)](at_[k], e_.constants[s.what.a].bytes, all);
        return;
      }
      case operation::index: return fill_index(reinterpret_cast<std::int64_t*>(at_[k]), s.what.a, n);
      default: return load(k, e_.operands[s.what.a], n);
    }
  }

  void load(std::size_t k, const evaluation_operand& o, std::size_t n) {
    const block_step& s = plan_.steps[k];
    if (plan_.is_flat[s.what.a]) {
      if (s.loop) return s.loop(at_[k], flat(o), nullptr, nullptr, n);
      common_loops().gather[log_of_size(o.type)](at_[k], flat(o),
                                                 {1, n, 0, static_cast<std::ptrdiff_t>(size_of(o.type))});
      return;
    }
    std::byte* const to = s.loop ? scratch_ : at_[k];
    const std::size_t size = size_of(o.type);
    const std::byte* const base = o.data + line_offset(o);
    const gather_loop gather = common_loops().gather[log_of_size(o.type)];
    over_rectangles(e_, plan_.span, o, first_, n, [&](std::ptrdiff_t offset, std::size_t at, const element_grid& g) {
      gather(to + at * size, base + offset, g);
    });
    if (s.loop) s.loop(at_[k], scratch_, nullptr, nullptr, n);
  }

  void fill_index(std::int64_t* to, std::size_t axis, std::size_t n) const {
    if (axis >= plan_.span) {
      std::fill_n(to, n, static_cast<std::int64_t>(outer_[axis]));
      return;
    }
    std::size_t below = 1;
    for (std::size_t d = 0; d != axis; ++d) below *= e_.extent[d];
    std::size_t index = first_ / below % e_.extent[axis], left = below - first_ % below;
    for (std::size_t i = 0; i != n;) {
      const std::size_t run = std::min(left, n - i);
      std::fill_n(to + i, run, static_cast<std::int64_t>(index));
      i += run;
      left = below;
      if (++index == e_.extent[axis]) index = 0;
    }
  }

  void run_block() {
    const std::size_t n = run_steps();
    for (std::size_t k = 0; k != e_.outputs.size(); ++k)
      if (plan_.stores[k]) store(e_.outputs[k], n);
  }

  std::size_t run_steps() {
    const std::size_t n = std::min(plan_.block, plan_.line - first_);
    for (std::size_t k = 0; k != plan_.steps.size(); ++k) {
      const block_step& s = plan_.steps[k];
      if (s.way != load_way::each_block) {
        if (s.way == load_way::in_place) at_[k] = flat(e_.operands[s.what.a]);
        continue;
      }
      if (s.output >= 0) at_[k] = flat(e_.outputs[static_cast<std::size_t>(s.output)].to);
      if (s.what.what == operation::load || s.what.what == operation::index)
        fill(k, n);
      else if (s.what.what == operation::call)
        call(k, e_.calls[s.what.a], n);
      else if (s.what.what == operation::gather)
        gather_at(k, e_.operands[s.what.b], n);
      else if (s.what.what == operation::bounded_offset)
        bound_offsets(k, n);
      else
        s.loop(at_[k], at_[s.what.a], at_[s.what.b], at_[s.what.c], n);
    }
    return n;
  }

  void bound_offsets(std::size_t k, std::size_t n) const {
    const instruction& i = plan_.steps[k].what;
    if (common_loops().bounded_offset(at_[k], at_[i.a], at_[i.b], at_[i.c], n)) [[likely]]
      return;
    throw index_outside(e_, k, {reinterpret_cast<const std::int64_t*>(at_[i.a]), n},
                        *reinterpret_cast<const std::int64_t*>(at_[i.b]));
  }

  void gather_at(std::size_t k, const evaluation_operand& o, std::size_t n) const {
    const block_step& s = plan_.steps[k];
    std::byte* const to = s.loop ? scratch_ : at_[k];
    const std::size_t size = size_of(o.type);
    const std::byte* const base = o.data + line_offset(o);
    const std::byte* const offsets = at_[s.what.a];
    const indexed_loop loop = common_loops().indexed[log_of_size(o.type)];
    over_rectangles(e_, plan_.span, o, first_, n, [&](std::ptrdiff_t offset, std::size_t at, const element_grid& g) {
      loop(to + at * size, base + offset, offsets + at * sizeof(std::int64_t), g);
    });
    if (s.loop) s.loop(at_[k], scratch_, nullptr, nullptr, n);
  }

  void call(std::size_t k, const function_call& c, std::size_t n) const {
    std::array<const std::byte*, most_parameters> operands{};
    for (std::size_t x = 0; x != c.function->parameters; ++x) operands[x] = at_[c.value[x]];
    c.function->loop(at_[k], operands.data(), n);
  }

  void store(const evaluation_output& o, std::size_t n) {
    const std::byte* from = at_[o.value];
    const scalar_type type = e_.code[o.value].type;
    const bool is_masked = o.mask != evaluation_output::no_mask;
    const bool is_flat = !is_masked && is_flat_on(e_, o.to, plan_.span);
    if (type != o.to.type) {
      const block_loop round = common_loops().casts[static_cast<int>(o.to.type)][static_cast<int>(type)];
      round(is_flat ? flat(o.to) : scratch_, from, nullptr, nullptr, n);
      if (is_flat) return;
      from = scratch_;
    }
    const std::size_t size = size_of(o.to.type);
    if (is_flat) {
      std::memcpy(flat(o.to), from, n * size);
      return;
    }
    std::byte* const base = o.to.data + line_offset(o.to);
    const int log = log_of_size(o.to.type);
    over_rectangles(e_, plan_.span, o.to, first_, n, [&](std::ptrdiff_t offset, std::size_t at, const element_grid& g) {
      if (is_masked)
        common_loops().masked_scatter[log](base + offset, from + at * size,
                                           reinterpret_cast<const bool*>(at_[o.mask]) + at, g);
      else
        common_loops().scatter[log](base + offset, from + at * size, g);
    });
  }

  const evaluation& e_;
  const block_plan& plan_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* registers_;
  std::byte* scratch_;
  std::array<std::byte*, most_instructions> at_;  // by value
  std::array<std::size_t, max_rank> outer_{};
  std::size_t line_ = 0, first_ = 0;
  bool is_placed_ = false;
};

void interpret(const evaluation& e, unsigned most_threads) {
  const block_plan plan(e);
  const std::size_t all = plan.lines * plan.blocks;
  const unsigned parts = parts_for(threads_for(e, most_threads), all);
  if (parts == 1) return block_run(e, plan).run(0, all);
  on_threads(parts, [&](unsigned k) { block_run(e, plan).run(all * k / parts, all * (k + 1) / parts); });
}

struct block_interpreter::state {
  state(const evaluation& all, const block_plan& plan) : e(all), run(all, plan) {}
  const evaluation& e;
  block_run run;
};

block_interpreter::block_interpreter(const evaluation& e, const block_plan& plan)
    : state_(std::make_unique<state>(e, plan)) {}
block_interpreter::block_interpreter(block_interpreter&&) noexcept = default;
block_interpreter::~block_interpreter() = default;
std::size_t block_interpreter::compute(std::size_t k) { return state_->run.compute(k); }
std::byte* block_interpreter::value(std::uint8_t number) const { return state_->run.value(number); }
void block_interpreter::store(std::size_t output, std::byte* from) {
  state_->run.store_from(state_->e.outputs[output], from);
}

}  // namespace ferry::inline FERRY_ABI::detail
