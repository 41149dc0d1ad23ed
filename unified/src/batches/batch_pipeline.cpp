#include "ferry/unified/detail/batches/batch_pipeline.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "ferry/core/detail/support/unique_lock.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct batch_pipeline::workers {
  std::condition_variable changed;
  std::vector<std::thread> all;
};

// Pipelines whose loop a thread left without destroying them, as exit() does. Their threads end when the thread_local
// objects of that thread are destroyed, which happens before static objects are destroyed.
struct batch_pipeline::abandoned {
  struct registry {
    detail::mutex mutex;
    std::vector<batch_pipeline*> alive FERRY_GUARDED_BY(mutex);
  };
  static registry& all() {
    static auto* const r = new registry;  // never destroyed: used until the process ends
    return *r;
  }
  static inline thread_local constinit char mark = 0;  // its address identifies the thread
  struct thread_end {
    ~thread_end() {
      std::vector<batch_pipeline*> left;
      {
        lock_guard lock(all().mutex);
        for (batch_pipeline* p : all().alive)
          if (p->is_left_by(&mark)) left.push_back(p);
      }
      for (batch_pipeline* p : left) p->end_threads();
    }
    void begin() const {}
  };
  static void watch() {
    static thread_local const thread_end watched;
    watched.begin();
  }
  static void add(batch_pipeline& p) {
    lock_guard lock(all().mutex);
    all().alive.push_back(&p);
  }
  static void remove(batch_pipeline& p) {
    lock_guard lock(all().mutex);
    std::erase(all().alive, &p);
  }
};

// True if that thread still has a piece: a loop that ends normally finishes its piece first.
bool batch_pipeline::is_left_by(const void* thread) {
  lock_guard lock(mutex_);
  return loop_ == thread && given_ > done_;
}

batch_pipeline::batch_pipeline(batch_work& work, std::size_t depth, bool stores, batch_threads threads,
                               const thread_scopes& scopes)
    : work_(work),
      depth_(depth),
      stores_(stores),
      background_(threads == batch_threads::background),
      scopes_(scopes),
      own_(make_owning<workers>()) {
  if (!background_) return;
  abandoned::add(*this);
  try {
    own_->all.emplace_back([this] { load_loop(); });
    own_->all.emplace_back([this] { upload_loop(); });
    if (stores_) own_->all.emplace_back([this] { store_loop(); });
  } catch (...) {  // a thread cannot be started: those that run must end
    end_threads();
    abandoned::remove(*this);
    throw;
  }
}

batch_pipeline::~batch_pipeline() {
  if (background_) abandoned::remove(*this);
  end_threads();
}

void batch_pipeline::end_threads() {
  {
    lock_guard lock(mutex_);
    stopped_ = true;
  }
  own_->changed.notify_all();
  for (std::thread& t : own_->all) t.join();
  own_->all.clear();
  steps_.clear();  // blocks until threads no longer read for the uploads that had begun
}

// Runs work without the lock. Records its first exception for the loop.
void batch_pipeline::run(function_ref<void()> work) {
  std::exception_ptr thrown;
  try {
    const thread_scopes::use as_the_loop_was_made(scopes_);
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    lock_guard lock(mutex_);
    if (!failed_) failed_ = thrown;
  }
  own_->changed.notify_all();
}

void batch_pipeline::load_loop() {
  for (;;) {
    {
      unique_lock lock(mutex_);
      while (!is_over() && !may_load()) lock.wait(own_->changed);
      if (is_over()) return;
    }
    if (!load_one()) return;
  }
}

bool batch_pipeline::load_one() {
  bool more = false;
  std::exception_ptr thrown;
  try {
    const thread_scopes::use as_the_loop_was_made(scopes_);
    more = work_.load(read_ % depth_, read_);  // only this thread changes read_
  } catch (...) {
    thrown = std::current_exception();
  }
  if (more) ++read_;
  const auto finish = [this, more, thrown] {
    if (thrown) std::rethrow_exception(thrown);
    lock_guard lock(mutex_);
    if (more)
      ++loaded_;
    else
      ended_ = true;
  };
  if (!background_) {
    run(finish);
    return more;
  }
  try {  // after the uploads of this piece and of earlier ones
    lock_guard lock(mutex_);
    steps_.push_back({finish, {}, false, !more});
  } catch (...) {  // out of memory
    lock_guard lock(mutex_);
    if (!failed_) failed_ = std::current_exception();
  }
  own_->changed.notify_all();
  return more;
}

