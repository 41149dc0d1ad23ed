// One process of several does what its first argument says; the others print what they learn of it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <ferry/multigpu.hpp>

#include "processes.hpp"

namespace fr = ferry;

namespace {

void run(const std::string& how, bool odd) {
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
  if (how == "sizes") {  // of what one process sends to another
    const std::size_t me = t.first_local();
    fr::device_array<int> more({12}, 0, t.device(me));
    fr::collective_group g(t);
    if (me == 0) g.send(a[0], 0, t.size() - 1);
    if (t.is_local(t.size() - 1)) g.receive(more, t.size() - 1, 0);
    g.submit();
  }
  for (int i = 0; i < 3; ++i) fr::all_reduce(t, a, fr::plus{});
  t.synchronize();
}

}  // namespace

int main(int argc, char** argv) {
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
