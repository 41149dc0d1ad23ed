// Do copies reach the limit of the links? Between peer devices (and through the CPU with FERRY_PEER=off), from and to
// pageable memory, and between pinned memory and one device over all links.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "ferry/core/detail/runtime/peer.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

using word = std::uint64_t;

std::vector<word> numbers(std::size_t bytes) {
  std::vector<word> v(bytes / sizeof(word));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i * 0x9E3779B97F4A7C15u;
  return v;
}

// Runs and checks copies over every route that is timed below.
bool copies_are_right(std::size_t bytes) {
  const std::vector<word> v = numbers(bytes);
  const auto pinned = fr::host_array<word>::from(v);
  const auto first = fr::device_array<word>::from(v, fr::devices().front());
  auto last = fr::clone_on(fr::devices().back(), first);
  if (fr::to_vector(last) != v) return false;
  fr::fill(last, word{0});
  const fr::shared_links all(fr::devices());
  fr::copy(pinned, last);
  fr::host_array<word> back({v.size()}, word{0});
  fr::copy(last, back);
  return std::equal(v.begin(), v.end(), std::as_const(back).begin());
}

#if defined(__CUDACC__)

constexpr std::size_t gib = std::size_t{1} << 30;

// Calls each function once, then waits.
template <class F>
bm::timed waited(fr::stream_ref s, F body) {
  return bm::on_cpu([=]() mutable {
    body();
    s.synchronize();
  });
}

struct buffers {
  fr::device_array<word> a, b;
  fr::host_array<word> pinned;
  std::vector<word> pageable;
  fr::stream s;
  explicit buffers(std::size_t bytes)
      : a({bytes / sizeof(word)}, word{1}, fr::devices().front()),
        b({bytes / sizeof(word)}, word{2}, fr::devices().back()),
        pinned({bytes / sizeof(word)}, word{3}),
        pageable(numbers(bytes)),
        s(fr::devices().front()) {}
  cudaStream_t raw() const { return static_cast<cudaStream_t>(bm::raw_handle(s)); }
};

void between_devices(bm::suite& s, buffers& x) {
  const auto peer = [&](std::size_t n) {
    return [&x, n] {
      cudaMemcpyPeerAsync(x.b.unsynchronized_data(), x.b.device().index(), x.a.unsynchronized_data(), 0, n, x.raw());
    };
  };
  const auto ours = [&](std::size_t n) {
    return [&x, part = x.a.slice({0, n / sizeof(word)}), to = x.b.slice({0, n / sizeof(word)})]() mutable {
      fr::copy(x.s, part, to);
    };
  };
  if (fr::runtime::current().peers().policy().use) {
    s.add({"device to device, 1 GiB", "GB/s", bm::on_stream(x.s, ours(gib)), "cudaMemcpyPeerAsync",
           bm::on_stream(x.s, peer(gib)), bm::bound::ratio_at_least(0.98), double(gib)});
    s.add({"device to device, 4 KiB", "us", bm::on_stream(x.s, ours(4096)), "cudaMemcpyPeerAsync",
           bm::on_stream(x.s, peer(4096)), bm::bound::ratio_at_most(1.2)});
    return;
  }
  s.add({"device to device, no peers, 1 GiB", "GB/s", bm::on_stream(x.s, ours(gib)), "the driver's own staging",
         bm::on_stream(x.s, peer(gib)), bm::bound::ratio_at_least(1.35), double(gib)});
  const auto down = bm::on_stream(x.s, [&x] {
    cudaMemcpyAsync(x.pinned.unsynchronized_data(), x.a.unsynchronized_data(), gib, cudaMemcpyDefault, x.raw());
  });
  const auto up = bm::on_stream(x.s, [&x] {
    cudaMemcpyAsync(x.a.unsynchronized_data(), x.pinned.unsynchronized_data(), gib, cudaMemcpyDefault, x.raw());
  });
  s.add({"device to device, no peers, 1 GiB (wires)", "GB/s", bm::on_stream(x.s, ours(gib)),
         "the slower of D2H and H2D, pinned", [=](std::size_t n) { return std::max(down(n), up(n)); },
         bm::bound::ratio_at_least(0.95), double(gib)});
}

void pageable(bm::suite& s, buffers& x) {
  const auto raw = [&x](void* to, const void* from, bool async) {
    return waited(x.s, [=, &x] {
      if (async)
        cudaMemcpyAsync(to, from, gib, cudaMemcpyDefault, x.raw());
      else
        cudaMemcpy(to, from, gib, cudaMemcpyDefault);
    });
  };
  void* const device = x.a.unsynchronized_data();
  const auto up = waited(x.s, [&x] { fr::copy(std::span<const word>(x.pageable), x.a); });
  const auto down = waited(x.s, [&x] { fr::copy(x.a, std::span<word>(x.pageable)); });
  s.add({"from pageable memory, 1 GiB", "GB/s", up, "pinned", raw(device, x.pinned.unsynchronized_data(), true),
         bm::bound::ratio_at_least(0.90), double(gib)});
  s.add({"from pageable memory, 1 GiB (driver)", "GB/s", up, "cudaMemcpy", raw(device, x.pageable.data(), false),
         bm::bound::ratio_at_least(4), double(gib)});
  s.add({"to pageable memory, 1 GiB", "GB/s", down, "pinned", raw(x.pinned.unsynchronized_data(), device, true),
         bm::bound::ratio_at_least(0.90), double(gib)});
  s.add({"to pageable memory, 1 GiB (driver)", "GB/s", down, "cudaMemcpy", raw(x.pageable.data(), device, false),
         bm::bound::ratio_at_least(2.6), double(gib)});
}

