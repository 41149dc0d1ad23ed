// Loops over batches: every piece arrives, results are written back, and any error ends the loop and nothing else.
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <ferry/unified.hpp>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>

#include "contract/small_chunks.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;
using support::failure_of;

namespace batches {
namespace {

struct twice_plus_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] = 2 * x[i] + 1; }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x) const { x[i] += 1; }
};
struct row_sums {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const float, 2> a, float* to) const {
    float sum = 0;
    for (std::size_t j = 0; j < a.extent(1); ++j) sum += a(i, j);
    to[i] = sum;
  }
};

std::vector<int> counting(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}
std::vector<int> doubled(const std::vector<int>& x) {
  std::vector<int> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i] + 1;
  return y;
}

constexpr fr::detail::batch_threads both_ways[] = {fr::detail::batch_threads::background,
                                                   fr::detail::batch_threads::none};

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace
}  // namespace batches

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(every_piece_arrives_and_results_come_back_in_order) {
  for (const auto threads : both_ways)
    for (const std::size_t n : {0u, 1u, 999u, 1000u, 1001u, 10007u})
      for (const std::size_t depth : {1u, 2u, 5u}) {
        const std::vector<int> x = counting(n);
        std::vector<int> y(n, -1);
        std::size_t pieces = 0, elements = 0;
        for (auto&& [xb, yb] : fr::batches(x, fr::out(y), {.size = 1000, .depth = depth, .threads = threads})) {
          fr::parallel_for(xb.size(), twice_plus_one{}, fr::in(xb), fr::out(yb));
          ++pieces, elements += xb.size();
        }
        BOOST_TEST(pieces == (n + 999) / 1000);
        BOOST_TEST(elements == n);
        BOOST_TEST((y == doubled(x)), n << " elements, depth " << depth);
      }
}

BOOST_AUTO_TEST_CASE(elements_are_read_and_written) {
  for (const auto threads : both_ways) {
    std::vector<int> x = counting(1234);
    for (auto&& xb : fr::batches(fr::inout(x), {.size = 100, .threads = threads}))
      fr::parallel_for(xb.size(), add_one{}, xb);
    BOOST_TEST((x.front() == 1 && x.back() == 1234));
  }
}

// A loop that enqueues work on its own streams, and never waits.
BOOST_AUTO_TEST_CASE(memory_is_used_again_behind_the_work_on_it) {
  const std::size_t alive = fr::runtime::current().allocations();
  const std::vector<int> x = counting(50000);
  std::vector<int> y(x.size());
  {
    std::vector<fr::stream> streams;
    for (int k = 0; k < 3; ++k) streams.emplace_back();
    std::size_t k = 0, most = 0;
    for (auto&& [xb, yb] : fr::batches(x, fr::out(y), {.size = 700, .depth = 3})) {
      fr::parallel_for(streams[k++ % 3], xb.size(), twice_plus_one{}, fr::in(xb), fr::out(yb));
      most = std::max(most, fr::runtime::current().allocations() - alive);
    }
    BOOST_TEST(most <= 2 * 3u);  // one piece per source and slot
  }
  BOOST_TEST((y == doubled(x)));
  BOOST_TEST(fr::runtime::current().allocations() == alive);
}

BOOST_AUTO_TEST_CASE(arrays_of_every_kind_and_strided_views) {
  const fr::extents<2> e(37, 8);
  fr::host_array<float, 2> pinned(e);
  fr::unified_array<float, 2> managed(e);
  for (std::size_t i = 0; i < e.count(); ++i) pinned.begin()[i] = managed.begin()[i] = static_cast<float>(i);
  fr::host_array<float> sums({37}, 0.f), half({37}, 0.f);
  const auto left = std::as_const(managed).slice({fr::all_of, {0, 4}});
  for (auto&& [p, l, s, h] : fr::batches(pinned, left, fr::out(sums), fr::out(half), {.size = 5})) {
    BOOST_TEST((p.extent(1) == 8 && l.extent(1) == 4));
    fr::parallel_for(p.extent(0), row_sums{}, fr::in(p), fr::out(s));
    fr::parallel_for(l.extent(0), row_sums{}, fr::in(l), fr::out(h));
  }
  for (std::size_t i = 0; i < 37; ++i) {
    const auto first = static_cast<float>(8 * i);
    BOOST_TEST(sums[i] == 8 * first + 28);
    BOOST_TEST(half[i] == 4 * first + 6);
  }
}

