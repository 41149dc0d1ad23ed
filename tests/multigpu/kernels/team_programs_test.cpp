// Random programs over fields on a team, under many schedules, compared with the same programs on plain arrays.
#include "multigpu/shards.hpp"
#include "support/quiet_stderr.hpp"

using namespace shards;
using u32 = std::uint32_t;

namespace team_programs {
namespace {

using read_field = fr::shard_span<const u32, 2>;
using write_field = fr::shard_span<u32, 2>;

// How many cells a loop reads in each direction, and whether it wraps.
struct reach_of {
  std::ptrdiff_t rows, columns;
  bool wraps_rows, wraps_columns;
};

// A sum over a cross of neighbours; missing neighbours count as 0.
struct cross {
  reach_of reach;
  u32 k;

  FERRY_HOST_DEVICE u32 neighbour(const read_field& u, std::ptrdiff_t i, std::ptrdiff_t j) const {
    const auto rows = static_cast<std::ptrdiff_t>(u.extent(0)), columns = static_cast<std::ptrdiff_t>(u.extent(1));
    if ((i < 0 || i >= rows) && !reach.wraps_rows) return 0;
    if ((j < 0 || j >= columns) && !reach.wraps_columns) return 0;
    return u(i, j);
  }
  FERRY_HOST_DEVICE u32 at(std::size_t row, std::size_t column, const read_field& u) const {
    const auto i = static_cast<std::ptrdiff_t>(row), j = static_cast<std::ptrdiff_t>(column);
    return k + u(row, column) + 3 * neighbour(u, i - reach.rows, j) + 5 * neighbour(u, i + reach.rows, j) +
           7 * neighbour(u, i, j - reach.columns) + 11 * neighbour(u, i, j + reach.columns) +
           13 * neighbour(u, i + reach.rows, j - reach.columns);
  }
  FERRY_HOST_DEVICE u32 operator()(std::size_t i, std::size_t j, read_field u, write_field v) const {
    v(i, j) = at(i, j, u);
    return v(i, j) * static_cast<u32>(i * 31 + j);
  }
};
struct cross_tiles {
  cross one;
  FERRY_HOST_DEVICE u32 operator()(fr::tile t, read_field u, write_field v) const {
    u32 sum = 0;
    for (std::size_t i = t.row; i < t.row + t.rows; ++i)
      for (std::size_t j = t.column; j < t.column + t.columns; ++j) sum += one(i, j, u, v);
    return sum;
  }
};
struct add_scaled {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, read_field x, write_field y) const {
    y(i, j) += k * x(i, j);
  }
};
struct weigh {
  FERRY_HOST_DEVICE u32 operator()(std::size_t i, std::size_t j, read_field x) const {
    return x(i, j) * static_cast<u32>(i * 31 + j);
  }
};

// The oracle: a field in plain memory.
struct plain_field {
  fr::extents<2> e;
  std::vector<u32> cells;
  u32 get(std::ptrdiff_t i, std::ptrdiff_t j, const reach_of& r) const {
    const auto rows = static_cast<std::ptrdiff_t>(e[0]), columns = static_cast<std::ptrdiff_t>(e[1]);
    if (((i < 0 || i >= rows) && !r.wraps_rows) || ((j < 0 || j >= columns) && !r.wraps_columns)) return 0;
    return cells[static_cast<std::size_t>((i + rows) % rows * columns + (j + columns) % columns)];
  }
  u32 weighed() const {
    u32 sum = 0;
    for (std::size_t i = 0; i < e[0]; ++i)
      for (std::size_t j = 0; j < e[1]; ++j) sum += cells[i * e[1] + j] * static_cast<u32>(i * 31 + j);
    return sum;
  }
};
plain_field crossed(const plain_field& u, const reach_of& r, u32 k) {
  plain_field v = u;
  for (std::size_t a = 0; a < u.e[0]; ++a)
    for (std::size_t b = 0; b < u.e[1]; ++b) {
      const auto i = static_cast<std::ptrdiff_t>(a), j = static_cast<std::ptrdiff_t>(b);
      v.cells[a * u.e[1] + b] = k + u.get(i, j, r) + 3 * u.get(i - r.rows, j, r) + 5 * u.get(i + r.rows, j, r) +
                                7 * u.get(i, j - r.columns, r) + 11 * u.get(i, j + r.columns, r) +
                                13 * u.get(i + r.rows, j - r.columns, r);
    }
  return v;
}

template <fr::memory_kind Kind>
class program {
 public:
  program(dice& d, const fr::team& t) : dice_(d), team_(t) {
    const auto [e, o] = any_layout<2>(d, t);
    for (std::size_t f = 0; f < 3; ++f) {
      auto own = o;
      own.exchange = static_cast<fr::halo_method>(d.below(3));
      fields_.emplace_back(t, e, own, 0u);
      plain_.push_back({e, std::vector<u32>(e.count(), 0)});
      fresh_.push_back(true);
    }
    const auto& l = fields_[0].layout();
    // If every device has whole columns, neighbours in them can be read without halos, but do not wrap.
    const auto reach = [&](std::size_t d0) {
      return static_cast<std::ptrdiff_t>(l.halo(d0) > 0 ? d.between(0, l.halo(d0)) : l.is_cut(d0) ? 0 : d.below(2));
    };
    reach_ = {reach(0), reach(1), l.periodic(0) && l.halo(0) > 0, l.periodic(1) && l.halo(1) > 0};
  }

