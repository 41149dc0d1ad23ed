// One process of several does what its first argument says; the others print what they learn of it.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <ferry/multigpu.hpp>
#include <ferry/multigpu/sharded_npy.hpp>

#include "nccl/nccl_transport.hpp"
#include "processes.hpp"

namespace fr = ferry;

namespace {

// For the odd process alone: it must not write beyond 100 bytes of a file. All get an error, and go on.
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

void run(const std::string& how, bool odd) {
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
  if (how == "graph") {  // which one never launches
    fr::graph g = fr::capture(t.stream(t.first_local()), [&] { fr::all_reduce(t, a, fr::plus{}); });
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(30));
    g.launch(t.stream(t.first_local()));
    t.synchronize();
  }
  if (how == "sizes") {  // of what one process sends to another
    const std::size_t me = t.first_local();
    fr::device_array<int> more({12}, 0, t.device(me));
    fr::collective_group g(t);
    if (me == 0) g.send(a[0], 0, t.size() - 1);
    if (t.is_local(t.size() - 1)) g.receive(more, t.size() - 1, 0);
    g.submit();
  }
  if (how == "reshard") {  // which one never comes to
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
      fr::nccl::need_library();
    } catch (const fr::not_supported& e) {
      return std::puts(e.what()), 1;
    }
    return 0;
  }
  const char* const needed = std::getenv("FERRY_TEST_DEVICES");
  if (!fr::machine::current().is_simulated() && needed && fr::devices().size() < std::strtoul(needed, nullptr, 10))
    return std::puts("skipped: fewer GPUs than processes"), 77;
  fr::processes* const all = fr::processes::world();
  const std::string how = argc > 1 ? argv[1] : "";
  const std::size_t rank = all ? all->rank() : 0;
  try {
    run(how, rank == 1);
  } catch (const std::exception& e) {
    std::printf("process %zu caught: %s\n", rank, e.what());
    std::fflush(stdout);
    return 1;
  }
  std::printf("process %zu is done\n", rank);
}
