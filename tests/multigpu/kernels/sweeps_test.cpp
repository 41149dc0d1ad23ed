// Consecutive sweeps, from one array to another and in place, directly and in graphs, compared with the same on the
// CPU.
#include <optional>

#include "multigpu/shards.hpp"

using namespace shards;

namespace sweeps {
namespace {

using plain = std::vector<unsigned>;

// A different factor for each neighbour: confusing two of them changes the sum.
struct relax {
  FERRY_HOST_DEVICE void operator()(std::size_t r, std::size_t c, fr::shard_span<const unsigned, 2> u,
                                    fr::shard_span<unsigned, 2> v) const {
    const auto i = static_cast<std::ptrdiff_t>(r), j = static_cast<std::ptrdiff_t>(c);
    v(i, j) = u(i, j) + 3 * u(i - 1, j) + 5 * u(i + 1, j) + 7 * u(i, j - 1) + 11 * u(i, j + 1) + 13 * u(i + 1, j - 1);
  }
};
// Cells of one chessboard colour, whose neighbours have the other colour.
struct relax_colour {
  unsigned which;
  FERRY_HOST_DEVICE void operator()(std::size_t r, std::size_t c, fr::shard_span<unsigned, 2> u) const {
    if ((r + c) % 2 != which) return;
    const auto i = static_cast<std::ptrdiff_t>(r), j = static_cast<std::ptrdiff_t>(c);
    u(i, j) += 3 * u(i - 1, j) + 5 * u(i + 1, j) + 7 * u(i, j - 1) + 11 * u(i, j + 1);
  }
};

// The same for all cells of a periodic field.
struct field {
  std::size_t rows, columns;
  plain u;
  unsigned at(std::size_t i, std::size_t j) const { return u[i % rows * columns + j % columns]; }
  unsigned cross(std::size_t i, std::size_t j) const {
    return at(i, j) + 3 * at(i + rows - 1, j) + 5 * at(i + 1, j) + 7 * at(i, j + columns - 1) + 11 * at(i, j + 1);
  }
  void step() {
    plain v(u.size());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) v[i * columns + j] = cross(i, j) + 13 * at(i + 1, j + columns - 1);
    u = v;
  }
  void step(unsigned colour) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        if ((i + j) % 2 == colour) u[i * columns + j] = cross(i, j);
  }
};

struct program {
  fr::submission by;
  bool in_graphs, in_place;
};

template <fr::memory_kind Kind>
bool is_right(std::size_t seed, const program& how) {
  fr::simulation sim(simulated_machine(seed, 1 + seed % 4));
  sim.get().checks.set(fr::check::halos, seed % 2 == 1);  // must not report anything
  dice d(seed);
  fr::team t = fr::team::all();
  t.submit(how.by);
  // An even number of cells along both axes, so that the colours alternate across the ends.
  field f{8 + 2 * d.below(3), 8 + 2 * d.below(3), {}};
  for (std::size_t i = 0; i < f.rows * f.columns; ++i) f.u.push_back(static_cast<unsigned>(i * 2654435761U >> 16U));
  const auto width = static_cast<std::ptrdiff_t>(d.between(1, 2));
  fr::shard_options o = any_cut(d, 2, t.size());
  o.halo = {width, width}, o.periodic = {true, true};
  o.exchange = static_cast<fr::halo_method>(d.below(3));
  fr::sharded_array<unsigned, 2, Kind> a(t, {f.rows, f.columns}, o, 0U), b(t, {f.rows, f.columns}, o, 0U);
  fr::copy(std::span<const unsigned>(f.u), a);
  fr::exchange_halos(a);
  const auto twice = [&] {
    if (how.in_place) {
      for (const unsigned colour : {0U, 1U}) fr::parallel_for(fr::sweep(a), relax_colour{colour}, fr::inout(a));
    } else {
      fr::parallel_for(fr::sweep(b), relax{}, fr::in(a), fr::out(b));
      fr::parallel_for(fr::sweep(a), relax{}, fr::in(b), fr::out(a));
    }
  };
  constexpr int rounds = 4;
  std::optional<fr::graph> captured;
  if (how.in_graphs) captured.emplace(fr::capture(t.stream(0), twice));
  for (int i = 0; i < rounds; ++i) {  // alternates with work outside graphs
    if (how.in_graphs && i % 2 == 0)
      captured->launch(t.stream(0));
    else
      twice();
    for (unsigned k = 0; k < 2; ++k) how.in_place ? f.step(k) : f.step();
  }
  return fr::to_vector(a) == f.u;
}

}  // namespace
}  // namespace sweeps

BOOST_AUTO_TEST_SUITE(sweeps)

BOOST_AUTO_TEST_CASE(as_on_the_cpu) {
  for (std::size_t seed = 0; seed < 8 * seeds(6); ++seed) {
    const std::size_t k = seed + seed / 8;  // the number of devices depends on seed % 4
    const bool threads = k % 2 != 0, in_graphs = k / 2 % 2 != 0, in_place = k / 4 % 2 != 0;
    BOOST_TEST_CONTEXT("seed " << seed << ", threads " << threads << ", graphs " << in_graphs << ", in place "
                               << in_place) {
      const program how{threads ? fr::submission::by_threads : fr::submission::by_caller, in_graphs, in_place};
      BOOST_TEST(is_right<fr::memory_kind::device>(seed, how));
      BOOST_TEST(is_right<fr::memory_kind::unified>(seed, how));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
