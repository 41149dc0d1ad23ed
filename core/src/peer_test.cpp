// The test of a pair of peers: on some machines peer copies report success and write nothing, or write garbage.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/error.hpp"
#include "ferry/core/peer.hpp"

namespace ferry {
namespace {

constexpr std::size_t words = 4096, word = sizeof(std::uint32_t), bytes = words * word;

// One device's part: a stream and some memory.
struct probe {
  backend& verbs;
  int device;
  native_stream stream;
  std::byte* data = nullptr;
  probe(backend& v, int d) : verbs(v), device(d), stream(v.create_stream(d, 0)) {
    try {
      data = static_cast<std::byte*>(verbs.allocate(memory_kind::device, device, bytes));
    } catch (...) {
      verbs.destroy_stream(stream);
      throw;
    }
  }
  ~probe() {
    try {
      verbs.synchronize(stream);
      verbs.release(memory_kind::device, device, data, bytes);
      verbs.destroy_stream(stream);
    } catch (const error&) {  // a broken device: the next call says so
    }
  }
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
};

struct pinned {
  backend& verbs;
  int device;
  std::uint32_t* data;
  pinned(backend& v, int d)
      : verbs(v),
        device(d),
        data(static_cast<std::uint32_t*>(v.allocate(memory_kind::host, d, bytes))) {}
  ~pinned() {
    try {
      verbs.release(memory_kind::host, device, data, bytes);
    } catch (const error&) {
    }
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
};

class tester {
 public:
  tester(backend& verbs, int first, int second)
      : verbs_(verbs),
        a_(verbs, first),
        b_(verbs, second),
        host_(verbs, first) {}

  std::string run(bool kernels_of_both) {
    if (!send(
            a_, b_, [&] { verbs_.copy_peer(a_.stream, b_.data, b_.device, a_.data, a_.device, bytes); }, a_, 1))
      return lost("copied", a_, b_);
    if (!send(
            b_, a_, [&] { verbs_.copy_peer(b_.stream, a_.data, a_.device, b_.data, b_.device, bytes); }, b_, 1))
      return lost("copied", b_, a_);
    for (probe* user : {&a_, &b_}) {
      if (user == &b_ && !kernels_of_both) break;
      probe& owner = user == &a_ ? b_ : a_;
      if (!send(
              owner, *user, [&] { by_kernel(*user, owner, *user); }, *user, 2))
        return lost("loaded", owner, *user);
      if (!send(
              *user, owner, [&] { by_kernel(*user, *user, owner); }, *user, 2))
        return lost("stored", *user, owner);
    }
    return {};
  }

 private:
  static std::string lost(const char* how, const probe& from, const probe& to) {
    return "bytes " + std::string(how) + " from device " + std::to_string(from.device) + " to device " +
           std::to_string(to.device) + " did not arrive";
  }
  // Every second word, so that no copy engine does it.
  void by_kernel(probe& on, probe& from, probe& to) {
    const strided_shape shape{word, 1, {words / 2}};
    verbs_.copy_strided(on.stream, {to.data, {2 * word}}, {from.data, {2 * word}}, shape);
  }
  // Fresh words in `from`, others in `to`; then move() on the stream of `by`. Whether each step-th word arrived.
  template <class Move>
  bool send(probe& from, probe& to, Move move, probe& by, std::size_t step) {
    write(to, [](std::size_t) { return 0x5A5A5A5Au; });
    ++round_;
    const auto value = [this](std::size_t i) { return static_cast<std::uint32_t>(i * 2654435761u + round_); };
    write(from, value);
    move();
    verbs_.synchronize(by.stream);
    verbs_.copy(to.stream, host_.data, to.data, bytes);
    verbs_.synchronize(to.stream);
    for (std::size_t i = 0; i < words; i += step)
      if (host_.data[i] != value(i)) return false;
    return true;
  }
  template <class Value>
  void write(probe& to, Value value) {
    for (std::size_t i = 0; i < words; ++i) host_.data[i] = value(i);
    verbs_.copy(to.stream, to.data, host_.data, bytes);
    verbs_.synchronize(to.stream);
  }

  backend& verbs_;
  probe a_, b_;
  pinned host_;
  unsigned round_ = 0;
};

}  // namespace

std::string test_peers(backend& verbs, int first, int second, bool kernels_of_both) {
  return tester(verbs, first, second).run(kernels_of_both);
}

}  // namespace ferry
