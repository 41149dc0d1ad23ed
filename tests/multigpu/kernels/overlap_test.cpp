// The halo exchange overlaps with work on the shard's interior: neither is ordered after the other.
#include <map>

#include "multigpu/shards.hpp"
#include "support/counting_backend.hpp"

using namespace shards;

namespace overlap {
namespace {

constexpr int old = 1, fresh = 2;

// Writes its cells. At one interior cell it reads a halo cell of its shard without declaring it. Programs must not do
// so; here it shows which ran first.
struct write_and_look {
  std::size_t at_row;
  const int* halo;
  int* seen;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    if (i == at_row && j == 0) *seen = *halo;
    a(i, j) = fresh;
  }
};

// Records what is enqueued on each stream, in order.
class noting_backend final : public support::counting_backend {
 public:
  enum class what { kernel, wait, event };
  using support::counting_backend::counting_backend;
  void record(fr::native_event e, fr::native_stream s) override {
    given[s.handle].push_back(what::event);
    counting_backend::record(e, s);
  }
  void wait(fr::native_stream s, fr::native_event e) override {
    given[s.handle].push_back(what::wait);
    counting_backend::wait(s, e);
  }
  void launch(fr::native_stream s, const fr::detail::host_kernel& k) override {
    given[s.handle].push_back(what::kernel);
    counting_backend::launch(s, k);
  }
  std::map<void*, std::vector<what>> given;
};

const fr::shard_options rows_with_halos{.axis = 0, .halo = 1, .periodic = true};

}  // namespace
}  // namespace overlap

BOOST_AUTO_TEST_SUITE(overlap)

// Random schedules guarantee only what CUDA guarantees: if the interior always ran after the halo exchange, it waited
// for it.
BOOST_AUTO_TEST_CASE(the_inside_and_the_halos_run_in_any_order) {
  std::map<int, int> seen;
  for (const char* how : {"devices=3", "devices=3;peers=none"})
    for (unsigned seed = 0; seed < 60; ++seed) {
      fr::simulation sim(std::string(how) + ";schedule=random:" + std::to_string(seed));
      sim.get().checks.set(fr::check::pointers, false);  // the functor reads an undeclared cell
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {9, 4}, rows_with_halos, old);
      t.synchronize();
      int found = 0;  // member 1 owns rows 3 to 5; the halo above them is row 2
      const write_and_look f{4, a.shard_with_halo(1).unsynchronized_data(), &found};
      fr::parallel_for(fr::sweep(a), f, fr::out(a));
      t.synchronize();
      BOOST_TEST(*f.halo == fresh);
      ++seen[found];
    }
  BOOST_TEST(seen[old] > 0);
  BOOST_TEST(seen[fresh] > 0);
  BOOST_TEST(seen.size() == 2u);
}

// A stream gets the edges, the packing of strided halos, and the interior of its shard. The packing waits for the
// previous step's copies, which it overwrites; the interior waits for nothing. The event that others wait for before
// they transfer halos is recorded before the interior.
BOOST_AUTO_TEST_CASE(no_stream_waits_between_the_edges_and_the_inside) {
  using enum noting_backend::what;
  struct layout {
    fr::shard_options how;
    int kernels;  // before the interior: edges along each axis with halos, and packing
  };
  fr::shard_options columns = rows_with_halos, both = rows_with_halos;
  columns.axis = 1;
  both.halo = {1, 1}, both.periodic = {true, true};
  fr::shard_options across = both;
  across.axis = 1;
  fr::shard_options grid = both;
  grid.axis = {0, 1}, grid.grid = {2, 2};
  for (const char* runtime : {"devices=4", "devices=4;peers=none"})
    for (const auto& [how, kernels] : {layout{rows_with_halos, 1}, {columns, 2}, {both, 3}, {across, 3}, {grid, 3}}) {
      fr::simulation sim(runtime);
      support::call_counts calls;
      auto owned = std::make_unique<noting_backend>(sim.get().backend(), calls);
      noting_backend& notes = *owned;
      fr::runtime_scope noting(std::move(owned));
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {64, 64}, how, old);
      const write_and_look f{std::size_t(-1), nullptr, nullptr};
      for (int i = 0; i < 10; ++i) {
        notes.given.clear();
        fr::parallel_for(fr::sweep(a), f, fr::inout(a));
      }
      for (std::size_t m = 0; m < t.size(); ++m) {
        const std::vector<noting_backend::what> given = notes.given[t.stream(m).timeline().stream().handle];
        // Dependencies of the edges: halos that others wrote into this shard, or read from it, in the previous step.
        const auto edges = std::find(given.begin(), given.end(), kernel);
        auto last = edges, inside = edges;
        for (int k = 0; k < kernels && inside != given.end(); ++k)
          last = inside, inside = std::find(inside + 1, given.end(), kernel);
        BOOST_TEST_REQUIRE((inside != given.end()));
        BOOST_TEST(std::count(last, inside, wait) == 0);
        BOOST_TEST(std::count(last, inside, event) == 1);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
