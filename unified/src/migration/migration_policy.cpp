#include "migration/migration_policy.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "counters/cpu_touches.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// mincore() shows which pages the CPU has mapped: Linux unmaps those that move to a device. Four samples cost a
// microsecond or two.
bool many_on_cpu(byte_range where) {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t eighth : {1u, 3u, 5u, 7u}) {
    const auto at = reinterpret_cast<std::uintptr_t>(where.begin) + where.size() / 8 * eighth;
    unsigned char resident = 0;
    if (mincore(reinterpret_cast<void*>(at / size * size), size, &resident) == 0 && (resident & 1)) return true;
  }
  return false;
}

// Returns the same access, but of the whole array and read-only, so that it does not disturb other users.
coming_access ahead_of(const coming_access& a, byte_range all) {
  return {a.what, all, a.place, access_mode::in, a.stream, host_reach::range, all.begin, a.at};
}

// Uses by devices change the access history, which removes the mark. Host accesses do not.
void withdraw_discardable(std::vector<byte_range>& discardable, allocation& of) {
  discardable.clear();
  std::lock_guard lock(of.history);
  of.history.invalidate();
}

}  // namespace

migration_policy::migration_policy(runtime& m)
    : runtime_(m),
      records_(m),
      streams_(m),
      counters_(m),
      scopes_(m.level(), records_, settings_),
      advice_(m, records_),
      policies_(m, records_, advice_),
      moves_(m, settings_, records_, streams_, failures_),
      eviction_(m, settings_, records_, streams_) {}

migration_policy& migration_policy::current() {
  if (migration_policy* known = of(runtime::current())) return *known;
  throw not_supported(
      "this runtime was made before ferry/unified.hpp installed the migration policy: include "
      "<ferry/unified.hpp> in the program");
}

bool migration_policy::may_move(const array_record& r) const {
  return runtime_.migrates_unified() && r.is_managed && !failures_.are_too_many() && settings_.is_automatic(r);
}

surroundings migration_policy::around(const array_record& r, const coming_access& a) {
  const migration_options how = settings_.options_of(r);
  return {how,
          may_move(r),
          [this](int device, int owner) { return runtime_.peers().can_reach(device, owner, peer_memory::unified); },
          [this, &a](byte_range where, int who) { return is_read_by_others(a.what, where, who); },
          [this](byte_range where) { return runtime_.is_simulated() || many_on_cpu(where); },
          [&r](byte_range where) { return r.scopes.keeps(where); },
          [this, page = how.page, most = how.page_neighbours](byte_range where, int device) {
            return runtime_.backend().quirks().faults_fetch_neighbours &&
                   fault_batched_.is_crowded(where, page, device, most);
          }};
}

// True if another device has incomplete reads (checks cached completion, then queries). Migration streams do not count
// as readers.
bool migration_policy::is_read_by_others(allocation& what, byte_range where, int who) {
  std::vector<std::pair<timeline*, ticket>> pending;
  {
    std::lock_guard lock(what.history);
    for (const access_record& u : what.history.uses())
      if (!u.write && u.by->device() != who && u.where.overlaps(where) && !u.by->finished(u.at))
        pending.emplace_back(u.by, u.at);
  }
  return std::any_of(pending.begin(), pending.end(), [&](const auto& use) {
    const auto [by, at] = use;
    return !streams_.contain(by) && (at == open_ticket || !by->poll(at));
  });
}

// An error is only recorded: this access did not request the policy, and works without it.
void migration_policy::advise_grown(allocation& a) {
  try {
    advice_.tell_driver(a);
  } catch (const error& e) {
    failures_.add(plain_what(e));
  }
}

void migration_policy::expect_counts(allocation& a) {
  if (counters_.is_on()) counters_.used(a, this_thread_migration().phase);
}

void migration_policy::enter(const coming_access& a, const std::vector<planned>& plan) {
  const bool stays = !records_.find(a.what).is_managed;  // constant while the array lives
  log_.add(a, plan, stays);
}

