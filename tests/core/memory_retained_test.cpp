// Blocks that belong to no array and are not free: retained by workspaces, or in quarantine.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <ferry/core/memory_snapshot.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/device_bytes.hpp"

namespace fr = ferry;
using fr::memory_kind;
using support::device_bytes;
using support::has;
using support::text_of_failure;

namespace memory_retained {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr fr::pool_kind every_kind[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                        fr::pool_kind::none};

void one_iteration(fr::workspace& w, std::size_t n) {
  const fr::workspace_scope iteration(w);
  const auto a = device_bytes(n);
}

// Compares a budget's predictions, inside and outside workspace scopes, with the following allocations.
void check_words(fr::pool_kind kind, memory_kind memory, unsigned seed) {
  const fr::simulation sim("devices=1;memory=1MiB", {512, 8 << 10, 64 << 10, kind});
  const fr::device d0(0);
  fr::set_memory_limit(d0, {.hard = seed % 2 ? "75%" : "100%"});
  if (memory != memory_kind::device)
    fr::set_memory_limit({.on = d0, .kind = memory}, {.hard = memory == memory_kind::host ? "512KiB" : "50%"});
  const fr::memory_budget budget({.on = d0, .kind = memory});
  fr::workspace w;
  std::mt19937 random(seed);
  std::vector<fr::detail::allocation_ref> held;
  for (int i = 0; i < 200; ++i) {
    const std::size_t n = random() % 8 ? random() % (128 << 10) + 1 : random() % (1 << 20) + 1;
    while (!held.empty() && random() % 3)
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
    if (random() % 32 == 0) w.clear();
    std::optional<fr::workspace_scope> iteration;
    if (random() % 2) iteration.emplace(w);
    const bool fits = budget.would_fit(n);
    const std::size_t room = budget.available_bytes();
    bool came = true;
    try {
      held.push_back(fr::detail::allocate_array(memory, d0, n, 1));
    } catch (const fr::out_of_memory&) {
      came = false;
    }
    BOOST_TEST((fits == came && (!came || n <= room)),
               fr::pool_kind_name(kind) << " pool of " << fr::kind_name(memory) << " memory, seed " << seed << ", step "
                                        << i << ": " << n << " bytes of " << room << ", said " << fits);
  }
}

}  // namespace
}  // namespace memory_retained

BOOST_AUTO_TEST_SUITE(memory_retained)

// The next iteration needs the blocks: other allocations get the rest, and a scope of the workspace reuses its blocks.
BOOST_AUTO_TEST_CASE(budgets_leave_a_workspace_its_blocks) {
  for (const bool checked : {false, true})
    for (const fr::pool_kind kind : every_kind) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
        if (checked && kind != fr::pool_kind::none) continue;  // the other kinds round sizes with red zones up
        fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
        if (checked) fr::set_memory_checks(fr::memory_checks());
        const std::size_t zones = checked ? 512 : 0, half = 32 * MiB - zones;
        const fr::memory_budget budget(fr::device(0));
        fr::workspace w;
        one_iteration(w, half);
        BOOST_TEST(budget.available_bytes() == half);
        BOOST_TEST(budget.would_fit(half));
        BOOST_TEST(!budget.would_fit(half + 1));
        BOOST_CHECK_THROW(device_bytes(half + 1), fr::out_of_memory);
        const auto rest = device_bytes(half);
        BOOST_TEST(budget.available_bytes() == 0u);
        BOOST_TEST(!budget.would_fit(1));
        {
          const fr::workspace_scope iteration(w);
          BOOST_TEST(budget.available_bytes() == half);
          BOOST_TEST(budget.would_fit(half));
          BOOST_TEST(!budget.would_fit(half + 1));
          fr::set_memory_limit({.tag = "small"}, {.hard = "16MiB"});
          BOOST_TEST(!fr::memory_budget({.on = fr::device(0), .tag = "small"}).would_fit(half));
          const auto again = device_bytes(half);
          BOOST_TEST(w.statistics().reused == 1u);
        }
        w.clear();
        fr::set_memory_checks(std::nullopt);
        if (!checked) BOOST_TEST(budget.would_fit(half));
      }
}

BOOST_AUTO_TEST_CASE(budgets_predict_allocations_beside_workspaces) {
  for (const fr::pool_kind kind : every_kind)
    for (const memory_kind memory : {memory_kind::device, memory_kind::unified, memory_kind::host})
      for (unsigned seed = 0; seed < 4; ++seed) check_words(kind, memory, seed);
}

BOOST_AUTO_TEST_CASE(pictures_show_what_is_kept) {
  for (const fr::pool_kind kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none})
    for (const bool in_quarantine : {false, true}) {
      fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
      fr::workspace w;
      if (in_quarantine)
        fr::set_memory_checks(fr::memory_checks()), device_bytes(MiB);
      else
        one_iteration(w, MiB);
      const fr::memory_snapshot s = fr::take_memory_snapshot();
      std::size_t in_use = 0, kept = 0;
      for (const fr::detail::block_info& b : s.pools.front().blocks) {
        if (!b.is_free) in_use += b.bytes;
        if (!b.is_retained) continue;
        kept += b.bytes;
        BOOST_TEST(!b.is_free);
        BOOST_TEST(fr::detail::label_text(fr::detail::label_kind::tag, b.tag) ==
                   (in_quarantine ? "(in quarantine)" : "(kept for the next array)"));
      }
      BOOST_TEST(kept >= MiB);
      BOOST_TEST(in_use == sim.get().pool(memory_kind::device, 0).statistics().allocated_bytes);
      const auto& use = s.usage.devices[0].kinds[0];
      BOOST_TEST(use.retained_bytes == kept);
      BOOST_TEST(use.quarantined_bytes == (in_quarantine ? kept : 0));
      BOOST_TEST(has(s.usage.text(), in_quarantine ? " in quarantine (memory checks)\n" : " kept by workspaces\n"));
      BOOST_TEST(!has(s.usage.text(), in_quarantine ? "workspaces" : "quarantine"));
      BOOST_TEST(has(s.json(), "\"is_retained\"]"));
      fr::set_memory_checks(std::nullopt);
    }
}

BOOST_AUTO_TEST_CASE(the_error_names_what_retains_memory) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  {
    const fr::memory_checks_scope on;
    auto cache = device_bytes(16 * MiB);
    const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) {  // frees memory, but returns 0
      cache.free();
      return std::size_t{0};
    });
    const std::string text = text_of_failure(60 * MiB);
    BOOST_TEST(has(text, " in quarantine (memory checks), "), text);
    BOOST_TEST(has(text, "make the quarantine smaller (memory_checks::quarantine_bytes, "), text);
    BOOST_TEST(!has(text, "workspace"), text);
  }
  fr::workspace w;
  one_iteration(w, 8 * MiB);
  const std::string text = text_of_failure(60 * MiB);
  BOOST_TEST(has(text, "8.000 MiB kept by workspaces, "), text);
  BOOST_TEST(has(text, "release the blocks that workspaces retain (workspace::clear)"), text);
  BOOST_TEST(!has(text, "quarantine (memory"), text);
}

// Their quarantine ends like that of arrays freed before.
BOOST_AUTO_TEST_CASE(checked_arrays_that_a_callback_frees_make_room) {
  for (const fr::pool_kind kind : every_kind) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
      const fr::memory_checks_scope on;
      auto cache = device_bytes(31 * MiB);
      const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) {
        const std::size_t had = cache.size();
        cache = {};
        return had;
      });
      BOOST_CHECK_NO_THROW(device_bytes(48 * MiB));
    }
}

BOOST_AUTO_TEST_SUITE_END()
