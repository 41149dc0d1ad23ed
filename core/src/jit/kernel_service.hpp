// Kernels compiled at run time: requests, the thread that compiles, the caches.
#pragma once
#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "ferry/core/detail/support/unique_lock.hpp"
#include "ferry/version.hpp"
#include "jit/compiler.hpp"
#include "jit/disk_cache.hpp"
#include "jit/jit_settings.hpp"
#include "jit/kernel.hpp"
#include "jit/kernel_table.hpp"
#include "jit/shape_log.hpp"
#include "support/fork_guard.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

struct kernel_counts {
  std::size_t compiled = 0, from_disk = 0, failed = 0;
};

// Thread-safe. One thread finds requested kernels on disk or compiles them, and loads them. It starts at the first
// request. It ends with this object or with the process, after the kernel that it is working on.
class kernel_service {
 public:
  // by, loader: must outlive this.
  kernel_service(compiler& by, code_loader& loader, jit_settings settings);
  // Blocks until the thread has ended. Pending kernels fail.
  ~kernel_service();
  kernel_service(const kernel_service&) = delete;
  kernel_service& operator=(const kernel_service&) = delete;

  const jit_settings& settings() const { return settings_; }
  // False with FERRY_JIT=off.
  bool is_on() const { return settings_.how != mode::off; }
  // Returns the kernel of a shape; null if it was never requested. Takes no lock.
  kernel* find(int device, std::string_view shape) const noexcept { return table_.find(device, shape); }
  // Requests a kernel if find() finds none: make() is then called once, and must return the same source for the same
  // shape. Shapes with the same source share a kernel. With FERRY_JIT=sync, blocks until the kernel is not pending.
  // Requires is_on().
  kernel& request(int device, std::string_view shape, const std::function<kernel_source()>& make);
  // Blocks until the kernel is not pending.
  void finish(const kernel& k);
  // Blocks until no kernel is pending.
  void finish_all();
  kernel_counts counts() const;
  // Ends the thread. Pending and later kernels fail.
  void stop() noexcept;

 private:
  kernel& enlist(int device, std::string_view shape, const std::function<kernel_source()>& make);
  void start() FERRY_LOCKED(mutex_);
  void work();
  void produce(kernel& k);
  void* from_disk(kernel& k, std::string_view key);
  void* compiled(kernel& k, std::string_view key);
  void settle(kernel& k, void* function, std::string failure);
  std::string key_of(const kernel& k);
  // True in a child process of the one that started the thread.
  bool is_of_parent() const;
  void report_once(const std::string& why) FERRY_LOCKED(mutex_);

  compiler& compiler_;
  code_loader& loader_;
  const jit_settings settings_;
  const disk_cache disk_;
  shape_log log_;
  kernel_table table_;
  mutable mutex mutex_;
  fork_guard unlocked_by_fork_{mutex_};
  struct changes {
    std::condition_variable requested, settled;
    changes* older = nullptr;  // in the list of those that a child process cannot destroy
  };
  std::unique_ptr<changes> changes_ = std::make_unique<changes>();
  // by device and text of the source
  std::map<std::pair<int, std::string>, std::unique_ptr<kernel>> kernels_ FERRY_GUARDED_BY(mutex_);
  std::deque<kernel*> queue_ FERRY_GUARDED_BY(mutex_);
  kernel* current_ FERRY_GUARDED_BY(mutex_) = nullptr;
  bool compiles_first_ = true;  // the thread's own
  kernel_counts counts_ FERRY_GUARDED_BY(mutex_);
  bool is_stopping_ FERRY_GUARDED_BY(mutex_) = false, has_reported_ FERRY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
  pid_t process_ = 0;  // the process that started the thread
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
