// Predictions of a budget, compared with the following allocation.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <ferry/core.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace memory_budgets {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

fr::device_array<char> device_bytes(std::size_t n, int d = 0) { return fr::device_array<char>({n}, fr::device(d)); }

constexpr fr::pool_kind every_kind[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                        fr::pool_kind::none};

// Enqueues work on a stream that uses all of the bytes.
void use(const fr::stream& s, const fr::detail::allocation_ref& r) {
  fr::detail::access one{&r.get(), r.get().range(), true};
  fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&one, 1}));
  const fr::detail::kernel_use bytes{r.get().begin, r.get().bytes, true, true};
  fr::runtime::current().backend().launch(s.timeline().stream(),
                                          {"use", {&bytes, 1}, [](const fr::detail::relocation&) {}});
}

void check_words(fr::pool_kind kind, memory_kind memory, unsigned seed) {
  fr::pool_options options{512, 8 << 10, 64 << 10, kind};
  if (seed % 2 && (kind == fr::pool_kind::split || kind == fr::pool_kind::binned)) options.max_split_size = 64 << 10;
  const fr::simulation sim("devices=2;memory=1MiB" + (seed % 3 ? ";schedule=random:" + std::to_string(seed) : ""),
                           options);
  const fr::device d0(0);
  fr::set_memory_limit(d0, {.hard = seed % 2 ? "75%" : "100%"});
  if (memory != memory_kind::device)
    fr::set_memory_limit({.on = d0, .kind = memory}, {.hard = memory == memory_kind::host ? "512KiB" : "50%"});
  fr::detail::memory_pool& pool = fr::runtime::current().pool(memory, 0);
  fr::pool other(d0, {.kind = seed % 2 ? fr::pool_kind::driver : fr::pool_kind::binned});
  const fr::memory_budget budget({.on = d0, .kind = memory});
  const fr::stream streams[] = {fr::stream(d0), fr::stream(d0)};
  std::mt19937 random(seed);
  std::vector<fr::detail::allocation_ref> held;
  for (int i = 0; i < 100; ++i) {
    const std::size_t n = random() % 8 ? random() % (128 << 10) + 1 : random() % (1 << 20) + 1;
    if (!held.empty() && random() % 2) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
    if (random() % 16 == 0) try {
        (void)other.allocate(random() % (256 << 10) + 1, memory);
      } catch (const fr::out_of_memory&) {
      }
    const bool fits = budget.would_fit(n);
    const std::size_t room = budget.available_bytes();
    bool came = true;
    try {
      held.push_back(pool.allocate(n));
      if (random() % 2) use(streams[random() % 2], held.back());
    } catch (const fr::out_of_memory&) {
      came = false;
    }
    BOOST_TEST((fits == came && (!came || n <= room)),
               fr::pool_kind_name(kind) << " pool of " << fr::kind_name(memory) << " memory, seed " << seed << ", step "
                                        << i << ": " << n << " bytes of " << room << ", said " << fits);
  }
}

