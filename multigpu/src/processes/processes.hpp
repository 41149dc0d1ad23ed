// The processes of a program, and how they talk: the seam to MPI.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "processes/operation_counts.hpp"

namespace ferry {

class processes {
 public:
  // Bytes to or from another process. Those of one pair of processes and one tag arrive in order.
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
  static constexpr int usual_tag = 1;  // of what all processes do together; above: of pairs of members

  virtual ~processes() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  // The ranks of the processes on this machine, in order; this one is the local_rank()th of them.
  virtual std::span<const std::size_t> neighbours() const = 0;
  std::size_t local_rank() const;
  std::size_t local_size() const { return neighbours().size(); }

  // Sends and receives, all at once. Blocks until everything has gone and come. Throws process_error when one of the
  // others failed, ended, or did not come in time; `what` says for the text what was done.
  virtual void exchange(std::span<const outgoing> out, std::span<const incoming> in, std::string_view what) = 0;
  // Tells all others why they will wait in vain for this one; nothing can be exchanged from here on.
  virtual void fail(const std::string& why) noexcept = 0;
  // Ends all processes, this one too, where a failure cannot be thrown to anybody. Does not return.
  [[noreturn]] virtual void end_all(const std::string& why) noexcept = 0;
  // Whether several threads may talk to MPI at once: ferry's own watch does, beside the program.
  virtual bool allows_threads() const = 0;
  // How long others are waited for; zero: for ever, unless they fail or end (FERRY_COLLECTIVE_TIMEOUT).
  virtual std::chrono::steady_clock::duration patience() const = 0;
  // Why nothing can be exchanged any more, looked up now; empty while all is well.
  virtual std::string trouble() = 0;

  // What this process gives to its devices together with others. They are told when it ends, and this one learns of those
  // that did; looked up now.
  operation_counts& parts() { return parts_; }
  struct departure {
    std::size_t process;
    part_counts given;  // what concerns this one
  };
  virtual std::vector<departure> departed() = 0;

  // Every process' bytes, in the order of ranks; the same number from each.
  std::vector<std::byte> all_gather(std::span<const std::byte> mine, std::string_view what);
  // Those of one process to all.
  void broadcast(std::span<std::byte> bytes, std::size_t root, std::string_view what);

  // Calls f in every process, and waits for all. When it threw somewhere all throw: who failed what f threw, the others an
  // error that quotes the first of these. Throws process_error.
  void together(const std::string& what, const std::function<void()>& f);

  // Those that mpirun started; null for a program that was started alone. The first call starts MPI, unless the program
  // has. Throws not_supported in a build without MPI.
  static processes* world();

 private:
  operation_counts parts_;
};

// "process 1", "processes 1, 2".
std::string name_processes(std::span<const std::size_t> ranks);

// The ranks of the processes whose machine has the same name as that of `rank`; names by rank.
std::vector<std::size_t> processes_beside(std::size_t rank, std::span<const std::string> machines);

// Whether the environment is that of mpirun, srun or mpiexec.
bool started_by_a_launcher();

}  // namespace ferry
