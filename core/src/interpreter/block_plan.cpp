#include "interpreter/block_plan.hpp"

#include <algorithm>
#include <cstdlib>

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t least_line = 512;           // elements; shorter rows are joined into a line
constexpr std::size_t register_bytes = 16 << 10;  // of all registers together, which then fit the first cache
constexpr std::size_t most_block = 2048, tile_block = 256;

std::ptrdiff_t element_bytes(const evaluation_operand& o) { return static_cast<std::ptrdiff_t>(size_of(o.type)); }

// Returns the number of elements of a line after which those of the operand repeat; 1 if all are the same element.
std::size_t period_of(const evaluation& e, const evaluation_operand& o, std::size_t span) {
  std::size_t period = 1, all = 1;
  for (std::size_t d = 0; d != span; ++d) {
    all *= e.extent[d];
    if (o.stride_bytes[d] != 0) period = all;
  }
  return period;
}
bool is_fixed_outside(const evaluation& e, const evaluation_operand& o, std::size_t span) {
  for (std::size_t d = span; d != e.rank; ++d)
    if (o.stride_bytes[d] != 0) return false;
  return true;
}
// True if neighbors along axis 1 are neighbors in memory, and those along axis 0 are not.
bool is_transposed(const evaluation& e, const evaluation_operand& o) {
  return e.rank > 1 && !o.is_gathered && std::abs(o.stride_bytes[1]) == element_bytes(o) &&
         std::abs(o.stride_bytes[0]) > 64;
}

block_loop loop_for(operation what, scalar_type from) {
  const loop_table* const wide = avx2_loops();
  const int o = static_cast<int>(what), t = static_cast<int>(from);
  if (wide && wide->operations[o][t]) return wide->operations[o][t];
  return portable_loops().operations[o][t];
}
block_loop cast_for(scalar_type to, scalar_type from) {
  const loop_table& table = avx2_loops() ? *avx2_loops() : portable_loops();
  return table.casts[static_cast<int>(to)][static_cast<int>(from)];
}
block_loop loop_of(const instruction& i) {
  const loop_table& table = avx2_loops() ? *avx2_loops() : portable_loops();
  switch (i.what) {
    case operation::gather:
    case operation::load: return i.type == i.from ? nullptr : cast_for(i.type, i.from);
    case operation::constant:
    case operation::index:
    case operation::bounded_offset:
    case operation::call: return nullptr;
    case operation::cast: return cast_for(i.type, i.from);
    case operation::round_to_half: return table.to_half[i.from == scalar_type::float64];
    case operation::round_to_bfloat16: return table.to_bfloat16[i.from == scalar_type::float64];
    default: return loop_for(i.what, i.from);
  }
}

// True if loaded elements are stored, and the store of another output may overwrite them before, as when two arrays are
// exchanged.
bool is_stored_late(const evaluation& e, std::size_t load) {
  if (e.outputs.size() < 2) return false;
  const std::byte* const from = e.operands[e.code[load].a].data;
  return std::any_of(e.outputs.begin(), e.outputs.end(),
                     [&](const evaluation_output& o) { return o.to.data == from; }) &&
         std::any_of(e.outputs.begin(), e.outputs.end(),
                     [&](const evaluation_output& o) { return o.value == load || o.mask == load; });
}

}  // namespace

bool is_flat_on(const evaluation& e, const evaluation_operand& o, std::size_t span) {
  std::ptrdiff_t stride = element_bytes(o);
  for (std::size_t d = 0; d != span; ++d) {
    if (o.stride_bytes[d] != stride) return false;
    stride *= static_cast<std::ptrdiff_t>(e.extent[d]);
  }
  return true;
}

block_plan::block_plan(const evaluation& e, std::span<const std::uint8_t> values, std::size_t unit) {
  choose_blocks(e, unit);
  choose_steps(e, values);
}

