// The threads under ferry::batches: pieces are loaded ahead of the loop, and stored behind it, each in order.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ferry {

// Who loads and stores: threads of their own, or the loop's thread whenever it takes a piece.
enum class batch_threads { background, none };

namespace detail {

// What the pipeline moves. Piece p uses slot p % depth.
class batch_work {
 public:
  // Fills a slot with piece p, in the loading thread. False when there is no such piece.
  virtual bool load(std::size_t slot, std::size_t piece) = 0;
  // Takes the results of a slot away, in the storing thread.
  virtual void store(std::size_t slot) = 0;

 protected:
  ~batch_work() = default;
};

// Used by one thread. Its own threads call batch_work only.
class batch_pipeline {
 public:
  // stores: whether there is anything to store.
  batch_pipeline(batch_work& work, std::size_t depth, bool stores, batch_threads threads);
  // Abandons pieces that the loop has not taken, and waits for the threads.
  ~batch_pipeline();
  batch_pipeline(const batch_pipeline&) = delete;
  batch_pipeline& operator=(const batch_pipeline&) = delete;

  // The slot of the next piece; none after the last one, when all results are stored. Blocks until it is loaded. Throws
  // what loading it, or storing an earlier one, has thrown: then there is no further piece.
  std::optional<std::size_t> next();
  // The loop is through with the slot that next() gave.
  void done();

 private:
  void load_loop();
  void store_loop();
  void load_one();
  void store_one();
  bool may_load() const { return !stopped_ && !ended_ && !failed_ && loaded_ < released_ + depth_; }
  bool may_store() const { return released_ < done_; }
  std::optional<std::size_t> next_inline();

  batch_work& work_;
  const std::size_t depth_;
  const bool stores_;
  // Pieces that were loaded, given to the loop, left by the loop, and whose slots are free again.
  std::size_t loaded_ = 0, given_ = 0, done_ = 0, released_ = 0;
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace detail
}  // namespace ferry
