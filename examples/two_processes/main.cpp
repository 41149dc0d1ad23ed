// Two processes share a pool of device memory. The parent exports it by file descriptor and hands an array over with an
// event. The child works on the array and hands it back; no data is copied. Then the child is killed while it owns the
// array: the parent reports this, and continues.
#include <csignal>
#include <iostream>
#include <vector>

#include <sys/wait.h>

#include <ferry/ferry.hpp>

#include "channel.hpp"

namespace fr = ferry;

namespace {

constexpr std::size_t n = 1 << 20;
constexpr int rounds = 3;

FERRY_FUNCTOR(number, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = static_cast<float>(i % 1000); }
});
FERRY_FUNCTOR(twice, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] *= 2; }
});

// Sent once from the parent to the child.
struct greeting {
  fr::array_key where;
  fr::shared_event_key given, returned;
};

void child(channel& parent) {
  const int fd = parent.receive_descriptor();
  fr::imported_pool pool(fr::device(0), fd);
  ::close(fd);
  const auto g = parent.receive<greeting>();
  const fr::shared_event given(g.given), returned(g.returned);
  fr::stream s;
  auto x = pool.open<float>(g.where);
  for (int round = 0;; ++round) {
    (void)parent.receive<int>();  // the event is recorded
    fr::take_over(s, x, given);
    if (round == rounds) break;
    fr::parallel_for(s, n, twice{}, x);
    fr::hand_over(s, x, returned);
    parent.send(round);
  }
  s.synchronize();
  parent.send(rounds);
  for (;;) ::pause();  // owns the array, and never returns it
}

void parent(channel& child, pid_t pid) {
  fr::pool pool(fr::device(0), {.kind = fr::pool_kind::driver, .shareable = true});
  const int fd = fr::export_pool(pool);
  child.send_descriptor(fd);
  ::close(fd);
  const fr::pool_scope use(pool);
  fr::device_array<float> x({n}, fr::device(0));
  const fr::shared_event given(fr::device(0)), returned(fr::device(0));
  child.send(greeting{fr::share(x), given.key(), returned.key()});

  fr::stream s;
  fr::parallel_for(s, n, number{}, fr::out(x));
  for (int round = 0; round < rounds; ++round) {
    fr::hand_over(s, x, given);  // no CPU wait for a device
    child.send(round);
    (void)child.receive<int>();
    fr::take_over(s, x, returned);
    fr::parallel_for(s, n, twice{}, x);
  }
  const auto v = fr::to_vector(x);
  for (std::size_t i = 0; i < n; ++i)
    if (v[i] != static_cast<float>(i % 1000) * 64) throw std::runtime_error("wrong data at " + std::to_string(i));
  std::cout << "two processes doubled " << n << " elements " << rounds << " times each, in one array\n";

  fr::hand_over(s, x, given);
  child.send(rounds);
  (void)child.receive<int>();  // now the child owns the array
  ::kill(pid, SIGKILL);
  try {
    (void)child.receive<int>();
    throw std::logic_error("the child answers after its death");
  } catch (const peer_died& e) {
    std::cout << "the child was killed: " << e.what() << '\n';
  }
  fr::parallel_for(s, n, number{}, fr::out(x));  // the memory belongs to this process, and is still usable
  if (fr::to_vector(x)[999] != 999.f) throw std::runtime_error("the array is broken");
  std::cout << "the parent goes on\n";
}

}  // namespace

int main() try {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no socket");
  const pid_t pid = ::fork();  // before any CUDA call
  if (pid == 0) {
    ::close(ends[0]);
    channel to(ends[1]);
    try {
      child(to);
    } catch (const std::exception& e) {
      std::cerr << "child: " << e.what() << '\n';
    }
    ::_exit(1);
  }
  ::close(ends[1]);
  struct reap {
    pid_t pid;
    ~reap() {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  } const later{pid};
  channel to(ends[0]);
  parent(to, pid);
  return 0;
} catch (const fr::not_supported& e) {
  // Simulated devices exist in one process only; some systems cannot share.
  std::cout << "skipped: " << e.what() << '\n';
  return 77;  // ctest counts this status as skipped
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