void block_plan::choose_blocks(const evaluation& e, std::size_t unit) {
  while (span != e.rank && (span == 0 || line < least_line)) line *= e.extent[span++];
  for (std::size_t d = span; d != e.rank; ++d) lines *= e.extent[d];
  std::size_t widest = 1;
  for (const instruction& i : e.code) widest = std::max(widest, size_of(i.type));
  for (const evaluation_output& o : e.outputs) widest = std::max(widest, size_of(o.to.type));
  const std::size_t values = std::min<std::size_t>(e.code.size() + 1, 12);
  std::size_t most = std::clamp<std::size_t>(register_bytes / widest / values, 128, most_block);
  if (span == 1)
    for (const evaluation_operand& o : e.operands)
      if (is_transposed(e, o)) is_block_major = true, most = std::min(most, tile_block);
  std::size_t period = unit;  // the longest one that fits; shorter ones divide it
  for (const evaluation_operand& o : e.operands)
    if (const std::size_t p = period_of(e, o, span); p <= most) period = std::max(period, p);
  block = std::min(line, std::max(period, most / period * period));
  blocks = (line + block - 1) / block;
  if (period == 1 && blocks > 1) {  // makes blocks of equal lengths
    block = ((line + blocks - 1) / blocks + 15) / 16 * 16;
    blocks = (line + block - 1) / block;
  }
  slot_bytes = (block * widest + 63) / 64 * 64;
}

void block_plan::choose_steps(const evaluation& e, std::span<const std::uint8_t> values) {
  const std::size_t n = e.code.size();
  steps.resize(n);
  for (std::size_t k = 0; k != e.operands.size(); ++k) is_flat[k] = is_flat_on(e, e.operands[k], span);
  std::vector<std::size_t> last_use(n, 0);
  for (std::size_t k = 0; k != n; ++k) {
    block_step& s = steps[k];
    s.what = e.code[k];
    s.loop = loop_of(s.what);
    const values_read used = read_by(s.what, e.calls);
    for (const std::uint8_t v : used) last_use[v] = k;
    s.is_computed = used.count > 0;
    if (s.what.what == operation::constant) s.way = load_way::once;
    if (s.what.what == operation::index && s.what.a >= span) s.way = load_way::each_line;
    if (s.what.what != operation::load) continue;
    const evaluation_operand& o = e.operands[s.what.a];
    const std::size_t period = period_of(e, o, span);
    if (is_flat[s.what.a] && !s.loop && !is_stored_late(e, k))
      s.way = load_way::in_place;
    else if (block % period == 0 || blocks == 1)
      s.way = is_fixed_outside(e, o, span) ? load_way::once : load_way::each_line;
  }
  for (const std::uint8_t v : values) last_use[v] = n;
  stores.assign(e.outputs.size(), true);
  for (std::size_t k = 0; k != e.outputs.size(); ++k) {
    const evaluation_output& o = e.outputs[k];
    last_use[o.value] = n;
    if (o.mask != evaluation_output::no_mask) last_use[o.mask] = n;
    block_step& s = steps[o.value];
    const bool is_last = e.outputs.size() == 1 && o.value + 1u == n;
    const bool is_computed = s.is_computed && s.output < 0 && s.what.type == o.to.type;
    const bool is_read = std::any_of(e.operands.begin(), e.operands.end(),
                                     [&](const evaluation_operand& x) { return x.data == o.to.data; });
    if (is_computed && o.mask == evaluation_output::no_mask && (is_last || !is_read) && is_flat_on(e, o.to, span))
      s.output = static_cast<int>(k), stores[k] = false;
  }
  for (std::size_t k = 0; k != n; ++k)
    if (last_use[k] == 0 && is_listed(steps[k].what.what)) steps[k].way = load_way::never;
  std::vector<int> free_slots;
  const auto take_slot = [&] {
    if (free_slots.empty()) return slots++;
    const int s = free_slots.back();
    free_slots.pop_back();
    return s;
  };
  for (std::size_t k = 0; k != n; ++k) {
    block_step& s = steps[k];
    const values_read used = read_by(s.what, e.calls);
    // A register whose last use is this step is free for the result if the elements have equal sizes.
    const auto release = [&](bool equal_size) {
      for (const std::uint8_t& x : used) {
        const block_step& from = steps[x];
        const bool repeated = std::find(used.begin(), &x, x) != &x;
        if (from.slot < 0 || last_use[x] != k || repeated || from.way != load_way::each_block) continue;
        if ((size_of(from.what.type) == size_of(s.what.type)) == equal_size) free_slots.push_back(from.slot);
      }
    };
    release(true);
    const bool is_shared = s.way != load_way::each_block;  // by blocks: nothing else may use its register
    if (s.way != load_way::in_place && s.way != load_way::never && s.output < 0)
      s.slot = is_shared ? slots++ : take_slot();
    release(false);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
