// One process of several does what its first argument names. The other processes print the resulting errors.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <ferry/multigpu.hpp>
#include <ferry/multigpu/sharded_npy.hpp>

#include "nccl/nccl_transport.hpp"
#include "processes/processes.hpp"

namespace fr = ferry;

namespace {

// The odd process alone must not write beyond 100 bytes of a file. All processes get an error, and continue.
void save_to_full_disk(const fr::team& t, bool odd) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("ferry_full_" + std::to_string(::getppid()));
  if (t.is_local(0)) fs::create_directories(folder);
  const fr::sharded_array<int, 1> field(t, {1000}, {}, 7);
  if (odd) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit least{100, 100};
    if (::setrlimit(RLIMIT_FSIZE, &least) != 0) throw std::runtime_error("setrlimit");
  }
  try {
    fr::save_npy((folder / "a.npy").string(), field);
    throw std::runtime_error("nothing failed");
  } catch (const fr::error& e) {
    const bool clean = !t.is_local(0) || fs::is_empty(folder);
    std::printf("member %zu %s: %s\n", t.first_local(), clean ? "goes on" : "left a file behind", e.what());
    std::fflush(stdout);
  }
  if (t.is_local(0)) fs::remove_all(folder);
}

// The odd process publishes its operation counts, and ends; the others receive them.
void compare_counts(fr::detail::processes& all) {
  if (all.rank() == 1) {
    all.parts().enqueue({2, {0}, {}});
    all.parts().enqueue({1, {}, {2, 2}});
    return;
  }
  for (;;) {
    for (const fr::detail::processes::departure& d : all.departed()) {
      if (d.process != 1) continue;
      const bool from_0 = all.rank() == 0;
      if (d.given.collectives != 3 || d.given.sends != (from_0 ? 1 : 0) || d.given.receives != (from_0 ? 0 : 2))
        throw std::runtime_error("process 1 gave something else");
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The odd process sends and ends. The data is received much later, after other work of the stream.
void broadcast_behind_long_work(const fr::team& t, std::vector<fr::device_array<int>>& a, bool odd) {
  const std::chrono::milliseconds long_time(fr::runtime::current().is_simulated() ? 200 : 6000);
  if (!odd) fr::host_task(t.stream(t.first_local()), [=] { std::this_thread::sleep_for(long_time); });
  fr::broadcast(t, a, t.size() - 1);
  t.synchronize();
}

// The last process has no more work, and ends. The odd one is late, and ends immediately.
void receive_late(const fr::team& t, fr::device_array<int>& a, bool odd) {
  const std::size_t from = t.size() - 2;  // the odd process's only member
  fr::collective_group g(t);
  if (odd) {
    std::this_thread::sleep_for(std::chrono::seconds(12));
    g.send(a, from, 0).submit();
  } else if (t.is_local(0)) {
    g.receive(a, 0, from).submit();
  }
  t.synchronize();
}

// A program that initializes and finalizes MPI itself, single-threaded.
struct mpi_of_the_program {
  mpi_of_the_program() {
    reinterpret_cast<int (*)(int*, char***)>(::dlsym(RTLD_DEFAULT, "MPI_Init"))(nullptr, nullptr);
  }
  ~mpi_of_the_program() { reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPI_Finalize"))(); }
};

void run(const std::string& how, bool odd) {
  if (how == "counts") return compare_counts(*fr::detail::processes::world());
  if (how == "setup" && odd) ::setenv("FERRY_TRANSPORT", "pigeon", 1);
  const fr::team t = fr::team::world();
  std::vector<fr::device_array<int>> a;
  for (std::size_t m = 0; m < t.local_size(); ++m) a.emplace_back(fr::extents<1>{10}, 1, t.device(t.first_local() + m));
  fr::all_reduce(t, a, fr::plus{});
  if (odd) {
    if (how == "throw") throw std::runtime_error("its own reasons");
    if (how == "leave") std::exit(0);
    if (how == "die") std::_Exit(3);
    if (how == "hang") std::this_thread::sleep_for(std::chrono::seconds(30));
  }
  if (how == "late") return receive_late(t, a[0], odd);
  if (how == "busy") return broadcast_behind_long_work(t, a, odd);
  if (how == "graph") {  // one process never launches it
    fr::graph g = fr::capture(t.stream(t.first_local()), [&] { fr::all_reduce(t, a, fr::plus{}); });
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(30));
    g.launch(t.stream(t.first_local()));
    t.synchronize();
  }
  if (how == "sizes") {  // of a message between two processes
    const std::size_t me = t.first_local();
    fr::device_array<int> more({12}, 0, t.device(me));
    fr::collective_group g(t);
    if (me == 0) g.send(a[0], 0, t.size() - 1);
    if (t.is_local(t.size() - 1)) g.receive(more, t.size() - 1, 0);
    g.submit();
  }
  if (how == "reshard") {  // one process never calls it
    const fr::sharded_array<int, 2> rows(t, {9, 9}, {.axis = 0}, 1);
    if (odd) throw std::runtime_error("no part in this");
    (void)fr::reshard(rows, t, {.axis = 1});
    (void)fr::to_vector(rows);
  }
  if (how == "full") save_to_full_disk(t, odd);
  for (int i = 0; i < 3; ++i) fr::all_reduce(t, a, fr::plus{});
  t.synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "nccl") {
    try {
      fr::detail::nccl::need_library();
    } catch (const fr::not_supported& e) {
      return std::puts(e.what()), 1;
    }
    return 0;
  }
  const char* const needed = std::getenv("FERRY_TEST_DEVICES");
  if (!fr::runtime::current().is_simulated() && needed && fr::devices().size() < std::strtoul(needed, nullptr, 10))
    return std::puts("skipped: fewer GPUs than processes"), 77;
  const std::string how = argc > 1 ? argv[1] : "";
  std::optional<mpi_of_the_program> mpi;
  if (how == "one_thread") mpi.emplace();
  fr::detail::processes* const all = fr::detail::processes::world();
  const std::size_t rank = all ? all->rank() : 0;
  try {
    run(how, rank == 1);
  } catch (const std::exception& e) {
    std::printf("process %zu caught: %s\n", rank, e.what());
    std::fflush(stdout);
    return 1;
  }
  if (how == "one_thread") std::printf("MPI is for %s\n", all->allows_threads() ? "many threads" : "one thread");
  std::printf("process %zu is done\n", rank);
}
