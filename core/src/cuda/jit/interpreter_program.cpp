#include "cuda/jit/interpreter_program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

struct steps {
  std::vector<interpreter_step> all;
  std::size_t first = 0, slots = 0;
};

int values_of(const instruction& i) {
  if (is_listed(i.what)) return info_of(i.what).operands;
  return i.what == operation::load || i.what == operation::constant || i.what == operation::index ? 0 : 1;
}

// Returns the steps of a program. Slots, except those of constants, are reused after the last use of their value.
steps steps_of(const evaluation& e) {
  constexpr std::size_t to_the_end = most_instructions;
  std::array<std::size_t, most_instructions> last_use{};
  for (std::size_t k = 0; k != e.code.size(); ++k) {
    const std::uint8_t of[] = {e.code[k].a, e.code[k].b, e.code[k].c};
    last_use[k] = k;
    for (int v = 0; v != values_of(e.code[k]); ++v) last_use[of[v]] = k;
  }
  for (std::size_t k = 0; k != e.code.size(); ++k)
    if (e.code[k].what == operation::constant) last_use[k] = to_the_end;
  for (const evaluation_output& o : e.outputs) {
    last_use[o.value] = to_the_end;
    if (o.mask != evaluation_output::no_mask) last_use[o.mask] = to_the_end;
  }
  std::array<std::uint8_t, most_instructions> slot{};
  std::vector<std::uint8_t> free;
  steps s;
  const auto take = [&] {
    if (free.empty()) return static_cast<std::uint8_t>(s.slots++);
    const std::uint8_t at = free.back();
    free.pop_back();
    return at;
  };
  const auto add = [&](const instruction& i, std::uint32_t number, std::uint8_t to) {
    s.all.push_back({static_cast<std::uint8_t>(i.what), static_cast<std::uint8_t>(i.type),
                     static_cast<std::uint8_t>(i.from), to, slot[i.a], slot[i.b], slot[i.c], 0, number});
  };
  for (std::size_t k = 0; k != e.code.size(); ++k)
    if (e.code[k].what == operation::constant)
      add({operation::constant, e.code[k].type, e.code[k].type}, e.code[k].a, slot[k] = take());
  s.first = s.all.size();
  for (std::size_t k = 0; k != e.code.size(); ++k) {
    instruction i = e.code[k];
    const int values = values_of(i);
    if (i.what == operation::constant) continue;
    const std::uint32_t number = values == 0 ? i.a : 0;
    if (values == 0) i.a = 0;
    if (values < 2) i.b = i.a;
    if (values < 3) i.c = i.a;
    // A step reads its operands before it writes its result, so that these may share a slot.
    const std::array<std::uint8_t, 3> of{i.a, i.b, i.c};
    std::array<std::uint8_t, 3> from{};
    for (std::size_t v = 0; v != 3; ++v) from[v] = slot[of[v]];
    for (int v = 0; v != values; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const bool is_first = std::find(of.begin(), of.begin() + v, of[at]) == of.begin() + v;
      if (is_first && last_use[of[at]] == k) free.push_back(slot[of[at]]);
    }
    slot[k] = take();
    s.all.push_back({static_cast<std::uint8_t>(i.what), static_cast<std::uint8_t>(i.type),
                     static_cast<std::uint8_t>(i.from), slot[k], from[0], from[1], from[2], 0, number});
    if (last_use[k] == k) free.push_back(slot[k]);
  }
  for (std::size_t k = 0; k != e.outputs.size(); ++k) {
    const evaluation_output& o = e.outputs[k];
    const std::uint8_t mask = o.mask == evaluation_output::no_mask ? no_slot : slot[o.mask];
    s.all.push_back({store_code, static_cast<std::uint8_t>(o.to.type), static_cast<std::uint8_t>(e.code[o.value].type),
                     mask, slot[o.value], 0, 0, 0, static_cast<std::uint32_t>(e.operands.size() + k)});
  }
  return s;
}

std::size_t chunks_of(const evaluation& e) {
  std::size_t largest = 1;
  for (const instruction& i : e.code) largest = std::max({largest, size_of(i.type)});
  return std::max<std::size_t>(1, largest * interpreter_lanes / 16);
}

}  // namespace

interpreter_program::interpreter_program(const evaluation& e) {
  const steps s = steps_of(e);
  interpreter_header h{};
  h.rank = static_cast<std::uint16_t>(std::max<std::size_t>(e.rank, 1));
  h.row = e.rank == 0 ? 1 : e.extent[0];
  h.digits[0] = (h.row + interpreter_lanes - 1) / interpreter_lanes;
  h.positions = h.digits[0];
  for (std::size_t d = 1; d < e.rank; ++d) h.positions *= h.digits[d] = e.extent[d];
  h.is_narrow = h.positions <= std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
  h.constants = static_cast<std::uint16_t>(e.constants.size());
  h.accesses = static_cast<std::uint16_t>(e.operands.size() + e.outputs.size());
  h.steps = static_cast<std::uint16_t>(s.all.size());
  h.first_step = static_cast<std::uint16_t>(s.first);
  h.slots = static_cast<std::uint16_t>(s.slots);
  h.chunks = static_cast<std::uint16_t>(chunks_of(e));
  std::vector<interpreter_access> accesses;
  const auto add = [&](const evaluation_operand& o) {
    interpreter_access a{reinterpret_cast<char*>(o.data), {}};
    for (std::size_t d = 0; d < e.rank; ++d) a.stride[d] = o.stride_bytes[d];
    accesses.push_back(a);
  };
  for (const evaluation_operand& o : e.operands) add(o);
  for (const evaluation_output& o : e.outputs) add(o.to);
  const std::size_t bytes = sizeof h + e.constants.size_bytes() + accesses.size() * sizeof(interpreter_access) +
                            s.all.size() * sizeof(interpreter_step);
  bytes_.resize((bytes + 15) / 16);
  h.bytes = static_cast<std::uint32_t>(size());
  std::byte* to = bytes_[0].bytes;
  const auto put = [&](const void* from, std::size_t n) {
    if (n != 0) std::memcpy(to, from, n);
    to += n;
  };
  put(&h, sizeof h);
  put(e.constants.data(), e.constants.size_bytes());
  put(accesses.data(), accesses.size() * sizeof(interpreter_access));
  put(s.all.data(), s.all.size() * sizeof(interpreter_step));
}

unsigned interpreter_program::threads_for(std::size_t most) const {
  constexpr std::size_t comfortable = std::size_t{48} << 10;  // several blocks fit a multiprocessor
  for (const std::size_t limit : {std::min(comfortable, most), most})
    for (unsigned threads = 256; threads >= 32; threads /= 2)
      if (shared_bytes(threads) <= limit) return threads;
  return 0;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