  void run(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) step();
    for (std::size_t f = 0; f < fields_.size(); ++f) compare(f);
    for (const auto& [sum, expected] : sums_) BOOST_TEST(static_cast<u32>(sum.value()) == expected);
  }

 private:
  void step() {
    const std::size_t y = dice_.below(3), x = (y + 1 + dice_.below(2)) % 3;
    const auto k = static_cast<u32>(dice_.below(100));
    switch (dice_.below(9)) {
      case 0:
      case 1:
      case 2: return cross_from(x, y, k);
      case 3:
        fr::parallel_for(fr::owned(fields_[y]), add_scaled{k}, std::as_const(fields_[x]), fields_[y]);
        for (std::size_t i = 0; i < plain_[y].cells.size(); ++i) plain_[y].cells[i] += k * plain_[x].cells[i];
        fresh_[y] = false;
        return;
      case 4: return exchange(x, y);
      case 5:
        sums_.emplace_back(fr::parallel_reduce(fr::owned(fields_[x]), weigh{}, fr::plus{}, fr::in(fields_[x])),
                           plain_[x].weighed());
        if (sums_.size() > 2) {  // read late
          const std::size_t which = dice_.below(sums_.size());
          BOOST_TEST(static_cast<u32>(sums_[which].first.value()) == sums_[which].second);
        }
        return;
      case 6:
        plain_[y].cells = random_values<u32>(dice_, plain_[y].cells.size());
        fr::copy(std::span<const u32>(plain_[y].cells), fields_[y]);
        fresh_[y] = false;
        return;
      case 7:
        swap(fields_[x], fields_[y]);
        std::swap(plain_[x], plain_[y]);
        std::vector<bool>::swap(fresh_[x], fresh_[y]);
        return;
      default:
        if (dice_.below(4) == 0) return compare(x);
        fr::fill(fields_[y], k);
        plain_[y].cells.assign(plain_[y].cells.size(), k);
        fresh_[y] = true;  // with halos; those beyond the ends are not read
        return;
    }
  }

