#include "counters/page_counters.hpp"

#include "cupti/cupti_counters.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/detail/support/plain_text.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

migration_counters counters_of_environment() {
  const bool on = environment_switch("FERRY_MIGRATION_COUNTERS").value_or(false);
  return on ? migration_counters::on : migration_counters::off;
}

// Number of waiting events from which they are taken from the source while the program runs.
constexpr std::size_t many_events = 4096;

}  // namespace

std::string name_in_reports(const allocation& a, std::size_t bytes) {
  if (!a.name.empty()) return a.name.get();
  return "unnamed, " + fixed_text(static_cast<double>(bytes) / (1 << 20), 1) + " MiB";
}

page_counters::page_counters(runtime& m) : runtime_(m) { set(counters_of_environment()); }
page_counters::~page_counters() { set(migration_counters::off); }

void page_counters::set(migration_counters how) {
  lock_guard lock(mutex_);
  const bool on = how == migration_counters::on;
  if (on == asked_) return;
  asked_ = on;
  on ? start() : stop();
}

void page_counters::start() {
  why_not_.clear();
  if (!runtime_.migrates_unified()) {
    why_not_ = "unified memory stays where it is on this machine";
    return;
  }
  source_ = dynamic_cast<page_event_source*>(&runtime_.backend());
  if (!source_ && !runtime_.is_simulated()) {
    cupti::opened o = cupti::open();
    owned_ = std::move(o.source);
    source_ = owned_.get();
    why_not_ = o.why_not;
  } else if (!source_) {
    why_not_ = concat("the backend '", runtime_.backend().name(), "' does not count page events");
  }
  if (!source_) return;
  source_->count_page_events(true);
  lost_before_ = source_->lost_page_events();
  on_.store(true, std::memory_order_relaxed);
}

void page_counters::stop() {
  on_.store(false, std::memory_order_relaxed);
  if (source_) source_->count_page_events(false);
  source_ = nullptr;
  owned_.reset();
  why_not_.clear();
  pages_ = {};
}

void page_counters::used(allocation& a, const std::string& phase) {
  lock_guard lock(mutex_);
  if (!source_) return;
  const byte_range all = range_now(a);
  pages_.used(all, name_in_reports(a, all.size()), phase, source_->page_clock());
  if (source_->waiting_page_events() >= many_events) take(false);
}

void page_counters::take(bool flush) {
  std::vector<page_event> events;
  source_->take_page_events(events, flush);
  pages_.enter(std::move(events));
}

std::map<counted_pages::row_name, counted_moves> page_counters::read(migration_report& into) {
  lock_guard lock(mutex_);
  into.not_counted = why_not_;
  if (!source_) return {};
  take(true);
  into.is_counted = true;
  into.lost_counts = source_->lost_page_events() - lost_before_;
  return pages_.rows();
}

void page_counters::reset() {
  lock_guard lock(mutex_);
  if (!source_) return;
  take(true);
  lost_before_ = source_->lost_page_events();
  pages_.clear_rows();
}

}  // namespace ferry::inline FERRY_ABI::detail
