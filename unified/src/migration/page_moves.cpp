#include "migration/page_moves.hpp"

#include <algorithm>
#include <memory>

#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

page_moves::page_moves(runtime& m, const migration_settings& settings, array_records& records,
                       migration_streams& streams, move_failures& failures)
    : runtime_(m),
      settings_(settings),
      records_(records),
      streams_(streams),
      failures_(failures),
      host_prefetcher_(m, [this](const std::string& why) { failures_.add(why); }) {}

void page_moves::carry_out(const coming_access& a, const std::vector<planned>& plan) {
  try {
    for (const planned& p : plan)
      if (p.what == page_step::map) {
        if (p.from >= 0) runtime_.peers().need(p.to, p.from), runtime_.peers().need(p.to, p.from, peer_memory::unified);
        {
          std::lock_guard lock(a.what.history);
          a.what.history.set_advised(true);  // undone for the next owner of the bytes
        }
        runtime_.backend().advise(const_cast<std::byte*>(p.pages.begin), p.pages.size(), memory_advice::accessed_by,
                                  {p.to});
      }
    int from = a.what.device;
    for (const planned& p : plan)
      if (p.from >= 0) from = p.from;
    for (const page_step what : {page_step::drop, page_step::move}) {
      const auto is_it = [&](const planned& p) { return p.what == what; };
      if (std::any_of(plan.begin(), plan.end(), is_it))
        send(a, a.stream ? *a.stream : streams_.to_cpu(from), plan, what);
    }
  } catch (const error& e) {
    failures_.add(plain_what(e));
    const locked_record r = records_.lock(a.what);
    for (const planned& p : plan) r->pages.each(p.pages, [](page_run& g) { g.where = unknown_location; });
  }
}

// Ordered as the access itself, after all work that conflicts with it. So a write moves no pages away from a reader,
// and later work waits for no more than the access.
void page_moves::send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what) {
  std::vector<page_move> moves;
  std::vector<access> uses;
  const bool write = a.mode != access_mode::in;
  for (const planned& p : plan) {
    if (p.what != what) continue;
    moves.push_back({const_cast<std::byte*>(p.pages.begin), p.pages.size(), a.place});
    uses.push_back({&a.what, p.used, write, what == page_step::drop});
  }
  submit_ordered(stream_ref(on), uses, reach::of_pages, [&](native_stream n) {
    if (what == page_step::move && moves.size() == 1)
      runtime_.backend().prefetch(n, moves[0].begin, moves[0].bytes, moves[0].to);
    else
      runtime_.backend().prefetch_many(n, moves, what == page_step::drop);
  });
}

bool page_moves::start_beside_loop(const coming_access& a, const std::vector<planned>& plan) {
  if (a.stream) return false;
  const migration_options how = [&] {
    const locked_record r = records_.lock(a.what);
    return settings_.options_of(*r);
  }();
  if (runtime_.is_simulated() && !how.beside_simulated_loops) return false;
  std::vector<page_move> moves;
  std::size_t bytes = 0;
  int from = a.what.device;
  for (const planned& p : plan) {
    if (p.what != page_step::move && p.what != page_step::drop) continue;
    moves.push_back({const_cast<std::byte*>(p.pages.begin), p.pages.size(), {}});
    bytes += p.pages.size();
    if (p.from >= 0) from = p.from;
  }
  if (bytes < 2 * how.piece) return false;
  const bool writes = a.mode != access_mode::in;
  wait_for_uses(a.what.history, a.where, writes, false);
  const auto started =
      host_prefetcher_.start(streams_.to_cpu(from, true), {&a.what, a.where, false}, moves, how.piece, writes);
  if (!started) return false;
  records_.lock(a.what)->arriving = started;
  return true;
}

void page_moves::wait_for_arrival(allocation& a) {
  std::shared_ptr<arrival> coming;
  {
    const locked_record r = records_.lock(a);
    coming = r->arriving;
  }
  if (coming) give_way_until([&] { return coming->is_over(); });
}

}  // namespace ferry::inline FERRY_ABI::detail