void migration_policy::before_access(const coming_access& a) {
  if (&a.what.resource->backend() != &runtime_.backend()) return;  // an array of another runtime
  if (policies_.has_any()) [[unlikely]]
    policies_.take(a.what);
  expect_counts(a.what);
  std::vector<planned> plan, ahead;
  std::optional<coming_access> whole;
  {
    locked_record lock = records_.lock(a.what);
    array_record& r = *lock;
    if (r.has_grown) [[unlikely]] {
      r.has_grown = false;
      lock.unlock();
      advise_grown(a.what);
      lock.lock();
    }
    if (a.stream && !r.scopes.empty()) r.scopes.refuse_conflict(a);
    if (a.stream && r.arriving) r.stop_arrival();
    if (!a.stream) note_touch(r.touches, a);
    records_.mark_used(r);
    if (!a.stream && !r.discardable.empty()) withdraw_discardable(r.discardable, a.what);
    const std::size_t page = settings_.page();
    if (r.is_settled_at(a.place.device, a.where, r.policy ? r.policy->page.value_or(page) : page)) {
      lock.unlock();
      if (!a.stream) enter(a, plan);
      return;
    }
    const surroundings s = around(r, a);
    const auto plan_for = [&](const coming_access& b, std::vector<planned>& p) {
      b.stream ? plan_device_access(r.pages, b, s, p) : plan_host_access(r.pages, b, s, p);
    };
    const bool goes_whole = s.may_move && r.policy && r.policy->moves == array_policy::way::ahead;
    if (goes_whole) whole.emplace(ahead_of(a, r.pages.all()));
    const auto plan_ahead = [&] {  // a device prefetches ahead only pages that no other device has
      std::vector<byte_range> parts;
      for (const page_run& g : r.pages.runs())
        if (a.stream ? g.where < 0 : g.where != on_the_cpu) parts.push_back(g.range());
      for (const byte_range part : parts)
        plan_for({whole->what, part, whole->place, whole->mode, whole->stream, whole->reach, part.begin, whole->at},
                 ahead);
    };
    if (goes_whole && a.mode != access_mode::out) plan_ahead();
    plan_for(a, plan);
    if (goes_whole && a.mode == access_mode::out) plan_ahead();  // pages that `a` overwrites need no contents
  }
  if (!ahead.empty()) {
    enter(*whole, ahead);
    moves_.carry_out(*whole, ahead);
  }
  if (!a.stream || !plan.empty()) enter(a, plan);
  if (!plan.empty() && !moves_.start_beside_loop(a, plan)) moves_.carry_out(a, plan);
}

void migration_policy::before_copy(const coming_access& a) {
  if (&a.what.resource->backend() != &runtime_.backend()) return;
  if (const locked_record r = records_.lock(a.what); !r->scopes.empty()) r->scopes.refuse_conflict(a);
}

void migration_policy::need_managed(allocation& a, const char* verb) {
  expect_counts(a);
  if (!records_.is_managed(a))
    throw invalid_argument(concat(verb, ": ", array_text(a),
                                  " is memory of the program that was adopted, and stays where it is: copy it to a "
                                  "ferry::unified_array to have its pages moved"));
}

std::string migration_policy::explain(allocation& a) {
  plain_stream out;
  if (const std::string why = failures_.why_ended(); !why.empty())
    out << "  automatic migration has ended: " << why << '\n';
  const locked_record r = records_.lock(a);
  if (r->policy) out << "  policy: " << *r->policy << (r->has_own_policy ? "" : ", by the array's name") << '\n';
  const std::byte* const begin = r->pages.all().begin;
  for (const page_run& g : r->pages.runs()) {
    out << "  bytes " << (g.begin - begin) << " to " << (g.end - begin) << " believed ";
    if (g.where >= 0)
      out << "on device " << g.where;
    else
      out << (g.where == on_the_cpu ? "on the CPU" : "in an unknown location");
    out << (g.is_advised() ? ", advised by the program" : "")
        << (g.migration_disabled ? ", bounced and left alone" : "") << '\n';
  }
  for (const cpu_touch& t : std::span(r->touches).first(std::min(r->touches.size(), shown_touches)))
    out << "  " << (t.writes ? "written" : "read") << " by the CPU" << (t.elements ? ", by elements," : "") << " in "
        << (t.at.is_known() ? t.at.text() : "an unknown line") << ", " << t.checks
        << (t.checks == 1 ? " check" : " checks") << '\n';
  if (const std::string more = more_touches(r->touches); !more.empty()) out << "  " << more << '\n';
  return out.str();
}

}  // namespace ferry::inline FERRY_ABI::detail
