#include "ferry/core/allocation_log.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <thread>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/runtime.hpp"
#include "memory/memory_environment.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

allocation_log::allocation_log(const std::string& file) : allocation_log(file, runtime::current()) {}

allocation_log::allocation_log(const std::string& file, runtime& m)
    : name_(file),
      file_(make_owning<std::ofstream>(file)),
      runtime_(m.serial()) {
  if (!*file_) throw error("cannot write the log of allocations '" + file + "': " + std::strerror(errno));
  *file_ << "Thread,Time,Action,Pointer,Size,Stream\n";
  m.memory().observers().add(*this);
}

allocation_log::~allocation_log() {
  runtime_registry::if_alive(runtime_, [&](runtime& m) { m.memory().observers().remove(*this); });
  lock_guard lock(mutex_);
  file_->flush();
  tell_if_failed();
}

void allocation_log::tell_if_failed() noexcept {
  if (*file_ || told_) return;
  told_ = true;
  std::fprintf(stderr, "ferry: the log of allocations '%s' is incomplete: %s\n", name_.c_str(), std::strerror(errno));
}

void allocation_log::on_allocate(allocation& a) noexcept { write("allocate", a, this_thread_state.last_timeline); }

void allocation_log::on_free(allocation& a) noexcept {
  const timeline* last = nullptr;
  {
    std::lock_guard lock(a.history);
    if (!a.history.uses().empty()) last = a.history.uses().back().by;
  }
  write("free", a, last);
}

void allocation_log::write(const char* action, const allocation& a, const void* stream) noexcept {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1000000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char row[192];
  const int n = std::snprintf(row, sizeof row, "%zu,%02d:%02d:%02d.%06d,%s,%p,%zu,0x%zx\n",
                              std::hash<std::thread::id>{}(std::this_thread::get_id()), local.tm_hour, local.tm_min,
                              local.tm_sec, static_cast<int>(micros), action, static_cast<const void*>(a.begin),
                              a.bytes, reinterpret_cast<std::uintptr_t>(stream));
  lock_guard lock(mutex_);
  file_->write(row, n);
  tell_if_failed();
}

// The log ends at program exit, after the destruction of static arrays.
void detail::log_allocations_until_exit(runtime& m, const std::string& file) {
  static std::unique_ptr<allocation_log> log;
  log = std::make_unique<allocation_log>(file, m);
}

}  // namespace ferry::inline FERRY_ABI
