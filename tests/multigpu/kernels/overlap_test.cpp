// Halos travel while the devices work on the inside: nothing orders the one behind the other.
#include <map>

#include "multigpu/shards.hpp"
#include "support/counting_backend.hpp"

using namespace shards;

namespace {

constexpr int old = 1, fresh = 2;

// Writes its cells; at one cell inside a shard it looks whether a halo of that shard has come. That is what programs must not
// do, and what tells here which was first.
struct write_and_look {
  std::size_t at_row;
  const int* halo;
  int* seen;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    if (i == at_row && j == 0) *seen = *halo;
    a(i, j) = fresh;
  }
};

// Notes what streams are given, in order.
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
  void launch(fr::native_stream s, const fr::host_kernel& k) override {
    given[s.handle].push_back(what::kernel);
    counting_backend::launch(s, k);
  }
  std::map<void*, std::vector<what>> given;
};

const fr::shard_options rows_with_halos{.axis = 0, .halo = 1, .periodic = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(overlap)

// Random schedules honour only what CUDA promises: if the inside never ran before the halo came, it had to wait for it.
BOOST_AUTO_TEST_CASE(the_inside_and_the_halos_run_in_any_order) {
  std::map<int, int> seen;
  for (const char* how : {"devices=3", "devices=3;peers=none"})
    for (unsigned seed = 0; seed < 60; ++seed) {
      fr::simulation sim(std::string(how) + ";schedule=random:" + std::to_string(seed));
      sim.get().checks.set(fr::check::pointers, false);  // the functor looks where no call says
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {9, 4}, rows_with_halos, old);
      t.synchronize();
      int found = 0;  // rows 3 to 5 are member 1's; the halo above them is row 2
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

// A stream is given the edges, the packing of what has strides, and the inside of its shard; the packing waits for the copies of
// the last step, which it writes over, and the inside for nobody. What others wait for before they send the halos is noted
// before the inside.
BOOST_AUTO_TEST_CASE(no_stream_waits_between_the_edges_and_the_inside) {
  using enum noting_backend::what;
  struct layout {
    fr::shard_options how;
    int kernels;  // before the inside: of the edges along each axis with halos, and of the packing
  };
  fr::shard_options columns = rows_with_halos, both = rows_with_halos;
  columns.axis = 1;
  both.halo = {1, 1}, both.periodic = {true, true};
  fr::shard_options across = both;
  across.axis = 1;
  for (const char* runtime : {"devices=4", "devices=4;peers=none"})
    for (const auto& [how, kernels] : {layout{rows_with_halos, 1}, {columns, 2}, {both, 3}, {across, 3}}) {
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
        // What the edges come after: halos that others wrote into this shard, and read from it, in the last step.
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
