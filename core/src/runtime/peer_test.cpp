// Tests of a pair of peers: on some systems peer copies report success but write nothing, or write garbage.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t words = 4096, word = sizeof(std::uint32_t), bytes = words * word;

// One device of the test, with a stream.
struct user {
  detail::backend& backend;
  int device;
  native_stream stream;
  user(detail::backend& v, int d) : backend(v), device(d), stream(v.create_stream(d, 0)) {}
  ~user() {
    try {
      backend.synchronize(stream);
      backend.destroy_stream(stream);
    } catch (const error&) {  // a failed device: the next call reports it
    }
  }
  user(const user&) = delete;
  user& operator=(const user&) = delete;
};

// A device with some memory, of a pool if the test is about pools.
struct probe : user {
  native_pool pool;
  std::byte* data;
  probe(detail::backend& v, int d, native_pool p = {})
      : user(v, d),
        pool(p),
        data(static_cast<std::byte*>(pool.handle ? v.pools()->allocate(pool, bytes, stream)
                                                 : v.allocate(memory_kind::device, d, bytes))) {}
  ~probe() {
    try {
      backend.synchronize(stream);
      if (pool.handle)
        backend.pools()->free(data, stream);
      else
        backend.release(memory_kind::device, device, data, bytes);
    } catch (const error&) {
    }
  }
};

// Pinned or unified memory, released at the end of the scope.
struct shared {
  detail::backend& backend;
  memory_kind kind;
  int device;
  std::uint32_t* data;
  shared(detail::backend& v, memory_kind k, int d)
      : backend(v),
        kind(k),
        device(d),
        data(static_cast<std::uint32_t*>(v.allocate(k, d, bytes))) {}
  ~shared() {
    try {
      backend.release(kind, device, data, bytes);
    } catch (const error&) {
    }
  }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
};

std::string lost(const char* how, const user& from, const user& to) {
  return concat("bytes ", how, " from device ", from.device, " to device ", to.device, " did not arrive");
}

// Copies every second word, so that the driver uses a kernel and not a copy engine.
void by_kernel(const user& on, void* to, void* from) {
  const strided_shape shape{word, 1, {words / 2}};
  on.backend.copy_strided(on.stream, {static_cast<std::byte*>(to), {2 * word}},
                          {static_cast<std::byte*>(from), {2 * word}}, shape);
}

class tester {
 public:
  tester(detail::backend& backend, int first, int second, std::pair<native_pool, native_pool> pools)
      : backend_(backend),
        a_(backend, first, pools.first),
        b_(backend, second, pools.second),
        host_(backend, memory_kind::host, first) {}

  std::string run(bool kernels_of_both) {
    if (!send(
            a_, b_, [&] { backend_.copy_peer(a_.stream, b_.data, b_.device, a_.data, a_.device, bytes); }, a_, 1))
      return lost("copied", a_, b_);
    if (!send(
            b_, a_, [&] { backend_.copy_peer(b_.stream, a_.data, a_.device, b_.data, b_.device, bytes); }, b_, 1))
      return lost("copied", b_, a_);
    for (probe* user : {&a_, &b_}) {
      if (user == &b_ && !kernels_of_both) break;
      probe& owner = user == &a_ ? b_ : a_;
      if (!send(
              owner, *user, [&] { by_kernel(*user, user->data, owner.data); }, *user, 2))
        return lost("loaded", owner, *user);
      if (!send(
              *user, owner, [&] { by_kernel(*user, owner.data, user->data); }, *user, 2))
        return lost("stored", *user, owner);
    }
    return {};
  }

 private:
  // Writes new words to `from` and others to `to`, then calls move(), which enqueues on the stream of `by`. Blocks
  // until it is complete. True if each step-th word arrived.
  template <class Move>
  bool send(probe& from, probe& to, Move move, probe& by, std::size_t step) {
    write(to, [](std::size_t) { return 0x5A5A5A5Au; });
    ++round_;
    const auto value = [this](std::size_t i) { return static_cast<std::uint32_t>(i * 2654435761u + round_); };
    write(from, value);
    move();
    backend_.synchronize(by.stream);
    backend_.copy(to.stream, host_.data, to.data, bytes);
    backend_.synchronize(to.stream);
    for (std::size_t i = 0; i < words; i += step)
      if (host_.data[i] != value(i)) return false;
    return true;
  }
  template <class Value>
  void write(probe& to, Value value) {
    for (std::size_t i = 0; i < words; ++i) host_.data[i] = value(i);
    backend_.copy(to.stream, to.data, host_.data, bytes);
    backend_.synchronize(to.stream);
  }

  detail::backend& backend_;
  probe a_, b_;
  shared host_;
  unsigned round_ = 0;
};

// Writes words to unified memory whose pages are on one device, then uses them on the other.
class page_tester {
 public:
  page_tester(detail::backend& backend, int first, int second)
      : backend_(backend),
        a_(backend, first),
        b_(backend, second),
        pages_(backend, memory_kind::unified, first),
        given_(backend, memory_kind::host, first),
        seen_(backend, memory_kind::host, first) {}

  std::string run() {
    for (const auto& [from, to] : {std::pair(&a_, &b_), std::pair(&b_, &a_)}) {
      write_at(*from);
      send_to(*to);
      backend_.copy(to->stream, seen_.data, pages_.data, bytes);
      if (!arrived(*to, 1)) return lost("sent", *from, *to);
      write_at(*from);
      by_kernel(*to, seen_.data, pages_.data);
      if (!arrived(*to, 2)) return lost("loaded", *from, *to);
      send_to(*from);
      fresh_words();
      by_kernel(*to, pages_.data, given_.data);
      backend_.synchronize(to->stream);
      by_kernel(*from, seen_.data, pages_.data);
      if (!arrived(*from, 2)) return lost("stored", *to, *from);
    }
    return {};
  }

 private:
  std::uint32_t value(std::size_t i) const { return static_cast<std::uint32_t>(i * 2654435761u + round_); }
  void fresh_words() {
    ++round_;
    for (std::size_t i = 0; i < words; ++i) given_.data[i] = value(i);
  }
  void send_to(user& to) {
    backend_.prefetch(to.stream, pages_.data, bytes, {to.device});
    backend_.synchronize(to.stream);
  }
  // Writes new words, and leaves the pages on `at`.
  void write_at(user& at) {
    fresh_words();
    send_to(at);
    backend_.copy(at.stream, pages_.data, given_.data, bytes);
    backend_.synchronize(at.stream);
  }
  bool arrived(user& at, std::size_t step) {
    backend_.synchronize(at.stream);
    for (std::size_t i = 0; i < words; i += step)
      if (seen_.data[i] != value(i)) return false;
    return true;
  }
  detail::backend& backend_;
  user a_, b_;
  shared pages_, given_, seen_;
  unsigned round_ = 0;
};

}  // namespace

std::string test_peers(detail::backend& backend, int first, int second, bool kernels_of_both,
                       std::optional<std::pair<native_pool, native_pool>> pools) {
  return tester(backend, first, second, pools.value_or(std::pair<native_pool, native_pool>{})).run(kernels_of_both);
}

std::string test_pages(detail::backend& backend, int first, int second) {
  return page_tester(backend, first, second).run();
}

}  // namespace ferry::inline FERRY_ABI::detail
