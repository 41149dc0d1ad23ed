// The processes of a program and their communication: the interface to MPI.
#pragma once
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/version.hpp"
#include "processes/operation_counts.hpp"

namespace ferry::inline FERRY_ABI::detail {

class processes {
 public:
  // Bytes to or from another process. Messages of one pair of processes and one tag arrive in order.
  struct outgoing {
    std::size_t process;
    int tag;
    const std::byte* data;
    std::size_t bytes;
  };
  struct incoming {
    std::size_t process;
    int tag;
    std::byte* data;
    std::size_t bytes;
  };
  static constexpr int usual_tag = 1;  // for operations of all processes; greater tags are for pairs of members

  virtual ~processes() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  // Returns the ranks of the processes on this machine, in order. This process is at index local_rank().
  virtual std::span<const std::size_t> neighbours() const = 0;
  std::size_t local_rank() const;
  std::size_t local_size() const { return neighbours().size(); }

  // Sends and receives all messages concurrently. Blocks until all are complete. Throws process_error if another
  // process failed, ended, or did not arrive in time. `what` names the operation in the error text.
  virtual void exchange(std::span<const outgoing> out, std::span<const incoming> in, std::string_view what) = 0;
  // Tells all other processes why this one will not take part. No exchange is possible afterwards.
  virtual void fail(const std::string& why) noexcept = 0;
  // Ends all processes, including this one, for failures that no call can throw. Does not return.
  [[noreturn]] virtual void end_all(const std::string& why) noexcept = 0;
  // True if several threads may call MPI concurrently, as ferry's watchdog and the program do.
  virtual bool allows_threads() const = 0;
  // How long to wait for other processes. Zero: without limit, unless they fail or end (FERRY_COLLECTIVE_TIMEOUT).
  virtual std::chrono::steady_clock::duration patience() const = 0;
  // Checks for failures, and returns why no exchange is possible; empty if it is.
  virtual std::string trouble() = 0;

  // Counts of operations that this process enqueues on devices together with others. When it ends, the others receive
  // these counts.
  operation_counts& parts() { return parts_; }
  struct departure {
    std::size_t process;
    part_counts given;  // operations that concern this process
  };
  // Checks for processes that have ended, and returns them.
  virtual std::vector<departure> departed() = 0;

  // Returns the bytes of every process, in the order of ranks. All processes must pass the same number of bytes.
  std::vector<std::byte> all_gather(std::span<const std::byte> mine, std::string_view what);
  // Copies the bytes of one process to all.
  void broadcast(std::span<std::byte> bytes, std::size_t root, std::string_view what);

  // Calls f in every process, and blocks until all calls have ended. If one throws, all processes throw. A process
  // whose f failed rethrows its exception; the others throw an error that quotes the first one. Throws process_error.
  void together(const std::string& what, function_ref<void()> f);

  // Returns the processes that mpirun started; null for a program that was started alone. The first call starts MPI,
  // unless the program has. Throws not_supported in a build without MPI.
  static processes* world();

 private:
  operation_counts parts_;
};

// Returns "process 1", or "processes 1, 2".
std::string name_processes(std::span<const std::size_t> ranks);

// Returns the ranks of the processes on the same machine as `rank`. machines: the name of each rank's machine.
std::vector<std::size_t> processes_beside(std::size_t rank, std::span<const std::string> machines);

// True if the environment is that of mpirun, srun or mpiexec.
bool started_by_a_launcher();

}  // namespace ferry::inline FERRY_ABI::detail
