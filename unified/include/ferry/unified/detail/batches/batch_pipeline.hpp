// The threads under ferry::batches: pieces are read and uploaded ahead of the loop, and stored behind it, each in order.
#pragma once
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ferry/core/detail/memory/thread_scopes.hpp"

namespace ferry {

// Who reads, uploads and stores: threads of their own, or the loop's thread whenever it takes a piece.
enum class batch_threads { background, none };

namespace detail {

// What the pipeline moves. Piece p uses slot p % depth.
class batch_work {
 public:
  // Reads piece p for a slot, in the reading thread; what fills the slot goes to batch_pipeline::give. False when there is
  // no such piece.
  virtual bool load(std::size_t slot, std::size_t piece) = 0;
  // Takes the results of a slot away, in the storing thread.
  virtual void store(std::size_t slot) = 0;

 protected:
  ~batch_work() = default;
};

// Used by one thread. Its own threads call batch_work only. When that thread calls exit() inside the loop, they are ended before
// static objects are destroyed, which they may read.
class batch_pipeline {
 public:
  // stores: whether there is anything to store. All work is done as if in these scopes, which live as long as the pipeline.
  batch_pipeline(batch_work& work, std::size_t depth, bool stores, batch_threads threads, const thread_scopes& scopes);
  // Abandons pieces that the loop has not taken, and waits for the threads.
  ~batch_pipeline();
  batch_pipeline(const batch_pipeline&) = delete;
  batch_pipeline& operator=(const batch_pipeline&) = delete;

  // The slot of the next piece; none after the last one, when all results are stored. Blocks until it is loaded. Throws
  // what loading it, or storing an earlier one, has thrown: then there is no further piece.
  std::optional<std::size_t> next();
  // The loop is through with the slot that next() gave.
  void done();
  // A part of the piece that is being read, for the uploading thread: run in order, or never when the loop ends before.
  // Blocks while an earlier one waits for its turn, so that no more than two have begun to read beside the one that runs.
  // What it throws reaches the loop at the turn of the piece. settle, if any, is run behind the next upload or at the end,
  // before the loop ends: it may wait for what the upload still needs. Called by batch_work::load.
  void give(std::function<void()> upload, std::function<void()> settle = {});
  // Reads n elements of a large piece by several threads, unless the loop must have one: calls read(first, count) for parts
  // that make up all of them, blocks until all have been read, and throws what one of them threw. Called by batch_work::load.
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
  // Returns whether there was a piece.
  bool load_one();
  void store_one();
  void run(const std::function<void()>& work);
  void settle();
  void end_threads();
  struct abandoned;
  bool is_left_by(const void* thread);
  bool is_over() const { return stopped_ || failed_; }
  bool may_load() const { return !is_over() && !ended_ && waiting_uploads_ == 0 && read_ < released_ + depth_; }
  bool may_store() const { return released_ < done_; }
  std::optional<std::size_t> next_inline();

  batch_work& work_;
  const std::size_t depth_;
  const bool stores_, background_;
  const thread_scopes& scopes_;
  // Pieces that were read, uploaded, given to the loop, left by the loop, and whose slots are free again.
  std::size_t read_ = 0, loaded_ = 0, given_ = 0, done_ = 0, released_ = 0;
  std::deque<step> steps_;  // of the uploading thread
  std::size_t waiting_uploads_ = 0;
  std::function<void()> unsettled_;  // of the uploading thread's last upload
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failed_;
  std::mutex mutex_;
  struct workers;  // the threads, and what they wait for each other by
  std::unique_ptr<workers> own_;
  const void* loop_ = nullptr;  // names the thread that took a piece last
};

}  // namespace detail
}  // namespace ferry
