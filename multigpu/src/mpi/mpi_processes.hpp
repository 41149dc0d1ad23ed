// Processes that communicate by MPI. Only this folder includes MPI's headers.
#pragma once
#include <mpi.h>

#include <chrono>
#include <list>
#include <mutex>
#include <optional>

#include "ferry/version.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {

class mpi_processes final : public processes {
 public:
  using clock = std::chrono::steady_clock;

  mpi_processes();
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  std::span<const std::size_t> neighbours() const override { return neighbours_; }
  void exchange(std::span<const outgoing> out, std::span<const incoming> in, std::string_view what) override;
  void fail(const std::string& why) noexcept override;
  [[noreturn]] void end_all(const std::string& why) noexcept override;
  std::string trouble() override;
  bool allows_threads() const override { return allows_threads_; }
  clock::duration patience() const override { return patience_; }
  std::vector<departure> departed() override;

  // For the end of the program: waits until the other processes end, too, and ends MPI. After a failure, ends all
  // processes.
  void leave() noexcept;

 private:
  enum class news : int { failed = 1, left = 2 };
  struct note {
    part_counts given;  // counts of the process that left, for the receiver
    char text[500];     // why it failed
  };
  struct leaving {
    clock::time_point heard;
    part_counts given;
  };
  // One message, or a piece of one: MPI's counts are of type int.
  struct piece {
    std::size_t process;
    MPI_Request request;
    bool sends = false;
  };
  std::string own_machine();
  std::vector<std::size_t> find_neighbours();
  void listen();  // receives notes that have arrived
  void tell_all(news what, const std::string& text) noexcept;
  bool is_gone(const piece& p, clock::time_point since) const;
  void check(int code, const char* what);
  void check_well(std::string_view what, const std::vector<piece>& pending, clock::time_point since);
  static std::string missing(const std::vector<piece>& pending);
  void fail(std::vector<piece>& pending) noexcept;

  std::recursive_mutex mutex_;  // one thread at a time communicates
  MPI_Comm data_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL;
  bool is_ours_ = false;  // ferry has started MPI
  bool allows_threads_ = false;
  std::size_t rank_ = 0, size_ = 1;
  std::vector<std::size_t> neighbours_;
  clock::duration patience_{};  // zero: without limit
  std::string trouble_;
  std::vector<std::optional<leaving>> left_;
  std::list<note> sent_;  // must live until MPI has sent them
};

}  // namespace ferry::inline FERRY_ABI::detail::mpi
