// The threads of ferry::batches: they read and upload pieces ahead of the loop, and store results after it, each in
// order.
#pragma once
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "ferry/core/detail/memory/thread_scopes.hpp"
#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

// background: separate threads read, upload and store. none: the loop's thread does, when it takes a piece.
enum class batch_threads { background, none };

// The work of a pipeline. Piece p uses slot p % depth.
class batch_work {
 public:
  // Reads a piece for a slot, on the reading thread, and passes its uploads to batch_pipeline::give. False if there is
  // no such piece.
  virtual bool load(std::size_t slot, std::size_t piece) = 0;
  // Stores the results of a slot, on the storing thread.
  virtual void store(std::size_t slot) = 0;

 protected:
  ~batch_work() = default;
};

// Used by one thread, that of the loop. The pipeline's own threads only call batch_work. If the loop's thread calls
// exit() inside the loop, they end before static objects are destroyed, because they may read them.
class batch_pipeline {
 public:
  // stores: true if slots have results to store. All work runs in these scopes, which must outlive the pipeline.
  batch_pipeline(batch_work& work, std::size_t depth, bool stores, batch_threads threads, const thread_scopes& scopes);
  // Drops the pieces that the loop has not taken, and blocks until the threads have ended.
  ~batch_pipeline();
  batch_pipeline(const batch_pipeline&) = delete;
  batch_pipeline& operator=(const batch_pipeline&) = delete;

  // Returns the slot of the next piece. Returns nothing after the last one, when all results are stored. Blocks until
  // the piece is loaded. Rethrows the exception of loading it or of storing an earlier one; there is no further piece
  // then.
  std::optional<std::size_t> next();
  // Ends the loop's work on the slot that next() returned.
  void done();
  // Adds an upload of the piece that is being read, for the uploading thread. Uploads run in order; uploads that have
  // not started when the loop ends are dropped. Blocks while an earlier upload waits: at most two have begun to read
  // besides the running one. An exception of the upload reaches the loop at this piece. settle, if any, runs after the
  // next upload, or before the loop ends: it may wait for what the upload still needs. Called by batch_work::load.
  void give(std::function<void()> upload, std::function<void()> settle = {});
  // Reads n elements of a large piece with several threads, or in the calling thread if the pipeline has no threads.
  // Calls read(first, count) for parts that cover all elements. Blocks until all are read, and rethrows the exception
  // of a part. Called by batch_work::load.
  using read_part = std::function<void(std::size_t first, std::size_t count)>;
  void read_in_parts(std::size_t n, std::size_t element_bytes, const read_part& read) const;

 private:
  struct step {
    std::function<void()> run, settle = {};
    bool is_upload = false, is_last = false;
  };
  void load_loop();
  void upload_loop();
  void store_loop();
  // True if there was a piece.
  bool load_one();
  void store_one();
  void run(function_ref<void()> work);
  void settle();
  void end_threads() FERRY_UNCHECKED_LOCKS;
  struct abandoned;
  bool is_left_by(const void* thread);
  bool is_over() const FERRY_LOCKED(mutex_) { return stopped_ || failed_; }
  bool may_load() const FERRY_LOCKED(mutex_) {
    return !is_over() && !ended_ && waiting_uploads_ == 0 && read_ < released_ + depth_;
  }
  bool may_store() const FERRY_LOCKED(mutex_) { return released_ < done_; }
  // Without threads.
  std::optional<std::size_t> next_inline() FERRY_UNCHECKED_LOCKS;

  batch_work& work_;
  const std::size_t depth_;
  const bool stores_, background_;
  const thread_scopes& scopes_;
  mutex mutex_;
  // Numbers of pieces that were read, uploaded, taken by the loop, finished by the loop, and whose slots are free
  // again. The reading thread alone uses read_. The storing thread alone changes released_, or done() if no piece is
  // stored; that thread reads it without the lock.
  std::size_t read_ = 0;
  std::size_t loaded_ FERRY_GUARDED_BY(mutex_) = 0, given_ FERRY_GUARDED_BY(mutex_) = 0;
  std::size_t done_ FERRY_GUARDED_BY(mutex_) = 0;
  std::size_t released_ = 0;
  std::deque<step> steps_ FERRY_GUARDED_BY(mutex_);  // for the uploading thread
  std::size_t waiting_uploads_ FERRY_GUARDED_BY(mutex_) = 0;
  std::function<void()> unsettled_;  // settle function of the last upload
  bool ended_ FERRY_GUARDED_BY(mutex_) = false, stopped_ FERRY_GUARDED_BY(mutex_) = false;
  std::exception_ptr failed_ FERRY_GUARDED_BY(mutex_);
  struct workers;  // the threads, and the condition variable that they wait for
  owning_ptr<workers> own_;
  const void* loop_ FERRY_GUARDED_BY(mutex_) = nullptr;  // address that identifies the thread that took the last piece
};

}  // namespace ferry::inline FERRY_ABI::detail
