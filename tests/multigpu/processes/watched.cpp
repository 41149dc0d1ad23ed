// The watchdog of NCCL operations between processes, with simulated devices and a fake NCCL. An operation waits until
// the program releases it, or NCCL is aborted. The odd process deviates from the others, as the first argument says.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <ferry/multigpu.hpp>

#include "multigpu/fake_nccl.hpp"
#include "nccl/nccl_transport.hpp"
#include "processes/processes.hpp"

namespace fr = ferry;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> go_on{false};

void wait_to_go_on() {
  while (!go_on) std::this_thread::sleep_for(1ms);
}

std::vector<std::jthread> workers;  // destroyed before the runtime

// A waiting or submitting thread runs simulated work. This uses its own thread, and blocks until the work has begun.
void begin_on_host(fr::native_stream s, const std::function<void()>& task) {
  fr::detail::backend& backend = fr::runtime::current().backend();
  std::atomic<bool> begun{false};
  workers.emplace_back([&, s] {
    backend.run_on_host(s, [&begun, task] { begun = true, task(); });
    backend.synchronize(s);
  });
  while (!begun) std::this_thread::yield();
}

struct program {
  fr::detail::processes& all = *fr::detail::processes::world();
  const bool odd = all.rank() == 1;
  fr::team t = [&] {
    const fr::device mine = fr::devices().front();
    return fr::team({&mine, 1}, all.rank(), all.size(),
                    fr::detail::nccl::make_transport(fr::detail::rank_layout{all.size(), all.rank(), {mine}}, all));
  }();
  fr::stream_ref s = t.stream(all.rank());
  std::vector<fr::device_array<int>> a = [this] {
    std::vector<fr::device_array<int>> one;
    one.emplace_back(fr::extents<1>{10}, 1, s.where());
    return one;
  }();

  void all_reduce() { fr::all_reduce(t, a, fr::plus{}); }
  fr::graph capture() {
    return fr::capture(s, [&] { all_reduce(); });
  }

  // The last process does not take part in the first one's receive from the odd one.
  void apart() {
    if (all.rank() == 2) return;
    fr::collective_group g(t);
    if (odd) {
      std::this_thread::sleep_for(2s);
      go_on = true;
      g.send(a[0], 1, 0).submit();
    } else {
      g.receive(a[0], 0, 1).submit();
      std::this_thread::sleep_for(3s);
      go_on = true;
    }
    t.synchronize();
  }
  // The odd process took part, and ended. The others reach the operation later than the timeout.
  void behind() {
    go_on = true;
    if (!odd) begin_on_host(s.timeline().stream(), [] { std::this_thread::sleep_for(4s); });
    all_reduce();
    t.synchronize();
  }
  // The NCCL call itself waits for earlier work of this process's device, longer than the timeout for other processes.
  void busy() {
    std::atomic<bool> over{false};
    begin_on_host(s.timeline().stream(), [&over] { std::this_thread::sleep_for(4s), over = true; });
    fake_nccl().gives = [&over](void*) {
      while (!over) std::this_thread::sleep_for(1ms);
    };
    all_reduce();
    t.synchronize();
  }
  // The odd process takes part in fewer operations.
  void missing() {
    if (odd) return;
    try {
      (void)fr::capture(s, [&] {
        all_reduce();
        throw 5;
      });
    } catch (int) {
    }
    (void)capture();  // these graphs are destroyed before NCCL is aborted
    all_reduce();
    t.synchronize();
  }
  // A graph exists that no process launches.
  void graph() {
    if (odd) return;
    const fr::graph g = capture();
    all_reduce();
    t.synchronize();
  }
  // Launches count, and launches inside other graphs count when they run: the odd process launched fewer.
  void launches() {
    go_on = true;
    fr::graph g = capture(), twice = fr::capture(s, [&] { g.launch(s), g.launch(s); });
    if (odd)
      g.launch(s), all_reduce();
    else
      twice.launch(s);
    t.synchronize();
    if (odd) return;
    g = fr::capture(s, [] {}), twice = fr::capture(s, [] {});
    go_on = false;
    all_reduce();
    t.synchronize();
  }
  // The NCCL call itself waits for the odd process.
  void call() {
    if (odd) return;
    fake_nccl().gives = [](void*) { wait_to_go_on(); };
    all_reduce();
  }
  // A thread exchanges messages, which takes long; submitting threads need not wait for it.
  void exchange() {
    int word = 0;
    const std::size_t other = odd ? 0 : 1;
    const fr::detail::processes::incoming in{other, 9, reinterpret_cast<std::byte*>(&word), sizeof word};
    const fr::detail::processes::outgoing out{other, 9, reinterpret_cast<std::byte*>(&word), sizeof word};
    go_on = true;
    if (odd) {
      std::this_thread::sleep_for(3s);
      all.exchange({&out, 1}, {}, "a message");
    } else if (all.rank() == 0) {
      std::thread talker([&] { all.exchange({}, {&in, 1}, "a message"); });
      std::this_thread::sleep_for(500ms);
      const auto since = std::chrono::steady_clock::now();
      for (int i = 0; i < 10; ++i) all_reduce(), std::this_thread::sleep_for(50ms);
      const bool waited = std::chrono::steady_clock::now() - since > 2s;
      talker.join();
      t.synchronize();
      if (waited) throw std::runtime_error("submitting waited for an exchange");
      return;
    }
    for (int i = 0; i < 10; ++i) all_reduce();
    t.synchronize();
  }
};

}  // namespace

int main(int, char** argv) {
  const std::string how = argv[1];
  const fr::simulation runtime("devices=1;schedule=random:1");
  const struct last_words {
    ~last_words() { workers.clear(); }
  } join_workers;
  fr::detail::backend& backend = fr::runtime::current().backend();
  fake_nccl().aborts = [] { go_on = true; };
  fake_nccl().gives = [&backend](void* stream) {
    fr::native_stream s{};
    s.handle = stream;
    if (!go_on && !backend.is_capturing(s)) begin_on_host(s, wait_to_go_on);
  };
  const std::size_t rank = fr::detail::processes::world()->rank();
  try {
    program p;
    if (how == "apart") p.apart();
    if (how == "behind") p.behind();
    if (how == "busy") p.busy();
    if (how == "missing") p.missing();
    if (how == "graph") p.graph();
    if (how == "launches") p.launches();
    if (how == "call") p.call();
    if (how == "exchange") p.exchange();
  } catch (const std::exception& e) {
    std::printf("process %zu caught: %s\n", rank, e.what());
    std::fflush(stdout);
    return 1;
  }
  std::printf("process %zu is done\n", rank);
}
