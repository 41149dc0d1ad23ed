#include "ferry/core/detail/kernels/captured_pointers.hpp"

#include <mutex>
#include <optional>
#include <string>

#include "checking/memory_checker.hpp"
#include "external/foreign_memory.hpp"
#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"
#include "support/cpu_pages.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The allocation that an address belongs to, with its state at the time of the search.
struct found_memory {
  allocation* what = nullptr;
  std::string name;
  memory_kind kind = memory_kind::device;
  int device = 0;
  byte_range bytes;
  bool is_alive = false;
};

found_memory describe(allocation& a, bool is_alive) {
  return {&a, is_alive ? a.name.get() : std::string(), a.kind, a.device, a.range(), is_alive};
}

enum class owner : std::uint8_t { array, others, cpu };
struct lookup {
  owner whose = owner::cpu;
  found_memory memory{};  // of an array
};

lookup look_up(runtime& m, const std::byte* p) {
  if (allocation* a = m.foreign().at(p)) return {owner::array, describe(*a, true)};
  pointer_attributes known;
  try {
    known = m.backend().attributes(p);
  } catch (const error&) {  // released memory: no array uses it
    return {owner::others, {}};
  }
  if (!known.is_known) return {};
  if (allocation* a = m.checker().at(p)) return {owner::array, describe(*a, true)};
  lookup found{owner::others, {}};
  m.memory().pools().each([&](memory_source& s) {
    if (found.whose == owner::array || s.kind() != known.kind) return;
    s.each_block([&](const block_info& b) {
      if (p < b.begin || p >= b.begin + b.bytes || !b.what) return;
      found = {owner::array, describe(*b.what, !b.is_free && !b.is_retained)};
    });
  });
  return found;
}

bool is_taken_for(timeline& by, allocation& a, const std::byte* p) {
  const std::lock_guard lock(a.history);
  for (const access_record& u : a.history.uses())
    if (u.by == &by && u.at == open_ticket && u.where.begin <= p && p < u.where.end) return true;
  return false;
}

std::string text_of(const found_memory& f, const std::byte* p) {
  plain_stream out;
  if (!f.is_alive) {
    out << "memory of a " << kind_name(f.kind) << " array of device " << f.device << " that was freed";
    return out.str();
  }
  out << "the " << kind_name(f.kind) << " array ";
  if (!f.name.empty()) out << "'" << f.name << "' ";
  out << "of device " << f.device << ", " << p - f.bytes.begin << " bytes behind its first element";
  return out.str();
}

// Appended to errors, because two adjacent integers may have the value of an address.
constexpr std::string_view if_no_address =
    "If these bytes are numbers and no address, pass them as arguments of the call, or set FERRY_CHECK=off";

[[noreturn]] void refuse(source_line at, const plain_value& v, std::size_t offset, const std::byte* p,
                         const std::string& whose, const std::string& remedy) {
  plain_stream out;
  if (at.is_known()) out << at.text() << ": ";
  if (v.is_capture)
    out << "a captured value of type " << v.type;
  else if (v.argument == 0)
    out << "the functor " << v.type;
  else
    out << "argument " << v.argument << ", of type " << v.type << ',';
  out << " holds the address " << static_cast<const void*>(p) << " in its bytes " << offset << " to "
      << offset + sizeof p - 1 << ": " << whose << ". " << remedy;
  throw invalid_argument(out.str());
}

[[noreturn]] void refuse_array(source_line at, const plain_value& v, std::size_t offset, const std::byte* p,
                               const found_memory& f) {
  const std::string remedy =
      !f.is_alive ? "Pass a live array as an argument of the call, as in(a), out(a) or inout(a)"
      : this_thread_state.capture
          ? "A graph orders work only by the arrays that calls name: pass it as an argument of the call, as in(a), "
            "out(a) or inout(a)"
          : "Work on it cannot be ordered by an address: pass the array as an argument of the call, as in(a), out(a) "
            "or inout(a), or take the address by ferry::pointer(a, stream) for the stream of this call, and again "
            "after "
            "each use of the array elsewhere";
  refuse(at, v, offset, p, text_of(f, p), concat(remedy, ". ", if_no_address));
}

// True if a call may hold an address of an array. That is so if its pointer was taken for the stream, or if the CPU
// runs the call and reaches the array. Addresses of freed blocks are refused only under check::uses. Such a value may
// be a number that is no pointer, or a member that the call does not use.
bool may_be_held(runtime& m, stream_ref s, used_by by, const found_memory& f, const std::byte* p) {
  if (!f.is_alive) return !m.checks.has(check::uses);
  if (this_thread_state.capture) return false;
  return (by == used_by::cpu && is_host_accessible(f.kind)) || is_taken_for(s.timeline(), *f.what, p);
}

}  // namespace

void search_value(stream_ref s, source_line at, used_by by, const plain_value& v) {
  runtime& m = runtime::current();
  for (std::size_t offset = 0; offset + sizeof(std::uintptr_t) <= v.size; offset += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(v.bytes) + offset, sizeof word);
    if (word >> 32 == 0 || word >> 48 != 0 || word % 4 != 0) continue;  // not a user-space address
    const auto* const p = reinterpret_cast<const std::byte*>(word);
    const lookup found = look_up(m, p);
    if (found.whose == owner::array) {
      if (!may_be_held(m, s, by, found.memory, p)) refuse_array(at, v, offset, p, found.memory);
    } else if (found.whose == owner::cpu && by == used_by::kernel && !m.reaches_pageable() && is_written_page(p)) {
      refuse(at, v, offset, p, "memory of the CPU, which devices do not reach",
             concat("It is a pointer, a captured reference or a captured this: copy what the kernel needs into local "
                    "variables and capture these by value ([*this] copies the object), or put it into an array. ",
                    if_no_address));
    }
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