// The same for arrays as programs create them: all kinds, with red zones and a quarantine, under tags, within
// workspaces. With unified memory the schedule is eager, because the time at which pending work takes pages is
// unpredictable.
void check_arrays(fr::pool_kind kind, unsigned seed) {
  const bool pages = seed & 1, checked = seed & 2, workspaces = seed & 4, tags = seed & 8, limits = seed & 16;
  fr::pool_options options{512, 8 << 10, 64 << 10, kind};
  if (seed % 3 == 0 && (kind == fr::pool_kind::split || kind == fr::pool_kind::binned))
    options.max_split_size = 64 << 10;
  const fr::simulation sim("devices=2;memory=1MiB" + (pages ? "" : ";schedule=random:" + std::to_string(seed)),
                           options);
  const fr::device d0(0);
  if (limits) fr::set_memory_limit(d0, {.hard = "75%"});
  if (limits) fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "512KiB"});
  if (tags) fr::set_memory_limit({.tag = "of a budget"}, {.hard = "300KiB"});
  if (checked) fr::set_memory_checks(fr::memory_checks());
  const fr::stream streams[] = {fr::stream(d0), fr::stream(d0), fr::stream(fr::device(1))};
  std::mt19937 random(seed);
  fr::workspace w;
  std::vector<fr::detail::allocation_ref> held;
  for (int i = 0; i < 100; ++i) {
    const std::size_t n = random() % 8 ? random() % (128 << 10) + 1 : random() % (1 << 20) + 1;
    if (!held.empty() && random() % 2) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
    const memory_kind memory = random() % 3 == 0            ? memory_kind::host
                               : pages && random() % 2 == 0 ? memory_kind::unified
                                                            : memory_kind::device;
    std::optional<fr::workspace_scope> scope;
    if (workspaces && random() % 2) scope.emplace(w);
    std::optional<fr::memory_tag_scope> tag;
    if (tags && random() % 2) tag.emplace("of a budget");
    const bool fits = fr::memory_budget({.on = d0, .kind = memory}).would_fit(n);
    bool came = true;
    try {
      held.push_back(fr::detail::allocate_array(memory, d0, n, 1));
      if (random() % 2) use(streams[random() % (memory == memory_kind::device ? 2 : 3)], held.back());
    } catch (const fr::out_of_memory&) {
      came = false;
    }
    BOOST_TEST((fits == came), fr::pool_kind_name(kind)
                                   << " pool, " << fr::kind_name(memory) << " memory, seed " << seed << ", step " << i
                                   << ": " << n << " bytes, said " << fits);
  }
  held.clear();
  w.clear();
  fr::set_memory_checks(std::nullopt);
}

}  // namespace
}  // namespace memory_budgets

BOOST_AUTO_TEST_SUITE(memory_budgets)

BOOST_AUTO_TEST_CASE(budgets_answer_before_the_allocation) {
  for (const fr::pool_kind kind : every_kind) {
    fr::simulation sim("devices=2;memory=64MiB", {.kind = kind});
    const fr::memory_budget budget(fr::device(0));
    BOOST_TEST(budget.would_fit(64 * MiB));
    BOOST_TEST(!budget.would_fit(64 * MiB + 1));
    for (const std::size_t overflow : {SIZE_MAX, SIZE_MAX - 1, std::size_t{1} << 63, (std::size_t{1} << 63) + 1})
      BOOST_TEST(!budget.would_fit(overflow));
    fr::set_memory_limit(fr::device(0), {.hard = "32MiB"});
    BOOST_TEST(budget.available_bytes() == 32 * MiB);
    {
      const auto a = device_bytes(16 * MiB);
      BOOST_TEST(budget.available_bytes() == 16 * MiB);
      BOOST_TEST(budget.would_fit(16 * MiB));
      BOOST_TEST(!budget.would_fit(16 * MiB + 1));
      const auto b = device_bytes(16 * MiB);
      BOOST_TEST(budget.available_bytes() == 0u);
      BOOST_TEST(!budget.would_fit(1));
    }
    BOOST_TEST(budget.would_fit(32 * MiB));  // cached, and released when needed
    { const auto all = device_bytes(32 * MiB); }
    fr::set_memory_limit({.tag = "io"}, {.hard = "1MiB"});
    const fr::memory_budget of_tag({.on = fr::device(1), .tag = "io"});
    BOOST_TEST(of_tag.would_fit(MiB));
    BOOST_TEST(!of_tag.would_fit(MiB + 1));
    BOOST_CHECK_THROW(fr::memory_budget({.kind = memory_kind::host}), fr::invalid_argument);
    BOOST_CHECK_THROW(fr::memory_budget(fr::device(7)), fr::invalid_argument);
  }
}

// A device limit covers device and unified memory: cached bytes of one kind are released for the other.
BOOST_AUTO_TEST_CASE(kinds_under_one_limit_make_room_for_each_other) {
  for (const fr::pool_kind kind : every_kind) {
    fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
    fr::set_memory_limit(fr::device(0), {.hard = "32MiB"});
    for (int i = 0; i < 3; ++i) {
      const fr::memory_budget of_device(fr::device(0));
      const fr::memory_budget of_unified({.on = fr::device(0), .kind = memory_kind::unified});
      { const auto a = device_bytes(32 * MiB); }
      BOOST_TEST(of_unified.would_fit(30 * MiB));
      { const fr::unified_array<char> u({30 * MiB}); }
      BOOST_TEST(of_device.would_fit(32 * MiB));
    }
  }
}

