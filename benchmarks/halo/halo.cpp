// How long does a halo exchange take: from one thread, with a thread per device, as a graph; by kernel stores, by
// copies; beside one written with CUDA's calls?
#include <benchmark/benchmark.h>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "../support/teams.hpp"
#include "by_hand.hpp"

namespace fr = ferry;
namespace bm = benchmarks;
namespace {

using field = fr::sharded_array<float, 2>;
constexpr std::size_t rows_each = 64;
constexpr std::size_t side = 8192;  // of a shard in the sweep benchmark

struct number_cells {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<float, 2> u) const {
    u(i, j) = static_cast<float>(i % 61) + static_cast<float>(j % 59) / 64;
  }
};
// Every edge cell takes its outer neighbour's value plus one: each step depends on the previous exchange.
struct pass_on {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<float, 2> u) const {
    const bool is_first = static_cast<std::ptrdiff_t>(i) == u.begin(0) + 1;
    u(i, j) = u(is_first ? i - 1 : i + 1, j) + 1;
  }
};
struct relax {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> from,
                                    fr::shard_span<float, 2> to) const {
    to(i, j) = from(i, j) / 2 + (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1)) / 8;
  }
};

// Two fields used alternately. Periodic along the sharded axis; the first and last cells along the other axis are
// fixed.
class relaxation {
 public:
  relaxation(const fr::team& t, std::size_t axis)
      : a_(t, extents(t, axis), {.axis = axis, .halo = 1, .periodic = true}, 1.f),
        b_(t, extents(t, axis), {.axis = axis, .halo = 1, .periodic = true}, 1.f) {
    inner_[1 - axis] = {1, side - 1};
    fr::exchange_halos(a_, b_);
  }
  // steps(sweep) and steps(owned): with and without halo exchange.
  template <class Space>
  bm::timed steps(Space space) {
    return bm::team_steps(a_.team(), [this, space](std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        fr::parallel_for(space(fr::owned(b_).within({inner_[0], inner_[1]})), relax{}, fr::in(a_), fr::out(b_));
        swap(a_, b_);
      }
    });
  }

 private:
  static fr::extents<2> extents(const fr::team& t, std::size_t axis) {
    fr::extents<2> e{side, side};
    e[axis] *= t.size();
    return e;
  }
  field a_, b_;
  std::array<fr::slice, 2> inner_;
};

field make(const fr::team& t, std::size_t columns, fr::halo_method how, std::size_t axis = 0) {
  const std::size_t along = rows_each * t.size();
  const fr::extents<2> e = axis == 0 ? fr::extents<2>{along, columns} : fr::extents<2>{columns, along};
  field u(t, e, {.axis = axis, .halo = 1, .periodic = true, .exchange = how});
  fr::parallel_for(fr::owned(u), number_cells{}, fr::out(u));
  return u;
}

