// A compiler and a driver for tests of run-time compilation, and folders that tests write to.
#pragma once
#include <stdlib.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <jit/compiler.hpp>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace jit_test {

namespace jit = ferry::detail::jit;

// A new folder of this test, removed at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ferry_jit_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder: " + name);
    path = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  std::filesystem::path path;
};

// Later writes of this process fail behind so many bytes of a file.
inline void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("no limit on the size of files");
}

// Returns "code of TEXT for sm_N". Blocks while the gate is closed.
class fake_compiler final : public jit::compiler {
 public:
  std::string version() override {
    if (is_missing) throw ferry::not_supported("no compiler here");
    return version_text;
  }
  std::string compile(const jit::kernel_source& source, jit::architecture target) override {
    ++begun;
    std::unique_lock lock(mutex_);
    gate_.wait(lock, [&] { return open_; });
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    if (fails) throw jit::compile_error("kernel '" + source.entry + "' does not compile: planted");
    if (throws_other) throw std::runtime_error("planted");
    ++compiled;
    return "code of " + source.text + " for sm_" + std::to_string(target.number());
  }
  void set_gate(bool open) {
    {
      std::lock_guard lock(mutex_);
      open_ = open;
    }
    gate_.notify_all();
  }
  std::string version_text = "fake 1.0";
  std::atomic<bool> is_missing{false}, fails{false}, throws_other{false};
  std::atomic<int> begun{0}, compiled{0}, milliseconds{0};

 private:
  std::mutex mutex_;
  std::condition_variable gate_;
  bool open_ = true;
};

// The handle of a function is a pointer to the code and the entry's name that it was loaded from.
class fake_loader final : public jit::code_loader {
 public:
  std::string version() override { return version_text; }
  jit::architecture target(int device) override { return {9, device}; }
  void* load(int device, const std::string& code, const std::string& entry) override {
    ++loads;
    if (refuses) throw ferry::not_supported("planted: the driver refuses this code");
    std::lock_guard lock(mutex_);
    return &(loaded_[{device, code}] = code + " entry " + entry);
  }
  std::string version_text = "13000";
  std::atomic<bool> refuses{false};
  std::atomic<int> loads{0};

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::string> loaded_;
};

inline std::string loaded_text(const void* function) {
  return function ? *static_cast<const std::string*>(function) : "nothing";
}

}  // namespace jit_test
