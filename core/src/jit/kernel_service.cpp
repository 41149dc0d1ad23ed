#include "jit/kernel_service.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "jit/running_services.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {
namespace {

constexpr const char* ended = "the process or its runtime is ending";

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

kernel_service::kernel_service(compiler& by, code_loader& loader, jit_settings settings)
    : compiler_(by),
      loader_(loader),
      settings_(std::move(settings)),
      disk_(settings_.cache, settings_.cache_bytes),
      log_(settings_.log) {
  add_running(*this);
  stop_at_main_thread_end();
}

kernel_service::~kernel_service() {
  remove_running(*this);
  stop();
  if (!is_of_parent()) return;
  // The destructors of condition variables would wait for the parent's threads. In this list they are no leaks.
  static std::atomic<changes*> not_destroyed{nullptr};
  changes* const last = changes_.release();
  last->older = not_destroyed.exchange(last);
}

bool kernel_service::is_of_parent() const { return process_ != 0 && ::getpid() != process_; }

void kernel_service::stop() noexcept {
  std::thread ending;
  {
    lock_guard lock(mutex_);
    is_stopping_ = true;
    for (kernel* k : queue_) k->set_failed(ended);
    queue_.clear();
    std::swap(ending, thread_);
  }
  // After fork(), the child process has only the thread that called it. The parent's std::thread can be neither joined
  // nor detached here, so the child moves it to an object that is never destroyed. The condition variables are as the
  // parent's threads left them: notify_all() might wait for these.
  if (is_of_parent()) {
    static auto& others = *new std::vector<std::thread>();
    others.push_back(std::move(ending));
    return;
  }
  changes_->requested.notify_all();
  changes_->settled.notify_all();
  if (ending.joinable()) ending.join();
}

kernel& kernel_service::request(int device, std::string_view shape, const std::function<kernel_source()>& make) {
  kernel& k = enlist(device, shape, make);
  if (settings_.how == mode::sync) finish(k);
  return k;
}

kernel& kernel_service::enlist(int device, std::string_view shape, const std::function<kernel_source()>& make) {
  stop_at_main_thread_end();
  lock_guard lock(mutex_);
  if (kernel* const known = table_.find(device, shape)) return *known;
  kernel_source source = make();
  std::unique_ptr<kernel>& same = kernels_[{device, source.text}];
  const bool is_new = !same;
  if (is_new) same = std::make_unique<kernel>(device, std::move(source));
  table_.add(shape, *same);
  if (!is_new) return *same;
  if (is_stopping_) {
    same->set_failed(ended);
    return *same;
  }
  queue_.push_back(same.get());
  start();
  changes_->requested.notify_one();
  return *same;
}

void kernel_service::start() {
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { work(); });
    process_ = ::getpid();
    stop_before_libraries_end();
  } catch (const std::system_error& e) {  // the system allows no more threads
    for (kernel* k : queue_) k->set_failed(concat("no thread for compiling can be started: ", e.what()));
    queue_.clear();
  }
}

void kernel_service::finish(const kernel& k) {
  unique_lock lock(mutex_);
  while (k.is_pending()) lock.wait(changes_->settled);
}

void kernel_service::finish_all() {
  unique_lock lock(mutex_);
  while (!queue_.empty() || current_) lock.wait(changes_->settled);
}

kernel_counts kernel_service::counts() const {
  lock_guard lock(mutex_);
  return counts_;
}

void kernel_service::work() {
  unique_lock lock(mutex_);
  for (;;) {
    while (!is_stopping_ && queue_.empty()) lock.wait(changes_->requested);
    if (is_stopping_) return;
    kernel& k = *queue_.front();
    current_ = &k;
    queue_.pop_front();
    lock.unlock();
    produce(k);
    lock.lock();
    current_ = nullptr;
    changes_->settled.notify_all();
  }
}

void kernel_service::produce(kernel& k) {
  const auto begin = std::chrono::steady_clock::now();
  void* function = nullptr;
  std::string failure;
  try {
    const std::string key = key_of(k);
    function = from_disk(k, key);
    if (!function) function = compiled(k, key);
  } catch (const std::exception& e) {
    failure = plain_what(e);
  }
  k.milliseconds = milliseconds_since(begin);
  settle(k, function, std::move(failure));
}

std::string kernel_service::key_of(const kernel& k) {
  std::string key = concat("ferry ", FERRY_VERSION, "\n", compiler_.version(), "\ndriver ", loader_.version(), "\nsm_",
                           loader_.target(k.device).number(), "\n", k.source.entry, "\n");
  for (const std::string& option : k.source.options) key += option + "\n";
  return key + "\n" + k.source.text;
}

void* kernel_service::from_disk(kernel& k, std::string_view key) {
  const std::optional<std::string> code = disk_.find(key);
  if (!code) return nullptr;
  try {
    void* const function = loader_.load(k.device, *code, k.source.entry);
    k.origin = kernel_origin::disk;
    return function;
  } catch (const std::exception&) {
    return nullptr;  // the driver refuses the code: the caller compiles again
  }
}

void* kernel_service::compiled(kernel& k, std::string_view key) {
  // The first compilation makes objects of the compiler's library, and exit() destroys the latest objects first.
  struct registration {
    bool& is_first;
    ~registration() {
      if (std::exchange(is_first, false)) stop_before_libraries_end();
    }
  };
  const std::string code = [&] {
    const registration at_end{compiles_first_};
    return compiler_.compile(k.source, loader_.target(k.device));
  }();
  void* const function = loader_.load(k.device, code, k.source.entry);
  k.origin = kernel_origin::compiled;
  static_cast<void>(disk_.store(key, code));  // if this fails, later processes compile again
  return function;
}

void kernel_service::settle(kernel& k, void* function, std::string failure) {
  {
    lock_guard lock(mutex_);
    if (function)
      k.set_ready(function);
    else
      k.set_failed(std::move(failure));
    ++(!function ? counts_.failed : k.origin == kernel_origin::disk ? counts_.from_disk : counts_.compiled);
    if (!function && k.source.has_substitute) report_once(k.failure);
  }
  changes_->settled.notify_all();
  try {
    log_.add(k, loader_.target(k.device));
  } catch (const std::exception&) {  // out of memory: the log lacks a line
  }
}

void kernel_service::report_once(const std::string& why) {
  if (std::exchange(has_reported_, true) || is_stopping_) return;
  std::fprintf(stderr, "ferry: kernels are interpreted, not compiled: %s\n", why.c_str());
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