void batch_pipeline::give(std::function<void()> upload, std::function<void()> settle) {
  if (!background_) {
    upload();
    if (settle) settle();
    return;
  }
  {
    unique_lock lock(mutex_);
    while (!is_over() && waiting_uploads_ != 0) lock.wait(own_->changed);
    if (is_over()) return;
    steps_.push_back({std::move(upload), std::move(settle), true});
    ++waiting_uploads_;
  }
  own_->changed.notify_all();
}

// A single thread reads the system's page cache more slowly than a device receives the data.
void batch_pipeline::read_in_parts(std::size_t n, std::size_t element_bytes, const read_part& read) const {
  constexpr std::size_t smallest = std::size_t{4} << 20, most = 8;
  const std::size_t parts = background_ ? std::clamp<std::size_t>(n * element_bytes / smallest, 1, most) : 1;
  const auto part = [&](std::size_t i) {
    const std::size_t first = n / parts * i, end = i + 1 == parts ? n : n / parts * (i + 1);
    read(first, end - first);
  };
  std::vector<std::future<void>> others;  // their destructors wait, also after an exception
  for (std::size_t i = 1; i < parts; ++i) try {
      others.push_back(std::async(std::launch::async, part, i));
    } catch (const std::system_error&) {  // a thread cannot be started
      part(i);
    }
  part(0);
  for (std::future<void>& f : others) f.get();
}

void batch_pipeline::settle() {
  if (unsettled_) run(std::exchange(unsettled_, {}));
}

void batch_pipeline::upload_loop() {
  for (;;) {
    step next;
    {
      unique_lock lock(mutex_);
      while (!is_over() && !ended_ && steps_.empty()) lock.wait(own_->changed);
      if (is_over() || ended_) break;
      next = std::move(steps_.front());
      steps_.pop_front();
      if (next.is_upload) --waiting_uploads_;
    }
    own_->changed.notify_all();
    if (next.is_last) settle();
    run(next.run);
    if (!next.is_upload) continue;
    settle();
    unsettled_ = std::move(next.settle);
  }
  settle();
}

// Stores the results of finished pieces even if the loop stops early.
void batch_pipeline::store_loop() {
  for (;;) {
    {
      unique_lock lock(mutex_);
      while (!stopped_ && !may_store()) lock.wait(own_->changed);
      if (!may_store()) return;
    }
    store_one();
  }
}

void batch_pipeline::store_one() {
  run([this] { work_.store(released_ % depth_); });  // only this thread changes released_
  {
    lock_guard lock(mutex_);
    ++released_;
  }
  own_->changed.notify_all();
}

std::optional<std::size_t> batch_pipeline::next_inline() {
  while (may_store() && stores_) store_one();
  while (may_load() && load_one()) {
  }
  if (given_ < loaded_) return given_++ % depth_;
  if (failed_) std::rethrow_exception(failed_);
  return {};
}

std::optional<std::size_t> batch_pipeline::next() {
  if (!background_) return next_inline();
  abandoned::watch();
  unique_lock lock(mutex_);
  loop_ = &abandoned::mark;
  // Pieces that were loaded before a failure are still returned. After the last piece, wait until its results are
  // stored.
  while (given_ == loaded_ && !failed_ && !(ended_ && released_ == done_)) lock.wait(own_->changed);
  if (given_ < loaded_) return given_++ % depth_;
  if (failed_) std::rethrow_exception(failed_);
  return {};
}

void batch_pipeline::done() {
  {
    lock_guard lock(mutex_);
    ++done_;
    if (!stores_) ++released_;
  }
  own_->changed.notify_all();
}

}  // namespace ferry::inline FERRY_ABI::detail