// True if every shard's halos equal its neighbours' cells.
bool is_right(field& u) {
  fr::exchange_halos(u);
  const std::size_t axis = u.layout().axis(), n = u.extent(axis);
  const std::vector<float> all = fr::to_vector(u);
  for (std::size_t m = 0; m < u.team().size(); ++m) {
    const auto own = u.layout().own(m), local = u.layout().local(m);
    for (const auto& [at, from] :
         {std::pair(local.begin[axis], (own.begin[axis] + std::ptrdiff_t(n) - 1) % std::ptrdiff_t(n)),
          std::pair(own.end[axis], own.end[axis] % std::ptrdiff_t(n))}) {
      const auto got = fr::to_vector(std::as_const(u).cells(m, own.with(axis, at, at + 1)));
      for (std::size_t k = 0; k < got.size(); ++k) {
        const std::size_t i = axis == 0 ? static_cast<std::size_t>(from) : k,
                          j = axis == 0 ? k : static_cast<std::size_t>(from);
        if (got[k] != all[i * u.extent(1) + j]) return false;
      }
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 31, .milliseconds = 5});
  std::deque<field> fields;
  std::deque<relaxation> relaxations;
  std::deque<fr::graph> graphs;
  std::deque<bm::exchange_by_hand> by_hand;
  const std::size_t row = 20480;  // 80 KiB
  const bool timed = bm::has_gpu();
  for (const std::size_t n : bm::team_sizes()) {
    if (n == 1) continue;
    if (timed) by_hand.emplace_back(n, row * sizeof(float)).run();
    if (timed && !by_hand.back().is_right()) return std::puts("the exchange by hand is wrong"), 1;
    const auto add = [&](const std::string& what, std::size_t columns, fr::submission by, fr::halo_method how,
                         bm::bound limit, std::size_t axis = 0, bm::exchange_by_hand* hand = nullptr) -> field* {
      const fr::team t = bm::first_devices(n, by);
      field& u = fields.emplace_back(make(t, columns, how, axis));
      if (!is_right(u)) return std::printf("wrong results: %s\n", what.c_str()), std::exit(1), nullptr;
      if (!timed) return &u;
      s.add({what + ", " + bm::of_devices(n), "us",
             bm::team_steps(t,
                            [&u](std::size_t k) {
                              for (std::size_t i = 0; i < k; ++i) fr::exchange_halos(u);
                            }),
             hand ? "cudaMemcpyPeerAsync and events" : "",
             hand ? bm::timed([hand](std::size_t k) {
               hand->synchronize();
               const auto begin = std::chrono::steady_clock::now();
               for (std::size_t i = 0; i < k; ++i) hand->run();
               hand->synchronize();
               return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
             })
                  : bm::timed(),
             limit});
      return &u;
    };
    const bool four = n == 4;
    const auto caller = fr::submission::by_caller, threads = fr::submission::by_threads;
    const auto stores = fr::halo_method::stores, copies = fr::halo_method::copies;
    const auto most = [&](double us) { return four ? bm::bound::value_at_most(us, "us") : bm::bound::none(); };
    bm::exchange_by_hand* const hand = timed ? &by_hand.back() : nullptr;
    add("halos of 80 KiB, one thread", row, caller, stores, most(25), 0, hand);
    add("halos of 80 KiB, a thread each", row, threads, stores, most(12));
    add("halos of 80 KiB, one thread, copies", row, caller, copies, bm::bound::none(), 0, hand);
    add("halos of 80 KiB, a thread each, copies", row, threads, copies, bm::bound::none());
    for (const std::size_t columns : {std::size_t{1} << 10, std::size_t{1} << 18, std::size_t{1} << 22}) {
      if (!timed && columns > std::size_t{1} << 18) continue;  // simulated devices have too little memory
      for (const auto how : {stores, copies})
        add("halos of " + std::to_string(columns / 256) + " KiB, a thread each" + (how == copies ? ", copies" : ""),
            columns, threads, how, bm::bound::none());
    }
    add("halos of 80 KiB in columns, a thread each", row, threads, stores, bm::bound::none(), 1);
    add("halos of 80 KiB in columns, copies, a thread each", row, threads, copies, bm::bound::none(), 1);
    if (!timed) continue;

    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
      const fr::team own = bm::first_devices(n, threads);
      relaxation& r = relaxations.emplace_back(own, axis);
      s.add({std::string("a sweep, shards of 8192 x 8192 cells, halos of ") + (axis == 0 ? "rows, " : "columns, ") +
                 bm::of_devices(n),
             "us", r.steps([](const auto& region) { return fr::sweep(region); }), "the cells without halos",
             r.steps([](const auto& region) { return region; }), bm::bound::none()});
    }

    const fr::team t = bm::first_devices(n);
    field& u = fields.emplace_back(make(t, row, stores));
    fr::exchange_halos(u);
    graphs.push_back(fr::capture(t.stream(0), [&] { fr::exchange_halos(u); }));
    s.add({"halos of 80 KiB, as a graph, " + bm::of_devices(n),
           "us",
           bm::team_steps(t,
                          [&g = graphs.back(), t](std::size_t k) {
                            for (std::size_t i = 0; i < k; ++i) g.launch(t.stream(0));
                          }),
           "",
           {},
           bm::bound::none()});
    for (const auto by : {caller, threads}) {
      const fr::team own = bm::first_devices(n, by);
      field& v = fields.emplace_back(make(own, row, stores));
      s.add({std::string("the same, each step needs the last one's halos") +
                 (by == threads ? ", a thread each, " : ", ") + bm::of_devices(n),
             "us",
             bm::team_steps(own,
                            [&v](std::size_t k) {
                              for (std::size_t i = 0; i < k; ++i) {
                                fr::parallel_for(fr::boundary(v), pass_on{}, fr::inout(v));
                                fr::exchange_halos(v);
                              }
                            }),
             "",
             {},
             bm::bound::none()});
    }
  }
  const int status = s.run();
  for (bm::exchange_by_hand& e : by_hand)
    if (!e.is_right()) return std::puts("the exchange by hand failed while it was timed"), 1;
  return status;
}