BOOST_AUTO_TEST_CASE(ragged_pieces_of_a_generator) {
  for (const auto threads : both_ways) {
    int made = 0;
    const auto ragged = [&]() -> std::optional<std::vector<int>> {
      if (made == 9) return {};
      return counting(static_cast<std::size_t>(made++ % 3) * 500);  // empty ones, too
    };
    std::vector<std::size_t> sizes;
    int sum = 0;
    for (auto&& piece : fr::batches(fr::generate(ragged), {.depth = 2, .threads = threads})) {
      sizes.push_back(piece.size());
      for (const int v : fr::to_vector(piece)) sum += v;
    }
    BOOST_TEST((sizes == std::vector<std::size_t>{0, 500, 1000, 0, 500, 1000, 0, 500, 1000}));
    BOOST_TEST(sum == 3 * (499 * 500 / 2 + 999 * 1000 / 2));
  }
}

BOOST_AUTO_TEST_CASE(tuples_nest) {
  const std::vector<int> x = counting(30);
  std::vector<int> y(30), z(30);
  int made = 0;
  const auto gen = [&]() -> std::optional<std::vector<double>> {
    return made++ < 3 ? std::optional(std::vector<double>(static_cast<std::size_t>(made), 1.5)) : std::nullopt;
  };
  for (auto&& [xb, rest] :
       fr::batches(x, std::tuple(fr::out(y), std::tuple(fr::out(z), fr::generate(gen))), {.size = 10})) {
    auto&& [yb, deeper] = rest;
    auto&& [zb, g] = deeper;
    fr::parallel_for(10, twice_plus_one{}, fr::in(xb), fr::out(yb));
    fr::parallel_for(10, twice_plus_one{}, fr::in(yb), fr::out(zb));
    BOOST_TEST(fr::to_vector(g).size() >= 1);
  }
  BOOST_TEST((y == doubled(x) && z == doubled(y)));
}

BOOST_AUTO_TEST_CASE(what_a_source_throws_reaches_the_loop) {
  for (const auto threads : both_ways) {
    int made = 0, seen = 0;
    const auto failing = [&]() -> std::optional<std::vector<int>> {
      if (made == 3) throw std::runtime_error("the disk is gone");
      return std::vector<int>(10, made++);
    };
    const auto walk = [&] {
      for (auto&& piece : fr::batches(fr::generate(failing), {.threads = threads})) {
        BOOST_TEST(fr::to_vector(piece)[0] == seen);
        ++seen;
      }
    };
    BOOST_TEST(failure_of<std::runtime_error>(walk) == "the disk is gone");
    BOOST_TEST(seen == 3);  // earlier pieces are not lost
  }
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_left_stores_earlier_pieces) {
  for (const auto threads : both_ways) {
    const std::vector<int> x = counting(1000);
    std::vector<int> y(1000, -1);
    int turn = 0;
    const auto walk = [&] {
      for (auto&& [xb, yb] : fr::batches(x, fr::out(y), {.size = 100, .depth = 2, .threads = threads})) {
        fr::parallel_for(xb.size(), twice_plus_one{}, fr::in(xb), fr::out(yb));
        if (++turn == 5) throw std::runtime_error("enough");
      }
    };
    BOOST_CHECK_THROW(walk(), std::runtime_error);
    const std::vector<int> right = doubled(x);
    // The piece before last may still be pending when the loop ends. Without threads, it is stored when the next piece
    // is taken.
    BOOST_TEST(std::equal(y.begin(), y.begin() + 400, right.begin()));
    BOOST_TEST(std::all_of(y.begin() + 400, y.end(), [](int v) { return v == -1; }));
  }
}

BOOST_AUTO_TEST_CASE(lengths_that_differ) {
  const std::vector<int> x(100), y(99);
  BOOST_TEST(contains(failure_of<fr::invalid_argument>([&] { fr::batches(x, y); }), "100 rows and another 99"));
  BOOST_TEST(contains(failure_of<fr::invalid_argument>([&] { fr::batches(x, {.depth = 0}); }), "depth of 0"));
  for (const std::size_t much : {std::size_t{4097}, std::size_t{1} << 40, ~std::size_t{0}})
    BOOST_TEST(
        contains(failure_of<fr::invalid_argument>([&] { fr::batches(x, {.depth = much}); }), "1 to 4096 pieces"));
  int made = 0;
  const auto two = [&]() -> std::optional<std::vector<int>> {
    return made++ < 2 ? std::optional(std::vector<int>(7)) : std::nullopt;
  };
  int turns = 0;
  const auto walk = [&] {
    for (auto&& pieces : fr::batches(x, fr::generate(two), {.size = 10})) {
      (void)pieces;
      ++turns;
    }
  };
  BOOST_TEST(contains(failure_of<fr::invalid_argument>(walk), "ended before the others"));
  BOOST_TEST(turns == 2);
}

