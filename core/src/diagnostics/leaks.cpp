#include "ferry/core/leaks.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "diagnostics/leak_tracker.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "memory/memory_environment.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// Never destroyed: reports come after main. A tracker outlives its runtime and gets no more calls then.
struct trackers {
  detail::mutex mutex;
  std::map<std::uint64_t, std::unique_ptr<leak_tracker>> by_machine FERRY_GUARDED_BY(mutex);
};

trackers& all() {
  static auto* t = new trackers;
  return *t;
}

leak_tracker* find(std::uint64_t runtime) {
  lock_guard lock(all().mutex);
  const auto found = all().by_machine.find(runtime);
  return found == all().by_machine.end() ? nullptr : found->second.get();
}

// Reads only data of the CPU; makes no driver calls.
void report_at_exit() {
  lock_guard lock(all().mutex);
  for (const auto& [runtime, t] : all().by_machine)
    if (const std::string text = t->report(); !text.empty()) std::fputs(text.c_str(), stderr);
}

}  // namespace

leak_mode parse_leak_mode(std::string_view text) {
  if (text == "report") return leak_mode::report;
  if (text == "stacks") return leak_mode::stacks;
  throw parse_error(concat("'", text, "' is no way to report leaks: allowed are report and stacks"));
}

void track_leaks(runtime& m, leak_mode mode) {
  leak_tracker* t = find(m.serial());
  if (mode == leak_mode::off) {
    if (!t) return;
    m.memory().observers().remove(*t);
    t->forget();
    return;
  }
  const bool is_new = !t;
  if (is_new) {
    lock_guard lock(all().mutex);
    t = (all().by_machine[m.serial()] = std::make_unique<leak_tracker>()).get();
  }
  t->mode(mode);
  m.memory().observers().remove(*t);
  m.memory().observers().add(*t);
}

void track_leaks(leak_mode mode) { track_leaks(runtime::current(), mode); }

void detail::report_leaks_at_exit(runtime& m, leak_mode mode) {
  track_leaks(m, mode);
  // Registered while the first array is made, so that static arrays are destroyed before it runs.
  if (std::atexit(report_at_exit) != 0) std::fputs("ferry: leaks will not be reported at exit\n", stderr);
}

std::vector<outstanding_allocation> outstanding_allocations() {
  const leak_tracker* t = find(runtime::current().serial());
  return t ? t->outstanding() : std::vector<outstanding_allocation>{};
}

std::string leak_report() {
  const leak_tracker* t = find(runtime::current().serial());
  return t ? t->report() : std::string{};
}

}  // namespace ferry::inline FERRY_ABI
