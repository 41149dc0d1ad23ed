#include "ferry/unified/migration.hpp"

#include <mutex>
#include <vector>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "migration/migration_policy.hpp"
#include "migration/places.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace detail {

void prefetch_bytes(stream_ref s, std::span<const page_destination> what) {
  refuse_inside_capture("prefetch");
  runtime& m = runtime::current();
  std::vector<access> uses;
  std::vector<page_move> moves;
  for (const page_destination& p : what) {
    check_place(m, p.to);
    if (p.bytes.begin == p.bytes.end) continue;
    allocation& a = p.owner->get(p.at);
    need_current(a);
    std::vector<byte_range> parts{p.bytes};
    if (migration_policy* known = migration_policy::of(m); known && m.migrates_unified()) {
      known->need_managed(a, "prefetch");
      if (!p.to.is_host()) parts = known->scopes().without_pinned(a, p.bytes);
    }
    for (const byte_range part : parts) {
      uses.push_back({&a, part, false, false, p.at});  // a read: other readers may run while pages move
      moves.push_back({const_cast<std::byte*>(part.begin), part.size(), p.to});
    }
  }
  for (const page_move& p : moves)
    if (!p.to.is_host()) m.pages().test_links(p.to.device);
  if (moves.empty() || !m.migrates_unified()) return;
  std::vector<allocation*> of;  // saved: the guard sorts `uses`
  for (const access& a : uses) of.push_back(a.what);
  submit_ordered(s, uses, reach::of_pages, [&](native_stream n) {
    if (moves.size() == 1)
      m.backend().prefetch(n, moves[0].begin, moves[0].bytes, moves[0].to);
    else
      m.backend().prefetch_many(n, moves, false);
  });
  if (migration_policy* known = migration_policy::of(m))
    for (std::size_t i = 0; i < moves.size(); ++i)
      known->records().sent(*of[i], {moves[i].begin, moves[i].begin + moves[i].bytes}, moves[i].to);
}

namespace {
void need_contiguous(const char* verb, bool contiguous, const allocation& of, source_line at) {
  if (!contiguous)
    throw invalid_argument(concat(verb, " of a strided view of ", array_text(of), in_line(at),
                                  ": what lies between its elements would be lost, too; discard the contiguous parts"));
}
}  // namespace

void discard_bytes(stream_ref s, const allocation_ref& owner, byte_range bytes, bool contiguous, source_line at) {
  refuse_inside_capture("discard");
  if (bytes.begin == bytes.end) return;
  need_contiguous("discard", contiguous, owner.get(at), at);
  need_current(owner.get(at));
  runtime& m = runtime::current();
  migration_policy* known = migration_policy::of(m);
  if (known && m.migrates_unified()) known->need_managed(owner.get(), "discard");
  access use{&owner.get(), bytes, true, true, at};
  submit_ordered(s, {&use, 1}, reach::by_copy, [&](native_stream n) {
    if (m.migrates_unified()) m.backend().discard(n, const_cast<std::byte*>(bytes.begin), bytes.size());
  });
  if (known) known->records().forget(owner.get(), bytes);
}

void offer_bytes(const allocation_ref& owner, byte_range bytes, bool contiguous, source_line at) {
  refuse_inside_submission("offer an array's contents");
  if (bytes.begin == bytes.end) return;
  allocation& what = owner.get(at);
  need_contiguous("discard_when_needed", contiguous, what, at);
  runtime& m = runtime::current();
  need_current(what);
  migration_policy* known = migration_policy::of(m);
  if (!known || !m.migrates_unified()) return;
  known->need_managed(what, "discard_when_needed");
  known->eviction().mark_discardable(what, bytes);
}

bool is_discardable(const allocation_ref& owner, byte_range bytes) {
  if (bytes.begin == bytes.end) return false;
  need_current(owner.get());
  migration_policy* known = migration_policy::of(runtime::current());
  return known && known->eviction().is_discardable(owner.get(), bytes);
}

namespace {
// False if there is nothing to advise about.
bool tell_driver(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where,
                 source_line at) {
  runtime& m = runtime::current();
  check_place(m, where);
  if (bytes.begin == bytes.end) return false;
  allocation& what = owner.get(at);
  need_current(what);
  if (!m.migrates_unified()) return false;
  if (migration_policy* known = migration_policy::of(m)) known->need_managed(what, "advise");
  {
    std::lock_guard lock(what.history);
    what.history.set_advised(true);
  }
  m.backend().advise(const_cast<std::byte*>(bytes.begin), bytes.size(), a, where);
  return true;
}
}  // namespace

void advise_bytes(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where,
                  source_line at) {
  if (!tell_driver(owner, bytes, a, where, at)) return;
  if (migration_policy* known = migration_policy::of(runtime::current()))
    known->advice().add(owner.get(), bytes, a, where);
}

std::uint64_t begin_advice(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where,
                           source_line at) {
  refuse_inside_capture("advise");
  migration_policy& known = migration_policy::current();  // it records which advice holds again later
  return tell_driver(owner, bytes, a, where, at) ? known.advice().begin(owner.get(), bytes, a, where) : 0;
}

void end_advice(const allocation_ref& owner, std::uint64_t number) {
  if (number == 0 || owner.is_freed()) return;
  if (migration_policy* known = migration_policy::of(runtime::current())) known->advice().end(owner.get(), number);
}

}  // namespace detail

advice_scope::~advice_scope() {
  try {
    end_advice(owner_, number_);
  } catch (const error&) {  // a device failed: its advice ends with the process
  }
}

}  // namespace ferry::inline FERRY_ABI
