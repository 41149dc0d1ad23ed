// What do tracked collectives cost compared with NCCL alone? Each size runs through ferry and through NCCL's functions
// on the same streams and arrays, with one thread submitting for all devices. A measurement ends when all streams are
// idle.
#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ferry/multigpu.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"

#if defined(__CUDACC__) && __has_include(<nccl.h>)
#define HAS_NCCL 1
#include "../../multigpu/src/nccl/communicators.hpp"
#endif

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

using arrays = std::vector<fr::device_array<float>>;

arrays make(const fr::team& t, std::size_t count, float value) {
  arrays all;
  for (std::size_t m = 0; m < t.size(); ++m) all.emplace_back(fr::extents<1>{count}, value, t.device(m));
  return all;
}

// Checks the first and the last element of each member.
bool all_are(const arrays& a, float value) {
  for (const auto& x : a)
    for (const std::size_t i : {std::size_t{0}, x.size() - 1})
      if (fr::to_vector(x.slice({i, i + 1})).front() != value) return false;
  return true;
}

// Enqueues n operations, and blocks until the last is complete on all devices.
template <class F>
bm::timed until_idle(const fr::team& t, F body) {
  return [&t, body](std::size_t n) mutable {
    return bm::on_cpu([&] {
      for (std::size_t i = 0; i < n; ++i) body();
      t.synchronize();
    })(1);
  };
}

#if defined(HAS_NCCL)
// Created before the team's first collective, which then reuses the same communicators.
class raw_nccl {
 public:
  explicit raw_nccl(const fr::team& t) {
    std::vector<int> devices;
    for (std::size_t m = 0; m < t.size(); ++m) {
      devices.push_back(t.device(m).index());
      streams_.push_back(static_cast<cudaStream_t>(bm::raw_handle(t[m])));
    }
    auto both = fr::detail::nccl::take_from_stock(devices);
    for (std::size_t m = 0; m < t.size(); ++m) comms_.push_back((*both)[m]);
    fr::detail::nccl::give_to_stock(std::move(both));
  }
  template <class Call>
  void operator()(Call call) const {
    nccl_.group_start();
    for (std::size_t m = 0; m < comms_.size(); ++m) call(nccl_, m, comms_[m], streams_[m]);
    if (const ncclResult_t bad = nccl_.group_end(); bad != ncclSuccess) nccl_.check(bad, "a raw collective");
  }

 private:
  const ferry::detail::nccl::library& nccl_ = ferry::detail::nccl::library::get();
  std::vector<ncclComm_t> comms_;
  std::vector<cudaStream_t> streams_;
};

std::string readable(std::size_t bytes) {
  return bytes >= 1 << 20   ? std::to_string(bytes >> 20) + " MiB"
         : bytes >= 1 << 10 ? std::to_string(bytes >> 10) + " KiB"
                            : std::to_string(bytes) + " B";
}
#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 61, .milliseconds = 7});  // short rounds, because clock rates drift
  const fr::team t = fr::team::all();
  const std::size_t ranks = t.size();
  const bool simulated = fr::runtime::current().is_simulated();
  const std::size_t most = simulated ? 1 << 12 : std::size_t{1} << 30;
  const std::size_t count = most / sizeof(float) / ranks * ranks;  // of the larger side

#if defined(HAS_NCCL)
  std::optional<raw_nccl> raw;
  if (bm::has_gpu()) raw.emplace(t);
#endif
  const arrays from = make(t, count, 1);
  arrays to = make(t, count, 0);
  const auto parts = [ranks](const auto& all, std::size_t bytes) {
    std::vector<fr::array_view<float, 1, fr::memory_kind::device>> views;
    for (auto& x : const_cast<arrays&>(all)) views.push_back(x.slice({0, bytes / sizeof(float)}));
    (void)ranks;
    return views;
  };
  fr::all_reduce(t, from, to, fr::plus{});
  if (!all_are(to, static_cast<float>(ranks))) return std::puts("all_reduce is wrong: nothing was timed"), 1;
  fr::all_gather(t, parts(from, most / ranks), to);
  if (!all_are(to, 1)) return std::puts("all_gather is wrong: nothing was timed"), 1;
  auto shares = parts(to, most / ranks);
  fr::reduce_scatter(t, from, shares, fr::plus{});
  if (fr::to_vector(shares.back().slice({0, 1})).front() != static_cast<float>(ranks))
    return std::puts("reduce_scatter is wrong: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;
  if (ranks < 2) return s.leave_out("collectives (with a team of one NCCL only copies)", 2), s.run();

#if defined(HAS_NCCL)
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{512} << 10,
                                  std::size_t{4} << 20, std::size_t{32} << 20, std::size_t{256} << 20, most}) {
    const std::size_t n = bytes / sizeof(float), share = n / ranks;
    const auto whole_from = parts(from, bytes), part_from = parts(from, share * sizeof(float));
    auto whole_to = parts(to, bytes), part_to = parts(to, share * sizeof(float));  // not const: written
    const bool small = bytes < 1 << 20;
    const auto add = [&](const char* what, auto ours, auto theirs) {
      s.add({std::string(what) + ", " + readable(bytes) + ", " + std::to_string(ranks) + " GPUs", small ? "us" : "GB/s",
             until_idle(t, ours), "NCCL", until_idle(t, [&raw, theirs] { (*raw)(theirs); }),
             small ? bm::bound::excess_at_most(1, "us") : bm::bound::ratio_at_least(0.97),
             small ? 0 : static_cast<double>(bytes)});
    };
    add(
        "all_reduce", [&t, whole_from, whole_to]() mutable { fr::all_reduce(t, whole_from, whole_to, fr::plus{}); },
        [&from, &to, n](auto& nccl, std::size_t m, ncclComm_t c, cudaStream_t on) {
          nccl.all_reduce(from[m].unsynchronized_data(), to[m].unsynchronized_data(), n, ncclFloat32, ncclSum, c, on);
        });
    add(
        "all_gather", [&t, part_from, whole_to]() mutable { fr::all_gather(t, part_from, whole_to); },
        [&from, &to, share](auto& nccl, std::size_t m, ncclComm_t c, cudaStream_t on) {
          nccl.all_gather(from[m].unsynchronized_data(), to[m].unsynchronized_data(), share, ncclFloat32, c, on);
        });
    add(
        "reduce_scatter",
        [&t, whole_from, part_to]() mutable { fr::reduce_scatter(t, whole_from, part_to, fr::plus{}); },
        [&from, &to, share](auto& nccl, std::size_t m, ncclComm_t c, cudaStream_t on) {
          nccl.reduce_scatter(from[m].unsynchronized_data(), to[m].unsynchronized_data(), share, ncclFloat32, ncclSum,
                              c, on);
        });
  }
#else
  std::puts("no nccl.h where this was compiled: nothing was timed");
#endif
  return s.run();
}