BOOST_AUTO_TEST_CASE(a_mapped_file_and_one_that_shrinks) {
  const std::string path = (std::filesystem::temp_directory_path() / "ferry_batches.npy").string();
  const std::vector<float> all(1000 * 8, 0.5f);
  fr::save_npy(path, all, fr::extents<2>(1000, 8));
  const auto map = fr::map_npy<float, 2>(path);
  std::vector<float> sums(1000);
  for (auto&& [a, s] : fr::batches(map, fr::out(sums), {.size = 64}))
    fr::parallel_for(a.extent(0), row_sums{}, fr::in(a), fr::out(s));
  BOOST_TEST(std::all_of(sums.begin(), sums.end(), [](float v) { return v == 4.f; }));

  const auto walk = [&] {
    int turn = 0;
    for (auto&& a : fr::batches(map, {.size = 10, .depth = 2})) {
      (void)a;
      if (++turn == 3) std::filesystem::resize_file(path, 5000);
    }
  };
  BOOST_TEST(contains(failure_of<fr::error>(walk), "has become shorter while it is mapped: it has 5000 bytes"));
  BOOST_TEST(contains(failure_of<fr::parse_error>([&] { fr::map_npy<float, 2>(path); }), "bytes of data"));
  std::remove(path.c_str());
  BOOST_TEST(contains(failure_of<fr::error>([&] { fr::map_npy<float, 2>(path); }), "cannot read"));
}

BOOST_AUTO_TEST_CASE(a_piece_that_does_not_fit) {
  fr::simulation sim("devices=1;memory=64MiB");
  const std::vector<char> x(std::size_t{100} << 20);
  int turns = 0;
  const auto walk = [&] {
    for (auto&& piece : fr::batches(x, {.size = x.size()})) {
      (void)piece;
      ++turns;
    }
  };
  BOOST_CHECK_THROW(walk(), fr::out_of_memory);
  BOOST_TEST(turns == 0);
  std::size_t n = 0;
  for (auto&& piece : fr::batches(x, {.size = std::size_t{8} << 20, .depth = 2})) n += piece.size();
  BOOST_TEST(n == x.size());
}

// Pinned memory passed as a span is read when the device reaches the copy: the loop waits for that at its end, even
// after an exception.
BOOST_AUTO_TEST_CASE(pinned_sources_are_the_program_s_own_again) {
  for (const auto threads : both_ways)
    for (const int turns : {1, 3, 100})
      for (int seed = 0; seed < 10; ++seed) {
        fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
        std::vector<int> x = counting(1000);
        const auto held = fr::pin(x);
        fr::device_array<int> all({1000}, 0);
        int turn = 0;
        for (auto&& piece : fr::batches(x, {.size = 100, .threads = threads})) {
          const auto first = static_cast<std::size_t>(100 * turn);
          fr::copy(piece, all.slice({first, first + 100}));
          if (++turn == turns) break;
        }
        std::fill(x.begin(), x.end(), -1);
        const std::vector<int> got = fr::to_vector(all), right = counting(1000);
        BOOST_TEST(std::equal(got.begin(), got.begin() + 100 * turn, right.begin()), "seed " << seed);
        BOOST_TEST(turn == std::min(turns, 10));
      }
}

