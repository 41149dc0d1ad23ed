#include "ferry/core/operation.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"

namespace ferry::detail {

namespace {

// Throws peer_access_error, which names the array.
void need_reach(machine& m, int device, const access& a) {
  try {
    if (a.what->kind == memory_kind::device) m.need_peer(device, a.what->device, a.what->sort());
    a.what->home->need_peer(*a.what, device);
  } catch (const peer_access_error& e) {
    throw peer_access_error(use_text(a) + ": " + std::string(e.text()));
  }
}

// The links on which pages may travel for the work, if it uses any.
void test_pages(machine& m, stream_ref s, std::span<const access> uses) {
  const auto is_unified = [](const access& a) { return a.what->kind == memory_kind::unified; };
  if (std::none_of(uses.begin(), uses.end(), is_unified)) return;
  m.test_pages(s.line().device());
  for (const access& a : uses)  // copies run kernels there, too
    if (a.what->kind == memory_kind::device) m.test_pages(a.what->device);
}

// Pinned memory is told of only while the CPU has some of it in a way that is followed.
bool is_held_somewhere(const allocation& a) {
  return a.kind == memory_kind::host && access_policy::held_beside_unified.load(std::memory_order_relaxed) != 0;
}

}  // namespace

void need_access(stream_ref s, std::span<const access> uses, reach how) {
  machine& m = machine::current();
  if (&s.line().family() != &m.streams())
    throw invalid_argument(
        "the stream belongs to another machine (another backend or simulation) than the current one: "
        "make streams and arrays inside the same ferry::simulation");
  for (const access& a : uses) {
    if (&a.what->home->verbs() != &m.verbs())
      throw invalid_argument(use_text(a) +
                             " belongs to another machine (another backend or simulation) than the current one: make "
                             "streams and arrays inside the same ferry::simulation");
    if (how == reach::by_kernel) need_reach(m, s.line().device(), a);
  }
  test_pages(m, s, uses);
  if (m.peers().loses_pages()) [[unlikely]]
    m.keep_pages(s.line(), uses);
  if (how == reach::by_kernel) announce(m, s.line(), uses);
}

void announce_to(access_policy& p, timeline& on, std::span<const access> uses) {
  if (this_thread_state.capture || this_thread_state.submitting) return;  // refused, or told when the graph is launched
  for (const access& a : uses) {
    // Bytes that the same call reads, too, are not without contents.
    const bool is_read = a.whole && std::any_of(uses.begin(), uses.end(), [&](const access& b) {
                           return b.what == a.what && !b.whole && b.where.overlaps(a.where);
                         });
    const access_mode mode = !a.write ? access_mode::in : a.whole && !is_read ? access_mode::out : access_mode::inout;
    const auto coming = [&]() -> coming_access {
      return {*a.what, a.where, {on.device()}, mode, &on, host_reach::range, nullptr, a.at};
    };
    if (a.what->kind == memory_kind::unified)
      p.before_access(coming());
    else if (is_held_somewhere(*a.what)) [[unlikely]]
      p.before_copy(coming());
  }
}

void announce_copy(stream_ref s, std::span<const access> uses) {
  access_policy* const p = machine::current().policy();
  if (!p || this_thread_state.capture || this_thread_state.submitting) return;
  for (const access& a : uses)
    if (a.what->kind == memory_kind::unified || is_held_somewhere(*a.what))
      p->before_copy({*a.what,
                      a.where,
                      {s.line().device()},
                      a.write ? access_mode::inout : access_mode::in,
                      &s.line(),
                      host_reach::range,
                      nullptr,
                      a.at});
}

}  // namespace ferry::detail
