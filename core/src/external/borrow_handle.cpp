// Handles of the program for memory that ferry borrows or adopts.
#include <utility>

#include "external/foreign_memory.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

borrow_handle borrow_handle::borrowed(byte_range bytes, memory_kind kind, const borrow_options& how) {
  borrow_handle l;
  if (bytes.size() == 0) return l;
  l.bytes_ = bytes;
  l.owner_ = runtime::current().foreign().borrow(bytes, kind, how, borrow_method::known);
  return l;
}

borrow_handle borrow_handle::pinned(byte_range bytes, const borrow_options& how) {
  borrow_handle l;
  if (bytes.size() == 0) return l;
  l.bytes_ = bytes;
  l.pinned_ = true;
  l.owner_ = runtime::current().foreign().borrow(bytes, memory_kind::host, how, borrow_method::pinned);
  return l;
}

borrow_handle borrow_handle::reachable(byte_range bytes, const borrow_options& how) {
  if (bytes.size() == 0) return {};
  runtime& m = runtime::current();
  const pointer_attributes memory = m.backend().attributes(bytes.begin);
  if (memory.is_known && memory.kind != memory_kind::device) return borrowed(bytes, memory.kind, how);
  if (!memory.is_known && !m.reaches_pageable()) try {
      return pinned(bytes, how);
    } catch (const not_supported& e) {
      throw not_supported(
          concat("as_unified: no device of this machine reads memory of the CPU as it is, and it cannot be pinned "
                 "either: copy it into a unified array. ",
                 plain_what(e)));
    }
  borrow_handle l;
  l.bytes_ = bytes;
  l.owner_ = m.foreign().borrow(bytes, memory_kind::unified, how, borrow_method::in_place);
  return l;
}

void borrow_handle::end_by(freed_by how, const stream_ref* before) {
  if (owner_) static_cast<foreign_memory&>(*owner_.unchecked()->resource).end(owner_, bytes_, pinned_, before, how);
}
void borrow_handle::end() { end_by(freed_by::give_back, nullptr); }
void borrow_handle::end(stream_ref before) { end_by(freed_by::give_back, &before); }

borrow_handle::~borrow_handle() {
  try {
    end_by(freed_by::end_of_borrow, nullptr);
  } catch (const error&) {  // the next call that uses the device reports it
  }
}

allocation_ref adopt_block(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                           block_deleter deleter) {
  if (bytes.size() == 0) {
    if (!bytes.begin) return {};
    throw invalid_argument("adopt of no elements: there is nothing to own, and the pointer remains yours");
  }
  return runtime::current().foreign().adopt(bytes, kind, how, wants_stream, std::move(deleter));
}

}  // namespace ferry::inline FERRY_ABI::detail