// Pageable memory with rings of few chunks: pieces with more chunks than a ring, read while others are uploaded.
BOOST_AUTO_TEST_CASE(pieces_that_threads_read_ahead) {
  const auto run = [](const std::string& schedule, std::size_t size) {
    fr::simulation sim("devices=1;schedule=" + schedule);
    const contract::small_chunks small;
    const std::vector<int> x = counting(12000);
    std::vector<int> y(x.size(), -1), z = x;
    std::size_t made = 0;
    const auto gen = [&]() -> std::optional<std::vector<int>> {
      const std::size_t first = made++ * size;
      if (first >= x.size()) return {};
      return std::vector<int>(x.begin() + static_cast<std::ptrdiff_t>(first),
                              x.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, x.size())));
    };
    int first = 0;
    bool right = true;
    for (auto&& [xb, yb, zb, g] :
         fr::batches(std::tuple(std::span(x), fr::out(y), fr::inout(z), fr::generate(gen)), {.size = size})) {
      fr::parallel_for(xb.size(), twice_plus_one{}, fr::in(xb), fr::out(yb));
      fr::parallel_for(zb.size(), add_one{}, zb);
      for (const int v : fr::to_vector(g)) right = right && v == first++;
    }
    BOOST_TEST(right);
    BOOST_TEST((y == doubled(x)));
    BOOST_TEST((z.front() == 1 && z.back() == 12000 && std::is_sorted(z.begin(), z.end())));
    BOOST_TEST(fr::runtime::current().allocations() == 0);
  };
  for (const std::size_t size : {50u, 700u, 3000u}) {
    run("eager", size);
    for (int seed = 0; seed < 5; ++seed) run("random:" + std::to_string(seed), size);
  }
}

// Pieces in the generator's own memory, where it creates the next one, too.
BOOST_AUTO_TEST_CASE(a_generator_that_uses_its_memory_again) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=1");
    const contract::small_chunks small;
    std::vector<int> own(3000);
    int made = 0;
    const auto gen = [&]() -> std::optional<std::span<const int>> {
      if (made == 20) return {};
      std::fill(own.begin(), own.end(), made++);
      return own;
    };
    int turn = 0;
    for (auto&& piece : fr::batches(fr::generate(gen), {.threads = threads})) {
      const auto v = fr::to_vector(piece);
      BOOST_TEST(std::all_of(v.begin(), v.end(), [&](int e) { return e == turn; }), "piece " << turn);
      ++turn;
    }
    BOOST_TEST(turn == 20);
  }
}

// Pieces read ahead are dropped, and the source memory may be freed at once.
BOOST_AUTO_TEST_CASE(a_source_that_ends_with_a_loop_that_was_left) {
  fr::simulation sim("devices=1");
  const contract::small_chunks small;
  for (int turns = 1; turns < 6; ++turns)
    for (int round = 0; round < 10; ++round) {
      auto x = std::make_unique<std::vector<int>>(counting(20000));
      int turn = 0;
      for (auto&& [piece, g] :
           fr::batches(*x, fr::generate([] { return std::optional(counting(2000)); }), {.size = 1500})) {
        BOOST_TEST(fr::to_vector(piece)[0] == 1500 * turn);
        BOOST_TEST(fr::to_vector(g)[1999] == 1999);
        if (++turn == turns) break;
      }
      x.reset();
      BOOST_TEST(fr::runtime::current().allocations() == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_reaches_the_loop) {
  for (int nth = 1; nth < 80; nth += 3) {
    const support::quiet_stderr quiet;
    fr::simulation sim("devices=1;fail=copy@" + std::to_string(nth));
    const contract::small_chunks small;
    const std::vector<int> x = counting(10000), z = counting(10000);
    int turns = 0;
    const auto walk = [&] {
      for (auto&& pieces : fr::batches(x, z, {.size = 1000})) {
        (void)pieces;
        ++turns;
      }
    };
    BOOST_TEST(contains(failure_of<fr::device_error>(walk), "fail="), "copy " << nth);
    BOOST_TEST(turns == (nth - 1) / 12);  // pieces of two sources, 4000 bytes each, in chunks of 700
  }
}

// Uploads, kernels and downloads on separate streams: right under any schedule that CUDA allows.
BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::host_array<int> x({3000}), y({3000}, 0);
    std::iota(x.begin(), x.end(), 0);
    {
      fr::stream s0(fr::devices()[0]), s1(fr::devices()[0]);
      int turn = 0;
      for (auto&& [xb, yb] :
           fr::batches(x, fr::out(y), {.size = 128, .depth = 2, .threads = fr::detail::batch_threads::none})) {
        fr::parallel_for(turn++ % 2 ? s0 : s1, xb.size(), twice_plus_one{}, fr::in(xb), fr::out(yb));
      }
    }
    bool right = true;
    for (std::size_t i = 0; i < 3000; ++i) right = right && y[i] == 2 * static_cast<int>(i) + 1;
    BOOST_TEST(right, "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
