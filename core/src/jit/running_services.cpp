#include "jit/running_services.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"
#include "jit/kernel_service.hpp"
#include "support/process_exit.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {
namespace {

struct running_list {
  detail::mutex mutex;
  std::vector<kernel_service*> services FERRY_GUARDED_BY(mutex);
  bool has_ended FERRY_GUARDED_BY(mutex) = false;  // the process is ending
};

running_list& all_running() {
  static auto* list = new running_list;  // never destroyed: exit() uses it
  return *list;
}

void stop_all_running() {
  lock_guard lock(all_running().mutex);
  all_running().has_ended = true;
  for (kernel_service* s : all_running().services) s->stop();
}

}  // namespace

void add_running(kernel_service& s) {
  lock_guard lock(all_running().mutex);
  all_running().services.push_back(&s);
  if (all_running().has_ended) s.stop();
}

void remove_running(kernel_service& s) {
  lock_guard lock(all_running().mutex);
  std::erase(all_running().services, &s);
}

void stop_before_libraries_end() { std::atexit(stop_all_running); }

void stop_at_main_thread_end() { call_at_main_thread_end(stop_all_running); }

}  // namespace ferry::inline FERRY_ABI::detail::jit
