// Scans on the CPU: each element is combined with those before it along one axis.
#include <algorithm>
#include <vector>

#include "interpreter/block_interpreter.hpp"
#include "interpreter/cpu_threads.hpp"
#include "interpreter/reduction_layout.hpp"
#include "interpreter/reduction_steps.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The state of one output in one thread: its running values, and memory for a block of results.
struct running_output {
  running_output(const reduction_evaluation& r, const reduction_output& o, std::size_t width, std::size_t block)
      : loops(&common_reduction_loops().scan[static_cast<int>(o.what)][static_cast<int>(r.input.code[o.value].type)]),
        output(&o),
        size(size_of(r.input.code[o.value].type)),
        carry(width * scan_carry_bytes),
        results(block * size) {}
  void clear(std::size_t first, std::size_t n) {
    loops->clear(carry.data() + first * scan_carry_bytes, n, output->has_initial ? output->initial.bytes : nullptr);
  }
  const scan_loops* loops;
  const reduction_output* output;
  std::size_t size;
  std::vector<std::byte> carry, results;
};

// Scans a block of rows of `inner` elements, each with its own running value. before: number of elements before the
// block, in its line or, if lines are wide, in its column.
void scan_rows(running_output& o, std::byte* to, const std::byte* x, std::size_t n, std::size_t before,
               const reduction_layout& layout) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t row = (before + done) / layout.inner, index = row % layout.reduced;
    if (index == 0) o.clear(0, layout.inner);
    if (layout.inner == 1) {
      const std::size_t run = std::min(n - done, layout.reduced - index);
      o.loops->along(to + done * o.size, x + done * o.size, run, o.carry.data(), o.output->is_exclusive);
      done += run;
    } else {
      o.loops->each(to + done * o.size, x + done * o.size, layout.inner, o.carry.data(), o.output->is_exclusive);
      done += layout.inner;
    }
  }
}

struct scanning_thread {
  // e: the input, with the outputs of the scan.
  scanning_thread(const reduction_evaluation& r, const evaluation& e, const block_plan& plan, std::size_t width)
      : blocks(e, plan) {
    for (const reduction_output& o : r.results) outputs.emplace_back(r, o, width, plan.block);
  }
  block_interpreter blocks;
  std::vector<running_output> outputs;
};

}  // namespace

void scan_on_cpu(const reduction_evaluation& r, unsigned most_threads) {
  const reduction_layout layout(r);
  // The interpreter stores the results, as blocks of outputs.
  std::vector<evaluation_output> stored;
  std::vector<std::uint8_t> values;
  for (const reduction_output& o : r.results) {
    stored.push_back({o.to, o.value});
    values.push_back(o.value);
  }
  evaluation e = r.input;
  e.outputs = stored;
  const bool is_wide = !layout.is_short() && layout.inner >= shortest_run;
  block_plan plan(e, values, layout.is_short() ? layout.group() : is_wide ? 1 : layout.inner);
  plan.is_block_major = false;
  // A chain is a sequence of blocks, at equal distances, that one thread scans in order.
  const std::size_t lines = is_wide ? layout.inner / plan.line : 1, stride = is_wide ? lines * plan.blocks : 1;
  const std::size_t all = plan.lines * plan.blocks;
  const std::size_t chains = layout.is_short() ? all : is_wide ? layout.outer * stride : layout.outer;
  const std::size_t steps = all / chains;
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(threads_for(e, most_threads), chains));
  std::vector<scanning_thread> own;
  own.reserve(threads);
  for (unsigned k = 0; k != threads; ++k) own.emplace_back(r, e, plan, is_wide ? plan.block : layout.inner);
  on_threads(threads, [&](unsigned thread) {
    scanning_thread& t = own[thread];
    for (std::size_t chain = chains * thread / threads; chain != chains * (thread + 1) / threads; ++chain) {
      const std::size_t first = is_wide ? chain / stride * layout.reduced * stride + chain % stride : chain * steps;
      for (std::size_t step = 0; step != steps; ++step) {
        const std::size_t n = t.blocks.compute(first + step * stride);
        for (std::size_t k = 0; k != t.outputs.size(); ++k) {
          running_output& o = t.outputs[k];
          const std::byte* const x = t.blocks.value(o.output->value);
          std::byte* const to = plan.stores[k] ? o.results.data() : t.blocks.value(o.output->value);
          if (is_wide) {
            if (step == 0) o.clear(0, n);
            o.loops->each(to, x, n, o.carry.data(), o.output->is_exclusive);
          } else {
            const std::size_t before =
                layout.is_short() ? 0 : step / plan.blocks * plan.line + step % plan.blocks * plan.block;
            scan_rows(o, to, x, n, before, layout);
          }
          if (plan.stores[k]) t.blocks.store(k, to);
        }
      }
    }
  });
}

}  // namespace ferry::inline FERRY_ABI::detail