  void cross_from(std::size_t x, std::size_t y, u32 k) {
    if (!fresh_[x] && (reach_.rows > 0 || reach_.columns > 0)) {
      fr::exchange_halos(fields_[x]);
      fresh_[x] = true;
    }
    const cross f{reach_, k};
    const cross_tiles by_tiles{f};
    auto &from = fields_[x], &to = fields_[y];
    const auto tiles_of = [&](const auto& region) { return fr::shard_tiles{region, 3, 4}; };
    const auto all = fr::owned(to), inside = fr::interior(to), edges = fr::boundary(to);
    plain_[y] = crossed(plain_[x], reach_, k);
    fresh_[y] = false;
    const auto keep = [&](auto sum) { sums_.emplace_back(std::move(sum), plain_[y].weighed()); };
    switch (dice_.below(8)) {
      case 0: return fr::parallel_for(all, f, fr::in(from), fr::out(to));
      case 1: return fr::parallel_for(tiles_of(all), by_tiles, fr::in(from), fr::out(to));
      case 2:
        fr::parallel_for(inside, f, fr::in(from), fr::out(to));
        return fr::parallel_for(edges, f, fr::in(from), fr::inout(to));
      case 3:
        fr::parallel_for(tiles_of(edges), by_tiles, fr::in(from), fr::out(to));
        return fr::parallel_for(tiles_of(inside), by_tiles, fr::in(from), fr::out(to));
      case 4: return keep(fr::parallel_reduce(all, f, fr::plus{}, fr::in(from), fr::out(to)));
      case 5:
        fresh_[y] = true;
        return keep(fr::parallel_reduce(fr::sweep(tiles_of(all)), by_tiles, fr::plus{}, fr::in(from), fr::out(to)));
      case 6:
        fresh_[y] = true;
        return keep(fr::parallel_reduce(fr::sweep(to), f, fr::plus{}, fr::in(from), fr::out(to)));
      default: fresh_[y] = true; return fr::parallel_for(fr::sweep(to), f, fr::in(from), fr::out(to));
    }
  }

  void exchange(std::size_t x, std::size_t y) {
    if (dice_.flip()) {
      fr::exchange_halos(fields_[x]);
    } else {
      fr::exchange_halos(fields_[y], fields_[x]);
      fresh_[y] = true;
    }
    fresh_[x] = true;
  }

  void compare(std::size_t f) {
    const std::vector<u32> found = fr::to_vector(fields_[f]);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != plain_[f].cells[i];
    BOOST_TEST(wrong == 0u, wrong << " of " << found.size() << " cells are wrong: " << fields_[f].layout().text());
  }

  dice& dice_;
  fr::team team_;
  reach_of reach_;
  std::vector<fr::sharded_array<u32, 2, Kind>> fields_;
  std::vector<plain_field> plain_;
  std::vector<bool> fresh_;
  std::vector<std::pair<fr::team_scalar<std::uint64_t>, u32>> sums_;  // equal modulo 2^32
};

void run_program(std::size_t seed, fr::team t, std::size_t steps) {
  dice d(seed);
  fr::runtime::current().checks.set(fr::check::halos, seed % 2 == 1);  // must not report anything
  if (seed % 7 == 6) t.submit(fr::submission::by_threads);
  BOOST_TEST_CONTEXT("seed " << seed) {
    if (seed % 3 == 0)
      program<fr::memory_kind::unified>(d, t).run(steps);
    else
      program<fr::memory_kind::device>(d, t).run(steps);
  }
}

}  // namespace
}  // namespace team_programs

BOOST_AUTO_TEST_SUITE(team_programs)

BOOST_AUTO_TEST_CASE(give_what_plain_arrays_give_under_every_schedule) {
  for (std::size_t seed = 0; seed < seeds(150); ++seed) {
    fr::simulation sim(simulated_machine(seed, 1 + seed % 5));
    run_program(seed, fr::team::all(), 40);
  }
}

// Links that lose pages: all unified memory is pinned to the CPU.
BOOST_AUTO_TEST_CASE(give_what_plain_arrays_give_over_links_that_lose_pages) {
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    const support::quiet_stderr said;
    fr::simulation sim("devices=4;broken=0-1:unified,2-3:unified;schedule=random:" + std::to_string(seed));
    run_program(3 * seed, fr::team::all(), 40);
  }
}

BOOST_AUTO_TEST_CASE(give_what_plain_arrays_give_on_this_machine) {
  for (std::size_t seed = 0; seed < 40; ++seed)
    run_program(seed, fr::team(fr::devices().subspan(0, 1 + seed % fr::devices().size())), 60);
}

BOOST_AUTO_TEST_SUITE_END()
