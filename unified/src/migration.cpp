#include "ferry/unified/migration.hpp"

#include "ferry/core/operation.hpp"

namespace ferry::detail {

void prefetch_bytes(stream_ref s, const allocation_ref& owner, byte_range bytes, memory_location to) {
  if (!owner || bytes.begin == bytes.end) return;
  machine& m = machine::current();
  if (!to.is_host()) (void)m.properties(to.device);
  if (!m.migrates_unified()) return;
  access_list<1> uses;
  uses.add(owner, bytes, false);  // pages of an array that others only read may move below them
  submit_ordered(s, uses.get(), reach::by_copy, [&](native_stream n) {
    m.verbs().prefetch(n, const_cast<std::byte*>(bytes.begin), bytes.size(), to);
  });
}

void advise_bytes(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where) {
  if (!owner || bytes.begin == bytes.end) return;
  (void)owner.get();
  machine& m = machine::current();
  if (!where.is_host()) (void)m.properties(where.device);
  if (!m.migrates_unified()) return;
  m.verbs().advise(const_cast<std::byte*>(bytes.begin), bytes.size(), a, where);
}

}  // namespace ferry::detail
