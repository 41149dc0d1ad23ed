// Processes that talk by MPI. Only here and in the sources beside it are MPI's headers included.
#pragma once
#include <mpi.h>

#include <chrono>
#include <list>
#include <mutex>
#include <optional>

#include "processes/processes.hpp"

namespace ferry::mpi {

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

  // At the end of the program: waits for the others to come to theirs, and ends MPI; if something failed, ends all.
  void leave() noexcept;

 private:
  enum class news : int { failed = 1, left = 2 };
  struct note {
    part_counts given;  // by who left, with whom it tells
    char text[500];     // why it failed
  };
  struct leaving {
    clock::time_point heard;
    part_counts given;
  };
  // One message, or a piece of one: MPI counts in int.
  struct piece {
    std::size_t process;
    MPI_Request request;
    bool sends = false;
  };
  std::string own_machine();
  std::vector<std::size_t> find_neighbours();
  void listen();  // takes notes that have come
  void tell_all(news what, const std::string& text) noexcept;
  bool is_gone(const piece& p, clock::time_point since) const;
  void check(int code, const char* what);
  void check_well(std::string_view what, const std::vector<piece>& pending, clock::time_point since);
  static std::string missing(const std::vector<piece>& pending);
  void fail(std::vector<piece>& pending) noexcept;

  std::recursive_mutex mutex_;  // one thread at a time talks
  MPI_Comm data_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL;
  bool is_ours_ = false;  // MPI was started here
  bool allows_threads_ = false;
  std::size_t rank_ = 0, size_ = 1;
  std::vector<std::size_t> neighbours_;
  clock::duration patience_{};  // zero: endless
  std::string trouble_;
  std::vector<std::optional<leaving>> left_;
  std::list<note> sent_;  // must live until MPI has sent them
};

}  // namespace ferry::mpi
