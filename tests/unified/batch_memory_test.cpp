// Memory of the pieces in a loop over batches: room for growing pieces, and the caller's pool and tag.
#include <optional>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "ferry/core/detail/ordering/timelines.hpp"

namespace fr = ferry;

namespace batch_memory {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr fr::detail::batch_threads both_ways[] = {fr::detail::batch_threads::background,
                                                   fr::detail::batch_threads::none};

// Pieces of the given sizes in MiB.
auto pieces_of(std::vector<std::size_t> sizes) {
  return fr::generate([sizes, i = std::size_t{0}]() mutable -> std::optional<std::vector<char>> {
    if (i == sizes.size()) return {};
    const std::size_t n = sizes[i++];
    return std::vector<char>(n * MiB, static_cast<char>(n));
  });
}

std::size_t bytes_under(const std::string& tag) {
  for (const auto& label : fr::memory_use().labels)
    if (label.is_tag && label.label == tag) return label.current_bytes;
  return 0;
}

}  // namespace
}  // namespace batch_memory

BOOST_AUTO_TEST_SUITE(batch_memory)

// A piece's memory is freed before a larger one is allocated.
BOOST_AUTO_TEST_CASE(pieces_that_grow_near_the_limit) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=1;memory=64MiB");
    std::vector<std::size_t> sizes;
    for (auto&& piece : fr::batches(pieces_of({30, 40, 10, 50}), {.depth = 1, .threads = threads})) {
      sizes.push_back(piece.size() / MiB);
      BOOST_TEST(fr::to_vector(piece).back() == static_cast<char>(sizes.back()));
    }
    BOOST_TEST((sizes == std::vector<std::size_t>{30, 40, 10, 50}));
  }
}

BOOST_AUTO_TEST_CASE(pieces_come_from_the_pool_of_the_caller_s_scope) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=2;memory=256MiB");
    const fr::device last = fr::devices()[1];
    fr::pool mine(last, {.kind = fr::pool_kind::split});
    const std::vector<char> x(4 * MiB, 1);
    std::vector<char> y(x.size());
    const auto loop = [&] {
      return fr::batches(x, fr::out(y), {.size = MiB, .depth = 2, .on = last, .threads = threads});
    };
    {
      const fr::pool_scope here(mine);
      for (auto&& [in, out] : loop()) {
        fr::copy(in, out);
        BOOST_TEST(mine.statistics().allocated_bytes >= 2 * MiB);
      }
    }
    BOOST_TEST((y == x));
    BOOST_TEST(mine.statistics().allocated_bytes == 0U);
    for (auto&& [in, out] : loop()) BOOST_TEST((mine.statistics().allocated_bytes == 0U && in.size() == out.size()));
  }
}

BOOST_AUTO_TEST_CASE(pieces_count_under_the_tag_of_the_caller_s_scope) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=1;memory=256MiB");
    const std::vector<char> x(4 * MiB, 1);
    const auto walk = [&](std::size_t expected) {
      for (auto&& piece : fr::batches(x, {.size = MiB, .depth = 2, .threads = threads})) {
        BOOST_TEST(piece.size() == MiB);
        BOOST_TEST(bytes_under("loop") >= expected);
        BOOST_TEST((expected > 0 || bytes_under("loop") == 0U));
      }
    };
    {
      const fr::memory_tag_scope here("loop");
      walk(MiB);
      const fr::device_array<char> after({MiB});  // the thread's own tag applies again
      BOOST_TEST(bytes_under("loop") == MiB);
    }
    walk(0);
  }
}

// Scratch memory for copies of strided pieces comes from the loop's scopes, too.
BOOST_AUTO_TEST_CASE(scratch_memory_is_of_the_scopes_that_the_loop_was_made_in) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=2;peers=none;memory=256MiB");  // strided views are packed for the transfer
    const fr::device far(1);
    fr::pool mine(far), others(far);
    const fr::device_array<char, 2> x({std::size_t{1} << 10, std::size_t{8} << 10}, 1, far);
    fr::device_array<char, 2> y({std::size_t{1} << 10, std::size_t{8} << 10}, 0, far);
    auto half = y.slice({fr::all_of, fr::slice{0, std::size_t{4} << 10}});
    const auto make = [&] {
      const fr::pool_scope from(mine);
      const fr::memory_tag_scope as("loop");
      return fr::batches(x.slice({fr::all_of, fr::slice{0, std::size_t{4} << 10}}), fr::out(half),
                         {.size = 256, .depth = 2, .on = fr::device(0), .threads = threads});
    };
    {
      auto loop = make();
      const fr::pool_scope later(others);
      for (auto&& [in, out] : loop) fr::copy(in, out);
    }
    fr::runtime::current().streams().synchronize();
    BOOST_TEST(mine.statistics().made >= 4U);  // for each piece, for reading and writing
    BOOST_TEST(others.statistics().made == 0U);
    BOOST_TEST(fr::to_vector(half).back() == 1);
  }
}

// Pools of other devices may be destroyed before the loop runs, and a device's scope may belong to an outer runtime.
BOOST_AUTO_TEST_CASE(other_scopes_of_the_caller_may_be_gone) {
  for (const auto threads : both_ways) {
    const fr::simulation four("devices=4");
    const fr::device_scope on_the_last(fr::device(3));
    const fr::simulation two("devices=2;memory=64MiB");
    const std::vector<char> x(4 * MiB, 1);
    auto unused = std::make_optional<fr::pool>(fr::device(1));
    auto used = std::make_optional<fr::pool>(fr::device(0));
    const auto make = [&] {
      const fr::pool_scope one(*unused), other(*used);
      return fr::batches(x, {.size = MiB, .on = fr::device(0), .threads = threads});
    };
    {
      auto loop = make();
      unused.reset();
      const fr::pool_scope own(*used);
      std::size_t pieces = 0;
      for (auto&& piece : loop) {
        BOOST_TEST(used->statistics().allocated_bytes >= piece.size());
        ++pieces;
      }
      BOOST_TEST(pieces == 4U);
    }
    const fr::device_array<char> after({MiB}, fr::device(0));
    BOOST_TEST(fr::pool_scope::of(0) == nullptr);
    BOOST_TEST(fr::default_device() == fr::device(3));
  }
}

// Whichever thread runs the generator.
BOOST_AUTO_TEST_CASE(generators_run_in_the_scopes_that_the_loop_was_made_in) {
  for (const auto threads : both_ways) {
    fr::simulation sim("devices=2;memory=256MiB");
    const fr::device last = fr::devices()[1];
    fr::pool mine(last), others(last);
    std::vector<int> went_to;
    const auto gives = [&, i = 0]() mutable -> std::optional<std::vector<char>> {
      if (i++ == 3) return {};
      const fr::device_array<char> scratch({MiB});
      went_to.push_back(scratch.device().index());
      return std::vector<char>(mine.statistics().allocated_bytes, 1);
    };
    const auto make = [&] {
      const fr::device_scope on_the_last(last);
      const fr::pool_scope from(mine);
      return fr::batches(fr::generate(gives), {.depth = 1, .threads = threads});
    };
    auto loop = make();  // its scopes have ended
    const fr::pool_scope later(others);
    for (auto&& piece : loop) {
      BOOST_TEST(piece.size() >= MiB);
      BOOST_TEST(others.statistics().allocated_bytes == 0U);
    }
    BOOST_TEST((went_to == std::vector<int>{1, 1, 1}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
