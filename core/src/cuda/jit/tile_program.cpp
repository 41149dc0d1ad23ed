#include "cuda/jit/tile_program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "generator/kernel_arguments.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

// Positions of threads behind the last element fit 31 bits, too.
constexpr std::size_t narrow_limit = (std::size_t{1} << 31) - (1 << 16);
constexpr std::size_t smallest_tiled_extent = 16;

// Returns float32 or float64, if all values are of this type or bool; otherwise none.
scalar_type type_of_values(const evaluation& e) {
  scalar_type type = scalar_type::none;
  const auto fits = [&](scalar_type t) {
    if (t == scalar_type::boolean) return true;
    if (t != scalar_type::float32 && t != scalar_type::float64) return false;
    if (type == scalar_type::none) type = t;
    return t == type;
  };
  for (const instruction& i : e.code) {
    if (i.what == operation::load ? !fits(computed_as(i.from)) : !fits(i.from)) return scalar_type::none;
    if (!fits(i.type)) return scalar_type::none;
    const bool is_operation = is_listed(i.what) || i.what == operation::load || i.what == operation::constant;
    if (!is_operation) return scalar_type::none;
    if (i.what == operation::constant && i.type == scalar_type::boolean) return scalar_type::none;
    if (is_listed(i.what) && i.from == scalar_type::boolean && i.what != operation::logical_and &&
        i.what != operation::logical_or && i.what != operation::logical_not)
      return scalar_type::none;
  }
  return type;
}

int operands_of(const instruction& i) { return is_listed(i.what) ? info_of(i.what).operands : 0; }

bool is_narrow(const evaluation& e) {
  if (e.count() >= narrow_limit) return false;
  const auto fits = [&](const evaluation_operand& o) {
    return std::all_of(o.stride_bytes.begin(), o.stride_bytes.begin() + static_cast<std::ptrdiff_t>(e.rank),
                       [](std::ptrdiff_t s) { return s == static_cast<std::int32_t>(s); });
  };
  return std::all_of(e.operands.begin(), e.operands.end(), fits) &&
         std::all_of(e.outputs.begin(), e.outputs.end(), [&](const evaluation_output& o) { return fits(o.to); });
}

// Assigns slots to values, and writes the steps. Operands and constants are in slots before the first step. A slot is
// reused after the last use of its values.
class slot_assignment {
 public:
  slot_assignment(const evaluation& e, tile_program& p) : e_(e), p_(p) {}

  bool write() {
    for (std::size_t k = 0; k != e_.operands.size(); ++k) p_.access[k].slot = static_cast<std::uint8_t>(k);
    slots_ = e_.operands.size();
    for (std::size_t k = 0; k != e_.code.size(); ++k)
      if (!place(k)) return false;
    find_last_uses();
    for (std::size_t k = 0; k != e_.code.size(); ++k)
      if (is_listed(e_.code[k].what) && !add(k)) return false;
    for (std::size_t k = 0; k != e_.outputs.size(); ++k) {
      const evaluation_output& o = e_.outputs[k];
      tile_access& to = p_.access[e_.operands.size() + k];
      to.slot = slot_[o.value];
      to.mask = o.mask == evaluation_output::no_mask ? tile_program::no_mask : slot_[o.mask];
    }
    p_.slots = static_cast<std::uint8_t>(slots_);
    return slots_ <= tile_program::most_slots;
  }

 private:
  // Places operands and constants.
  bool place(std::size_t k) {
    const instruction& i = e_.code[k];
    if (i.what == operation::load) slot_[k] = i.a;
    if (i.what != operation::constant) return true;
    if (p_.constants == tile_program::most_constants) return false;
    slot_[k] = static_cast<std::uint8_t>(slots_++);
    if (i.type == scalar_type::float32) {
      float value;
      std::memcpy(&value, e_.constants[i.a].bytes, sizeof value);
      p_.constant[p_.constants] = 0;
      std::memcpy(&p_.constant[p_.constants], &value, sizeof value);
    } else {
      std::memcpy(&p_.constant[p_.constants], e_.constants[i.a].bytes, sizeof(double));
    }
    p_.constant_slot[p_.constants++] = slot_[k];
    return true;
  }
  bool is_placed(std::size_t k) const { return !is_listed(e_.code[k].what); }
  void find_last_uses() {
    for (std::size_t k = 0; k != e_.code.size(); ++k) {
      const std::uint8_t of[] = {e_.code[k].a, e_.code[k].b, e_.code[k].c};
      for (int v = 0; v != operands_of(e_.code[k]); ++v) use(of[v], k);
    }
    for (const evaluation_output& o : e_.outputs) {
      use(o.value, e_.code.size());
      if (o.mask != evaluation_output::no_mask) use(o.mask, e_.code.size());
    }
  }
  // Loads of one operand share its slot, and the last use of all of them.
  std::size_t& last_use(std::size_t value) {
    return is_placed(value) ? last_use_of_slot_[slot_[value]] : last_use_[value];
  }
  void use(std::size_t value, std::size_t k) { last_use(value) = std::max(last_use(value), k); }

  bool add(std::size_t k) {
    if (p_.steps == tile_program::most_steps) return false;
    const instruction& i = e_.code[k];
    const int values = operands_of(i);
    std::array<std::uint8_t, 3> of{i.a, i.b, i.c}, from{};
    for (std::size_t v = 0; v != 3; ++v) from[v] = slot_[of[v < static_cast<std::size_t>(values) ? v : 0]];
    // A step reads its operands before it writes its result, so that these may share a slot.
    for (int v = 0; v != values; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const bool is_first = std::find(from.begin(), from.begin() + v, from[at]) == from.begin() + v;
      if (is_first && last_use(of[at]) == k) free_.push_back(from[at]);
    }
    if (free_.empty()) free_.push_back(static_cast<std::uint8_t>(slots_++));
    const std::uint8_t to = slot_[k] = free_.back();
    free_.pop_back();
    if (slots_ > tile_program::most_slots) return false;
    p_.step[p_.steps++] = {static_cast<std::uint8_t>(i.what), to, from[0], from[1], from[2]};
    if (last_use_[k] == 0) free_.push_back(to);  // no later instruction reads it
    return true;
  }