BOOST_AUTO_TEST_CASE(budgets_count_red_zones) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::none});
  const fr::memory_budget budget(fr::device(0));
  const fr::memory_checks_scope checks(fr::memory_checks{.red_zone = MiB});
  BOOST_TEST(budget.available_bytes() == 62 * MiB);
  BOOST_TEST(budget.would_fit(62 * MiB));
  BOOST_TEST(!budget.would_fit(62 * MiB + 1));
  BOOST_TEST(!budget.would_fit(SIZE_MAX - MiB));
  BOOST_CHECK_THROW(device_bytes(62 * MiB + 1), fr::out_of_memory);
  const auto all = device_bytes(62 * MiB);
  BOOST_TEST(budget.available_bytes() == 0u);
}

// A budget's answers are right, positive or negative: random sizes compared with the result. Some freed bytes are still
// in use by work, and others are cached by another pool of the device.
BOOST_AUTO_TEST_CASE(budgets_predict_allocations) {
  for (const fr::pool_kind kind : every_kind)
    for (const memory_kind memory : {memory_kind::device, memory_kind::unified, memory_kind::host})
      for (unsigned seed = 0; seed < 4; ++seed) check_words(kind, memory, seed);
}

BOOST_AUTO_TEST_CASE(budgets_predict_allocations_of_arrays) {
  for (const fr::pool_kind kind : every_kind)
    for (unsigned seed = 0; seed < 64; ++seed) check_arrays(kind, seed);
}

// The budget uses the pool of the thread's scope, with its options and its limit.
BOOST_AUTO_TEST_CASE(budgets_use_the_pool_of_the_scope) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  const fr::memory_budget budget(fr::device(0));
  fr::pool binned(fr::device(0), {.kind = fr::pool_kind::binned});
  fr::pool bounded(fr::device(0), {.kind = fr::pool_kind::driver, .max_bytes = 8 * MiB});
  BOOST_TEST(budget.would_fit(40 * MiB));
  {
    const fr::pool_scope use(binned);
    BOOST_TEST(budget.would_fit(40 * MiB));  // rounded to 64
    fr::set_memory_limit(fr::device(0), {.hard = "48MiB"});
    BOOST_TEST(!budget.would_fit(40 * MiB));
    BOOST_CHECK_THROW(device_bytes(40 * MiB), fr::out_of_memory);
    BOOST_TEST(budget.would_fit(32 * MiB));
    fr::set_memory_limit(fr::device(0), {});
  }
  {
    const fr::pool_scope use(bounded);
    BOOST_TEST(budget.available_bytes() == 8 * MiB);
    BOOST_TEST(budget.would_fit(8 * MiB));
    BOOST_TEST(!budget.would_fit(8 * MiB + 1));
    const auto a = device_bytes(5 * MiB);
    BOOST_TEST(budget.available_bytes() == 3 * MiB);
    BOOST_TEST(!budget.would_fit(3 * MiB + 1));
    BOOST_CHECK_THROW(device_bytes(3 * MiB + 1), fr::out_of_memory);
    const auto b = device_bytes(3 * MiB);
  }
  const auto kept = device_bytes(48 * MiB);
  BOOST_TEST(budget.would_fit(16 * MiB));  // the other pools' caches are released first
  const auto rest = device_bytes(16 * MiB);
  BOOST_TEST(!budget.would_fit(1));
}

// More free blocks that are too small than the pool's fast search examines do not hide a block that is large enough.
BOOST_AUTO_TEST_CASE(a_block_behind_many_is_found) {
  constexpr std::size_t block = 512, segment = 264 * block;
  fr::simulation sim("devices=1;memory=" + std::to_string(21 * segment),
                     {block, segment, segment, fr::pool_kind::split});
  const fr::memory_budget budget(fr::device(0));
  std::vector<fr::device_array<char>> blocks, rest;  // two fill a segment
  for (int i = 0; i < 21; ++i) {
    blocks.push_back(device_bytes((i == 0 ? 131 : 128) * block));
    rest.push_back(device_bytes(segment - blocks.back().size()));
  }
  BOOST_TEST(!budget.would_fit(130 * block));
  blocks[0] = {};
  std::jthread([&] { blocks.clear(); }).join();
  BOOST_TEST(budget.would_fit(130 * block));
  const auto found = device_bytes(130 * block);
}

BOOST_AUTO_TEST_SUITE_END()
