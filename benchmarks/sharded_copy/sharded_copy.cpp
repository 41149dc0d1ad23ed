// Are copies between CPU arrays and the shards of all devices as fast as with pinned memory?
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "../support/teams.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

using word = std::uint64_t;
using field = fr::sharded_array<word, 2>;
constexpr std::size_t columns = 1 << 14;  // 128 KiB a row

std::vector<word> numbers(std::size_t count) {
  std::vector<word> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = i * 0x9E3779B97F4A7C15u;
  return v;
}

// Runs and checks the copies that are timed below, in both directions.
bool is_right(const fr::team& t, std::size_t rows, std::size_t axis) {
  const std::vector<word> v = numbers(rows * columns);
  field u(t, {rows, columns}, {.axis = axis});
  fr::copy(std::span<const word>(v), u);
  std::vector<word> back(v.size());
  fr::copy(u, std::span<word>(back));
  return back == v;
}

#if defined(__CUDACC__)

struct buffers {
  fr::team team;
  field shards;
  std::vector<word> pageable;
  fr::host_array<word> pinned;
  buffers(fr::team t, std::size_t bytes_each)
      : team(std::move(t)),
        shards(team, {bytes_each / sizeof(word) / columns * team.size(), columns}),
        pageable(numbers(shards.size())),
        pinned({shards.size()}, word{3}) {}

  // A part to or from each device, all at once.
  bm::timed raw(bool up) {
    return bm::team_steps(team, [this, up](std::size_t n) {
      const std::size_t part = shards.size() / team.size();
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t m = 0; m < team.size(); ++m) {
          word *there = shards.shard(m).unsynchronized_data(), *here = pinned.unsynchronized_data() + m * part;
          cudaMemcpyAsync(up ? there : here, up ? here : there, part * sizeof(word), cudaMemcpyDefault,
                          static_cast<cudaStream_t>(bm::raw_handle(team.stream(m))));
        }
        team.synchronize();
      }
    });
  }
};

void compare(bm::suite& s, buffers& x) {
  const auto steps = [&x](auto body) {
    return bm::team_steps(x.team, [&x, body](std::size_t n) {
      for (std::size_t k = 0; k < n; ++k) body(), x.team.synchronize();
    });
  };
  const double bytes = double(x.shards.size() * sizeof(word));
  const std::string size = ", 1 GiB each, " + bm::of_devices(x.team.size());
  s.add({"std::vector to a sharded array" + size, "GB/s",
         steps([&x] { fr::copy(std::span<const word>(x.pageable), x.shards); }), "pinned, all at once", x.raw(true),
         bm::bound::none(), bytes});
  s.add({"sharded array to a std::vector" + size, "GB/s",
         steps([&x] { fr::copy(x.shards, std::span<word>(x.pageable)); }), "pinned, all at once", x.raw(false),
         bm::bound::none(), bytes});
}

#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 7, .milliseconds = 40});
  for (const std::size_t n : bm::team_sizes())
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
      if (!is_right(bm::first_devices(n), 64 * n, axis)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;
#if defined(__CUDACC__)
  std::deque<buffers> all;
  for (const std::size_t n : bm::team_sizes()) compare(s, all.emplace_back(bm::first_devices(n), std::size_t{1} << 30));
  return s.run();
#endif
}