  const evaluation& e_;
  tile_program& p_;
  std::array<std::uint8_t, most_instructions> slot_{};
  std::array<std::size_t, most_instructions> last_use_{}, last_use_of_slot_{};
  std::vector<std::uint8_t> free_;
  std::size_t slots_ = 0;
};

std::uint32_t divide_up(std::size_t a, std::size_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

// Copies an access, and finds the fastest way to its elements.
void write_access(const evaluation_operand& o, const evaluation& e, tile_program& p, std::size_t at, bool is_output) {
  tile_access& a = p.access[at];
  a.data = reinterpret_cast<char*>(o.data);
  a.type = o.type;
  a.mask = tile_program::no_mask;
  std::size_t bits = reinterpret_cast<std::uintptr_t>(o.data);
  for (std::size_t d = 0; d != max_rank; ++d) {
    a.stride[d] = d < e.rank ? static_cast<std::int32_t>(o.stride_bytes[d]) : 0;
    if (d != 0) bits |= static_cast<std::size_t>(a.stride[d]);
  }
  if (p.row == 1) a.stride[0] = static_cast<std::int32_t>(size_of(o.type));
  const bool is_contiguous = a.stride[0] == static_cast<std::int32_t>(size_of(o.type));
  a.kind = o.type != p.type                           ? tile_access_kind::elements
           : is_contiguous && bits % chunk_bytes == 0 ? tile_access_kind::chunks
           : !is_output && a.stride[0] == 0           ? tile_access_kind::one
                                                      : tile_access_kind::elements;
}

// Chooses the axis of tiles: the one along which operands are contiguous that are not contiguous along axis 0.
void choose_tiles(const evaluation& e, tile_program& p) {
  if (p.threads() != tile_threads || p.row < smallest_tiled_extent) return;
  for (std::size_t k = 0; k != e.operands.size(); ++k) {
    tile_access& a = p.access[k];
    if (a.kind != tile_access_kind::elements || a.type != p.type) continue;
    const auto size = static_cast<std::int32_t>(size_of(p.type));
    if (a.stride[0] == size) continue;
    for (std::uint8_t d = 1; d < p.rank; ++d)
      if (a.stride[d] == size && e.extent[d] >= smallest_tiled_extent && (p.tile_axis == 0 || p.tile_axis == d)) {
        p.tile_axis = d;
        a.kind = tile_access_kind::transposed;
        break;
      }
  }
}

void turn_slots_to_offsets(tile_program& p) {
  const std::size_t bytes = std::size_t{chunk_bytes} * tile_chunks * p.threads();
  const auto turn = [&](std::uint16_t& slot) { slot = static_cast<std::uint16_t>(slot * bytes); };
  for (std::size_t k = 0; k != p.constants; ++k) turn(p.constant_slot[k]);
  for (std::size_t k = 0; k != p.steps; ++k)
    turn(p.step[k].to), turn(p.step[k].a), turn(p.step[k].b), turn(p.step[k].c);
  for (std::size_t k = 0; k != std::size_t{p.operands} + p.outputs; ++k) {
    turn(p.access[k].slot);
    if (p.access[k].mask != tile_program::no_mask) turn(p.access[k].mask);
  }
}

}  // namespace

unsigned tile_program::threads() const {
  unsigned n = tile_threads;
  while (n > 32 && std::size_t{chunk_bytes} * tile_chunks * n * slots > most_shared_bytes) n /= 2;
  return n;
}

std::size_t tile_program::blocks() const {
  return tile_axis != 0 ? positions : divide_up(positions, std::size_t{threads()} * tile_chunks);
}

bool tile_program::assign(const evaluation& e) {
  row = e.rank == 0 ? 1 : static_cast<std::uint32_t>(e.extent[0]);
  rank = static_cast<std::uint8_t>(std::max<std::size_t>(e.rank, 1));
  constants = steps = slots = tile_axis = 0;
  type = type_of_values(e);
  if (type == scalar_type::none || !is_narrow(e) || e.operands.size() + e.outputs.size() > most_accesses) return false;
  operands = static_cast<std::uint8_t>(e.operands.size());
  outputs = static_cast<std::uint8_t>(e.outputs.size());
  for (std::size_t k = 0; k != e.operands.size(); ++k) write_access(e.operands[k], e, *this, k, false);
  for (std::size_t k = 0; k != e.outputs.size(); ++k) write_access(e.outputs[k].to, e, *this, operands + k, true);
  if (!slot_assignment(e, *this).write()) return false;
  choose_tiles(e, *this);
  turn_slots_to_offsets(*this);
  digits[0] = divide_up(row, tile_axis != 0 ? tile_width * lanes() : lanes());
  positions = digits[0];
  for (std::size_t d = 1; d < rank; ++d) {
    digits[d] = d == tile_axis ? divide_up(e.extent[d], tile_height) : static_cast<std::uint32_t>(e.extent[d]);
    positions *= digits[d];
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const generator::divider by = generator::divider_for(digits[d]);
    extent[d] = d < e.rank ? static_cast<std::uint32_t>(e.extent[d]) : 1;
    is_tiled[d] = d == tile_axis && d != 0 ? 1 : 0;
    factor[d] = static_cast<std::uint32_t>(by.multiplier);
    shift[d] = static_cast<std::uint8_t>(by.shift);
  }
  return true;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