void all_links(bm::suite& s, buffers& x) {
  const std::size_t bytes = x.a.size_bytes();
  const auto raw = [&x, bytes](void* to, const void* from) {
    return bm::on_stream(x.s, [=, &x] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, x.raw()); });
  };
  const bool four = fr::devices().size() >= 4;
  s.add({"pinned memory to one device over all links, 2 GiB", "GB/s",
         bm::on_stream(x.s, [&x] { fr::copy(x.s, x.pinned, x.a); }), "one link",
         raw(x.a.unsynchronized_data(), x.pinned.unsynchronized_data()),
         four ? bm::bound::ratio_at_least(3.5) : bm::bound::none(), double(bytes)});
  s.add({"one device to pinned memory over all links, 2 GiB", "GB/s",
         bm::on_stream(x.s, [&x] { fr::copy(x.s, x.a, x.pinned); }), "one link",
         raw(x.pinned.unsynchronized_data(), x.a.unsynchronized_data()),
         four ? bm::bound::ratio_at_least(2.5) : bm::bound::none(), double(bytes)});
}

// The same compared with the host memory's limit: as much to or from all devices at once, a part over each device's
// link.
void limit_of_links(bm::suite& s, buffers& x) {
  struct lane {
    fr::stream on;
    fr::device_array<std::byte> part;
  };
  const std::size_t devices = fr::devices().size(), bytes = x.a.size_bytes(), part = bytes / devices;
  const auto lanes = std::make_shared<std::vector<lane>>();
  for (const fr::device d : fr::devices()) lanes->push_back({fr::stream(d), fr::device_array<std::byte>({part}, d)});
  auto* const pinned = reinterpret_cast<std::byte*>(x.pinned.unsynchronized_data());
  const auto raw = [lanes, pinned, part](bool up) {
    return bm::on_cpu([=] {
      for (std::size_t i = 0; i < lanes->size(); ++i) {
        std::byte *there = (*lanes)[i].part.unsynchronized_data(), *here = pinned + i * part;
        cudaMemcpyAsync(up ? there : here, up ? here : there, part, cudaMemcpyDefault,
                        static_cast<cudaStream_t>(bm::raw_handle((*lanes)[i].on)));
      }
      for (const lane& l : *lanes) l.on.synchronize();
    });
  };
  s.add({"pinned memory to one device over all links, 2 GiB (host's limit)", "GB/s",
         waited(x.s, [&x] { fr::copy(x.s, x.pinned, x.a); }), "a part to each device at once", raw(true),
         bm::bound::ratio_at_least(0.95), double(bytes)});
  s.add({"one device to pinned memory over all links, 2 GiB (host's limit)", "GB/s",
         waited(x.s, [&x] { fr::copy(x.s, x.a, x.pinned); }), "a part from each device at once", raw(false),
         bm::bound::ratio_at_least(0.95), double(bytes)});
}

// With FERRY_COPY_SWEEP=1: other chunk sizes and numbers of threads, for choosing the defaults.
bm::timed with_options(fr::copy_options o, bm::timed what) {
  return [=](std::size_t n) {
    const fr::copy_options before = fr::current_copy_options();
    fr::set_copy_options(o);
    const double seconds = what(n);
    fr::set_copy_options(before);
    return seconds;
  };
}

void sweep(bm::suite& s, buffers& one, buffers& two) {
  const auto add = [&](const std::string& name, const fr::copy_options& o, bm::timed what, std::size_t bytes) {
    s.add({name, "GB/s", with_options(o, std::move(what)), "", {}, bm::bound::none(), double(bytes)});
  };
  for (const std::size_t mib : {1, 2, 4, 8})
    for (const std::size_t threads : {6, 8, 12, 16, 24}) {
      fr::copy_options o = fr::current_copy_options();
      o.threads = threads;
      o.parallel_chunk_bytes = mib << 20;
      o.parallel_chunks = 128 / mib;
      const std::string how = std::to_string(threads) + " threads, chunks of " + std::to_string(mib) + " MiB";
      add("up, " + how, o, waited(one.s, [&one] { fr::copy(std::span<const word>(one.pageable), one.a); }), gib);
      add("down, " + how, o, waited(one.s, [&one] { fr::copy(one.a, std::span<word>(one.pageable)); }), gib);
    }
  if (fr::devices().size() < 2) return s.leave_out("the sweep over all links", 2);
  for (const std::size_t mib : {2, 4, 8, 16, 32}) {
    fr::copy_options over_links = fr::current_copy_options();
    over_links.multipath_chunk_bytes = mib << 20;
    const std::string how = "links, chunks of " + std::to_string(mib) + " MiB";
    add("up, all " + how, over_links, bm::on_stream(two.s, [&two] { fr::copy(two.s, two.pinned, two.a); }), 2 * gib);
    add("down, all " + how, over_links, bm::on_stream(two.s, [&two] { fr::copy(two.s, two.a, two.pinned); }), 2 * gib);
  }
}

#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 9, .milliseconds = 60});
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{64} << 20})
    if (!copies_are_right(bytes)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;
#if defined(__CUDACC__)
  buffers one(gib), two(2 * gib);
  const bool several = fr::devices().size() > 1, peers = fr::runtime::current().peers().policy().use;
  const fr::shared_links all(fr::devices());
  if (std::getenv("FERRY_COPY_SWEEP")) {
    sweep(s, one, two);
    return s.run();
  }
  if (!several) s.leave_out("copies between devices, and over all links", 2);
  if (several && !peers) std::fputs("FERRY_PEER=off: no copies over all links\n", stderr);
  if (several) between_devices(s, one);
  pageable(s, one);
  if (several && peers) all_links(s, two), limit_of_links(s, two);
  return s.run();
#endif
}
