"""The planted bugs of tools/mutants.py: rule of docs/ordering.md, name, and edits (file, text there exactly once, new text)."""

TIMELINE, TIMELINES = "core/src/timeline.cpp", "core/src/timelines.cpp"
LOG, GUARD = "core/src/access_log.cpp", "core/src/access_guard.cpp"
POOL, NODES, STREAM = "core/src/caching_pool.cpp", "core/src/allocation_nodes.cpp", "core/src/stream.cpp"
MEMORY_POOL, ALLOCATION = "core/src/memory_pool.cpp", "core/src/allocation.cpp"
SHARD, DIRECT, DRIVER = "core/src/pool_shard.hpp", "core/src/direct_pool.cpp", "core/src/driver_pool.cpp"
CAPTURE, GRAPH, COPY = "core/src/capture.cpp", "core/src/graph.cpp", "core/src/copy.cpp"
LANE, WAYS, STEPS = "core/src/copy_lane.cpp", "core/src/copy_ways.cpp", "core/src/copy_operation.cpp"
MIRRORS = "core/src/mirrors.cpp"
REGISTRY = "core/src/machine_registry.cpp"
FOREIGN, WORKSPACE = "core/src/foreign_memory.cpp", "core/src/workspace.cpp"
LOG_HPP, TIMELINE_HPP = "core/include/ferry/core/access_log.hpp", "core/include/ferry/core/timeline.hpp"
MIGRATOR, PLAN = "unified/src/migrator.cpp", "unified/src/move_plan.cpp"
HINTS = "unified/src/migration.cpp"
ARGUMENTS, VIEW = "core/include/ferry/core/arguments.hpp", "core/include/ferry/core/array_view.hpp"

OWN_USES = "if (u.by == who ||"            # what access_log::before() skips
ORDER = "  locked_logs locked(uses);\n  wait_for_what_conflicts(on, uses);\n  at_ = on.reserve();"       # in access_guard

MUTANTS = [
    # The log: who waits for whom.
    ("R8", "no wait before a read", (LOG_HPP, OWN_USES, "if ((who && !write) || u.by == who ||")),
    ("R8", "no wait before a write after reads", (LOG_HPP, OWN_USES, "if ((who && write && !u.write) || u.by == who ||")),
    ("R8", "no wait before a write after a write", (LOG_HPP, OWN_USES, "if ((who && write && u.write) || u.by == who ||")),
    ("R7", "the CPU reads without waiting", (LOG_HPP, OWN_USES, "if ((!who && !write) || u.by == who ||")),
    ("R7", "the CPU writes without waiting", (LOG_HPP, OWN_USES, "if ((!who && write) || u.by == who ||")),
    ("R8", "readers wait for readers", (LOG_HPP, "!(write || u.write) || ", "")),
    ("R9", "uses of other bytes conflict too", (LOG_HPP, "!u.where.overlaps(where) || u.by->finished", "u.by->finished")),
    ("R8", "oldest use first", (LOG_HPP, "logged_use& u = uses_[i];", "logged_use& u = uses_[uses_.size() - 1 - i];")),
    ("R8", "uses of the own stream count as shared", (LOG_HPP, OWN_USES, "if (")),
    ("R7", "waits even for what is finished",
     (LOG_HPP, "!u.where.overlaps(where) || u.by->finished(u.at)", "!u.where.overlaps(where) || (!who && u.by->finished(u.at))"),
     (TIMELINE, "if (&other == this || other.finished(t)) return;", "if (&other == this) return;")),
    ("R9", "a reader replaces all readers", (LOG_HPP, "(write || (u.by == &by && !u.write))", "(write || !u.write)")),
    ("R9", "a read erases its own earlier write", (LOG_HPP, "(write || (u.by == &by && !u.write))", "(write || u.by == &by)")),
    ("R9", "a partly covered use is erased", (LOG_HPP, "return where.covers(u.where) &&", "return where.overlaps(u.where) &&")),
    ("R9", "work that was given counts as finished", (LOG, "replaced || is_over(u)", "replaced || u.by->last() >= u.at")),
    ("R9", "the hull of a view that goes backwards", (VIEW, "(reach < 0 ? low : high) += reach;", "if (reach > 0) high += reach;")),
    ("R10", "joining keeps the smaller ticket", (LOG, "into.at = std::max<", "into.at = std::min<")),
    ("R10", "joining keeps the first range",
     (LOG, "into.where = {std::min(into.where.begin, u.where.begin), std::max(into.where.end, u.where.end)};", "")),
    ("R10", "joining makes no difference between reads and writes",
     (LOG, "(uses_[k].by != u.by || uses_[k].write != u.write)", "uses_[k].by != u.by")),
    ("R10", "logs grow without limit", (LOG, "at, write, where});\n  if (uses_.size() > limit_) join_by_timeline();", "at, write, where});")),
    ("R12", "split uses are not made one again", (LOG, "if (twin == uses_.end())", "if (twin == uses_.end() || true)")),
    # The CPU's counters.
    ("R7", "reads do not bump the CPU's counter", (LOG_HPP, "    bump(touches_);\n    if (write)", "    if (write) bump(touches_);\n    if (write)")),
    ("R7", "writes do not bump the CPU's counter", (LOG_HPP, "    if (write) bump(writes_);\n", "")),
    ("R7", "the CPU waits for the first sixteen uses only", (GUARD, "    if (!pending.all()) continue;\n", "")),
    ("R7", "element writes ask like reads",
     (VIEW, "if (write ? !permission_.may_write(log) : !permission_.may_read(log)) [[unlikely]]\n      wait_for_host(write ? access_mode::inout : access_mode::in,",
      "if (!permission_.may_read(log)) [[unlikely]]\n      wait_for_host(access_mode::in,")),
    ("R7", "iterators for writing ask like reads", (VIEW, "wait_for_host(!std::is_const_v<U>, line);", "wait_for_host(false, line);")),
    ("R7", "every element access asks", (VIEW, "if (write ? !permission_.may_write(log) : !permission_.may_read(log)) [[unlikely]]", "(void)log;")),
    # Marks.
    ("R2", "a mark claims a ticket not given", (TIMELINE, "  marks_[next].covers = covers;", "  marks_[next].covers = covers + 1;")),
    ("R2", "covers is read after the record", (TIMELINE, "  marks_[next].covers = covers;", "  marks_[next].covers = last();")),
    ("R2", "an older mark than the ticket", (TIMELINE, "if (marks_[older].covers < t) break;", "if (marks_[older].covers + 1 < t) break;")),
    ("R2", "marks are never used twice", (TIMELINE, "if (marks_[newest_].covers < t && !is_resting()) return record(last());", "if (!is_resting()) return record(last());")),
    ("R5", "every submission is marked", (GUARD, "locked.add_and_unlock(on, at_) || on.marks_always();", "locked.add_and_unlock(on, at_) || true;")),
    ("R5", "shared logs are not marked", (GUARD, "locked.add_and_unlock(on, at_) || on.marks_always();", "locked.add_and_unlock(on, at_) && on.marks_always();")),
    ("R5", "once shared, always marked", (LOG_HPP, "return shared_ > 0 && shared_-- > 0;", "return shared_ > 0;")),
    ("R6", "events are recycled across timelines",
     (TIMELINE, "    for (mark_type& m : marks_) m.event = verbs_.create_event(device, false);\n",
      "    static std::array<std::array<native_event, 16>, 64> events;      // of the first timeline of each device\n"
      "    if (id == 0) events = {};\n"
      "    auto& mine = events[static_cast<std::size_t>(device)];\n"
      "    for (std::size_t i = 0; i < marks_.size(); ++i) {\n"
      "      if (!mine[i].handle) mine[i] = verbs_.create_event(device, false);\n"
      "      marks_[i].event = mine[i];\n"
      "    }\n")),
    ("R6", "a mark that a thread waits for is recorded again", (TIMELINE, "      pin(m, +1);  // re-recorded", "      pin(m, 0);  // re-recorded"), (TIMELINE, "        of->pin(m, -1);", "        of->pin(m, 0);")),
    # Clocks and what is finished.
    ("R3", "a clock claims all that was given", (TIMELINE, "    learn(other, m.covers);\n", "    learn(other, other.last());\n")),
    ("R3", "a clock is ahead by one", (TIMELINE, "if (known_[other.id_].behind >= t) return;", "if (known_[other.id_].behind + 1 >= t) return;")),
    ("R3", "a clock holds for work given before the wait", (TIMELINE, "f = {behind, last() + 1, &of};", "f = {behind, last(), &of};")),
    ("R3", "waits already made are made again", (TIMELINE, "    if (known_[other.id_].behind >= t) return;\n", "")),
    ("R4", "clocks are inherited whole", (TIMELINE, "if (f.of && f.since <= m.covers && f.of != this) learn", "if (f.of && f.of != this) learn")),
    ("R4", "clocks are inherited, off by one", (TIMELINE, "if (f.of && f.since <= m.covers && f.of", "if (f.of && f.since <= m.covers + 1 && f.of")),
    ("R4", "clocks are not inherited", (TIMELINE, "if (f.of && f.since <= m.covers && f.of != this) learn(*f.of, f.behind);", "(void)f;")),
    ("R7", "finished is inherited whole", (TIMELINE, "if (f.of && f.since <= covers) raise", "if (f.of) raise")),
    ("R7", "finished is inherited, off by one", (TIMELINE, "if (f.of && f.since <= covers) raise", "if (f.of && f.since <= covers + 1) raise")),
    ("R7", "finished is raised to all that was given", (TIMELINE, "verbs_.synchronize(m.event);\n    }\n    finish(m.covers);", "verbs_.synchronize(m.event);\n    }\n    finish(last());")),
    ("R7", "synchronize() waits for what ferry saw only", (TIMELINE, "return need(close());", "return need(last());")),
    ("R7", "what the CPU waited for is forgotten", (TIMELINE, "  raise(finished_, covers);\n", "")),
    # Tickets and locks.
    ("R1", "a stream does not await the ticket that it follows", (TIMELINE, "  other.given(t);\n", "")),
    ("R1", "submissions do not take their turn", (GUARD, "  on.begin(at_);\n", "")),
    ("R1", "a ticket is reserved before the logs are locked",
     (GUARD, ORDER, "  at_ = on.reserve();\n  locked_logs locked(uses);\n  wait_for_what_conflicts(on, uses);")),
    ("R1", "logs are unlocked between waiting and logging",
     (GUARD, ORDER, "  {\n    locked_logs first(uses);\n    wait_for_what_conflicts(on, uses);\n  }\n  std::this_thread::yield();\n  locked_logs locked(uses);\n  at_ = on.reserve();")),
    ("R1", "a log is unlocked before its use is added", (GUARD, "      l.add(on, at,", "      l.unlock();\n      std::this_thread::yield();\n      l.add(on, at,")),
    ("R14", "only the first log is locked",
     (GUARD, "each_log(uses_, [](access_log& l) { l.lock(); });", "if (!uses_.empty()) uses_[0].what->log.lock();")),
    ("R14", "an array that is passed twice is locked twice", (GUARD, "if (i == 0 || uses[i].what != uses[i - 1].what) f(uses[i].what->log);", "f(uses[i].what->log);")),
    ("R14", "logs are locked in the order of the arguments", (GUARD, "if (std::less<>{}(uses[i].what, uses[i - 1].what)) {", "if (uses.empty()) {")),
    ("R16", "joint operations reserve one ticket after the other",
     (GUARD, "std::lock_guard lock(global);\n      for (part& p : parts) p.at = p.on->reserve();",
      "for (part& p : parts) p.at = p.on->reserve(), std::this_thread::yield();")),
    ("R16", "joint operations do not wait", (GUARD, "    for (part& p : parts) wait_for_what_conflicts(*p.on, p.uses);\n", "")),
    ("R16", "joint operations are not logged", (GUARD, "a.what->log.add(*p.on, p.at, a.where, a.write);", "(void)a;")),
    # Raw pointers.
    ("R11", "an open use is answered by an existing event", (TIMELINE, "  const ticket t = reserve();\n  begin(t);\n  submitted(t);\n  return t;", "  return last();")),
    ("R11", "an open use is closed by its own stream",
     (LOG_HPP, "if (u.at == open_ticket && u.by == &by) at = open_ticket;", ""),
     (LOG, "if (replaced && u.at == open_ticket && u.by == &by) at = open_ticket;", "")),
    ("R11", "an open use is closed when taken", (GUARD, "locked.add_and_unlock(on, open_ticket);", "locked.add_and_unlock(on, on.close());")),
    ("R11", "an open use is never closed", (LOG_HPP, "if (u.at == open_ticket) u.at = u.by->close() & open_ticket;", "if (u.at == open_ticket) continue;")),
    ("R11", "a raw pointer is not logged", (GUARD, "  locked.add_and_unlock(on, open_ticket);\n", "")),
    # Pools.
    ("R12", "bytes are reused without their log", (POOL, "  a.log.invalidate();\n  a.name.clear();\n", "  a.log.keep_only({});\n  a.name.clear();\n")),
    ("R12", "split loses uses", (POOL, "    rest.log.inherit(a.log);\n", "")),
    ("R12", "split keeps only the uses that lie in one part", (LOG, "return !u.where.overlaps(where) ||", "return !where.covers(u.where) ||")),
    ("R12", "join loses uses", (POOL, "    a.log.inherit(next.log);\n", "")),
    ("R12", "trim does not wait", (MEMORY_POOL, "      wait_for_uses(a.log, a.range(), true);\n", "")),
    ("R12", "free() leaves what the CPU had asked valid",
     (POOL, "  a.log.invalidate();\n  a.name.clear();\n", "  a.name.clear();\n"),
     (LOG, "  invalidate();\n  erase_if", "  erase_if")),
    ("R12", "a device that broke wrote what it should have", (TIMELINE_HPP, "return t > intact_.load(std::memory_order_acquire);", "return t > open_ticket;")),
    ("R12", "what a device had finished is lost when it breaks", (TIMELINE, "intact_.compare_exchange_strong(none, finished_.load(std::memory_order_acquire));", "intact_.compare_exchange_strong(none, 0);")),
    ("R12", "what is lost is forgotten with the next use", (LOG, "return replaced || is_over(u);", "return replaced || u.by->finished(u.at);")),
    ("R12", "raw pointers on a broken device are never over", (GUARD, "p.at == open_ticket ? p.by->is_broken() :", "p.at == open_ticket ? false :")),
    ("R12", "what is lost stays lost for the next owner", (LOG, "  erase_if([](const logged_use& u) { return u.by->finished(u.at); });  // and what is lost\n", "")),
    ("R12", "work on other devices takes what is lost", (GUARD, "if (on.family().has_failures()) [[unlikely]]", "if (false)")),
    ("R12", "a stream of a broken device takes work", (TIMELINE, "  flags_.fetch_or(broken, std::memory_order_release);\n", "")),
    ("R12", "blocks are joined though there is no memory for their logs", (POOL, "    return false;\n  }\n  a.tag =", "  }\n  a.tag =")),
    ("R12", "bytes in use count as finished", (MEMORY_POOL, "return uses_are_over(a, a.range(), true);", "return true;")),
    ("R12", "no pool: bytes go back while they are in use", (DIRECT, "over = is_unused(a, how);", "over = true;")),
    ("R12", "a shard gives one block to two owners", (SHARD, "    at = a.next;\n    --b.count;", "    --b.count;")),
    ("R12", "blocks in shards count as free", (POOL, "  free_.remove(*a);\n  try {\n    cut", "  free_.remove(*a);\n  a->is_free = true;\n  try {\n    cut")),
    ("R12", "segments go back while a shard holds a part",
     (POOL, "      if (!b->is_free) return;\n", ""), (POOL, "  drain_shards();\n  std::lock_guard lock(mutex_);\n  std::vector", "  std::lock_guard lock(mutex_);\n  std::vector")),
    ("R12", "driver pool: an allocation is not logged", (DRIVER, "  a->log.add(on, t, a->range(), true);\n", "")),
    ("R12", "driver pool: the stream kept for frees waits for nobody", (DRIVER, "    for (const point& p : pending) own_.follow(*p.by, p.at);\n", "    ;\n")),
    ("R12", "driver pool: frees on the first of several streams", (DRIVER, "    if (p.by != on) on = &own_;", "    (void)p;")),
    ("R12", "driver pool: trim does not wait for frees", (DRIVER, "        f.by->wait(f.at);\n", "        over = true;\n")),
    ("", "driver pool: other devices are not granted", ("core/src/operation.cpp", "    a.what->home->need_peer(s.line().device());\n", "")),
    ("", "the last but one reference frees", (ALLOCATION, "(now & references_mask) == 1) {", "(now & references_mask) <= 2) {")),
    ("", "a copied reference does not count", (ALLOCATION, "compare_exchange_weak(now, now + 1)", "compare_exchange_weak(now, now)")),
    # Streams and timelines.
    ("R13", "a stream of the stock is a new one, without a wait",
     (TIMELINES, "  std::lock_guard lock(mutex_);\n  stock_[{t.device()", "  t.expect_timelines(0);\n  std::lock_guard lock(mutex_);\n  stock_[{t.device()"),
     (TIMELINE, "  if (known_.size() < count) known_.resize(count);\n",
      "  if (known_.size() < count) known_.resize(count);\n  if (count == 0) stream_ = verbs_.create_stream(device_, priority_);\n")),
    ("R13", "a foreign stream is released without a mark", (TIMELINE, "if (!is_resting() && !is_broken()) record(mine.at);", "if (!is_resting() && !is_broken() && why == captured) record(mine.at);")),
    ("R13", "a released stream is recorded", (TIMELINE_HPP, "load(std::memory_order_acquire) & (released | captured)", "load(std::memory_order_acquire) & captured")),
    ("R13", "a thread forgets its streams of an outer machine", (STREAM, "[](const auto& s) { return !is_alive(s.serial); }", "[](const auto&) { return true; }")),
    ("R13", "streams go back only to the machine that is current", (REGISTRY, "    for (const auto& [of, known] : all().alive)\n      if (of == serial)", "    for (const auto& [of, known] : all().alive)\n      if (of == serial && all().owner == known.lock())")),
    ("R13", "foreign streams are not marked", (TIMELINE_HPP, "return origin_ != stream_origin::own;", "return false;")),
    ("R13", "old timelines have no room to know new ones", (TIMELINES, "  for (auto& t : all_) t->expect_timelines(expected_);\n", "")),
    ("R13", "waiting for a stream covers only what ferry saw", (STREAM, "timeline_->follow(*other.timeline_, other.timeline_->close());", "timeline_->follow(*other.timeline_, other.timeline_->last());")),
    # Capture.
    ("R18", "no wait between the streams of a capture", (CAPTURE, "    verbs_.wait(on.stream(), steps_[count - 1].done);\n", "")),
    ("R18", "inside a capture the oldest conflict is enough", (CAPTURE, "behind = std::max(behind, u.step + 1);", "behind = behind ? behind : u.step + 1;")),
    ("R18", "inside a capture reads conflict with nothing", (CAPTURE, "if ((u.write || a.write) && u.where.overlaps(a.where)", "if (a.write && u.where.overlaps(a.where)")),
    ("R18", "a captured stream is not marked first", (TIMELINE, "if (!is_resting() && !is_broken()) record(mine.at);", "if (!is_resting() && !is_broken() && why == released) record(mine.at);")),
    ("R18", "a captured stream is not left alone", (TIMELINE_HPP, "load(std::memory_order_acquire) & (released | captured)", "load(std::memory_order_acquire) & released")),
    ("R18", "a stream goes to rest without a turn of its own",
     (TIMELINE, "  const turn mine(*this);\n  or_give_up", "  close();\n  or_give_up"),
     (TIMELINE, "record(mine.at);  // nothing else has this ticket\n", "record(last());\n  });\n  or_give_up([&] {\n    std::lock_guard lock(mutex_);\n")),
    ("R18", "two threads capture one stream", (TIMELINE, "    if (why == captured) refuse_rest();", "    ")),
    ("R18", "work without a log lands in the capture of another thread", (TIMELINE_HPP, "    refuse_rest();\n    give();", "    give();")),
    ("R18", "whoever has its turn does not look again whether the stream rests", (GUARD, "  if (on.is_resting()) [[unlikely]]\n    refuse_in_turn", "  if (false)\n    refuse_in_turn")),
    ("R18", "a stream that rests is marked", (TIMELINE, "    if (!is_resting()) record(last());  // else", "    record(last());  // else")),
    ("R18", "a graph's launch logs nothing", (GRAPH, "access_guard guard(s.line(), uses);", "access_guard guard(s.line(), {});")),
    ("R18", "a graph's launch logs reads only", (CAPTURE, "g.uses.push_back({what, r, write});", "g.uses.push_back({what, r, false});")),
    ("R18", "a graph forgets ranges inside others", (CAPTURE, "out.back().end = std::max(out.back().end, r.end);", "out.back().end = r.end;")),
    ("R18", "a graph keeps no array alive", (CAPTURE, "keep_.push_back(allocation_ref::another(*a.what));", "")),
    ("R18", "a graph does not see that its array was freed", (GRAPH, "(void)r.get();", "(void)r;")),
    # Declared uses.
    ("R9", "a strided out() view counts as wholly written", (ARGUMENTS, "a.mode != access_mode::out || !a.contiguous,", "a.mode != access_mode::out,")),
    ("R9", "out() counts as a read", (ARGUMENTS, "list.add(*a.owner, a.bytes, a.mode != access_mode::in, ", "list.add(*a.owner, a.bytes, a.mode == access_mode::inout, ")),
    # Copies.
    ("R9", "a copy does not log its source", (COPY, "  uses.add(*from.owner, from.bytes, false);\n", "")),
    ("R9", "a copy in steps does not log its source", (STEPS, "  add(whole_.from, false);\n", "")),
    ("R12", "scratch memory of a copy is not logged", (STEPS, "    if (*memory) uses.push_back(", "    if (false) uses.push_back(")),
    ("", "filling chunks does not fork from the stream", (LANE, "  verbs_.wait(in_, e);\n", "")),
    ("", "sending chunks does not fork from the stream", (LANE, "  verbs_.wait(out_, e);\n", "")),
    ("", "the stream does not join kernels beside it", (LANE, "  verbs_.wait(s, in_done_);\n", "")),
    ("", "the stream does not join chunks on their way", (LANE, "  verbs_.wait(s, out_done_);\n", "")),
    ("", "a chunk is filled before it is empty", (WAYS, "  verbs_.wait(lane.in(), c.emptied);\n  hop(", "  hop(")),
    ("", "a chunk is sent before it is full", (WAYS, "  verbs_.wait(lane.out(), c.filled);\n", "")),
    ("", "a thread fills a chunk that is on its way", (WAYS, "    verbs_.synchronize(c.emptied);\n", "")),
    ("", "a thread empties a chunk before it is full", (WAYS, "    verbs_.synchronize(c.filled);\n", "")),
    ("", "a chunk is sent before its thread has filled it", (WAYS, "    workers_->wait(jobs_[sent % ring]);\n", "")),
    ("", "mirrors of a kernel are not copied back", (MIRRORS, "if (x->back) x->back->give(n);", "{}")),
    ("R9", "a kernel on mirrors logs only the mirrors", (MIRRORS, "s_(s), uses_(uses.begin(), uses.end()) {", "s_(s) {")),
    # Migration.
    ("", "dropping contents is logged as a read", (MIGRATOR, "const bool write = a.mode != access_mode::in;\n  for", "const bool write = false;\n  for")),
    ("", "a move for an access is not logged", (MIGRATOR, "submit_ordered(stream_ref(on), uses,", "submit_ordered(stream_ref(on), {},")),
    ("", "contents are dropped beyond out()", (PLAN, "bool all() const { return pages.size() == used.size(); }", "bool all() const { return mostly(); }")),
    ("", "inout() drops contents", (PLAN, "  return a.mode == access_mode::out && p.all() ? page_step::drop : page_step::move;\n}\n\n// Whether", "  return p.all() ? page_step::drop : page_step::move;\n}\n\n// Whether")),
    ("", "a discard is logged as a read", (HINTS, "access use{&owner.get(), bytes, true, true};", "access use{&owner.get(), bytes, false, false};")),
    ("", "new owners inherit what was known of the pages", (MIGRATOR, "if (r->generation != generation) {", "if (r->generation + 1 == 0) {")),
    ("", "readers take what another device has", (PLAN, "if (reachable && !mine_by_now) return stay;", "if (false && mine_by_now) return stay;")),
    ("", "pages leave who still reads them", (PLAN, "    if (s.is_read_by(p.used, g.where)) return stay;\n", "")),
    ("", "bounces go on for ever", (PLAN, "if (g.before == d && g.flips + 1 >= s.options.flips) return page_step::bounce;", "")),
    ("", "guards of the CPU refuse nothing", (MIGRATOR, "if (h.where.overlaps(a.where) && (writes || h.writes))", "if (false)")),
    # Memory of others, workspaces.
    ("R9", "a borrow forgets the stream that it names", (FOREIGN, "  log.add(line, t, bytes, true);\n", "")),
    ("R12", "the end of a borrow does not wait", (FOREIGN, "    else\n      wait_for_all_uses(a, bytes);\n", "")),
    ("R12", "a borrow is handed back ahead of its work", (FOREIGN, "      follow_all_uses(before->line(), a, bytes);", "      (void)follow_all_uses;")),
    ("R9", "borrows of the same bytes know nothing of each other", (FOREIGN, "if (e->ending || !e->bytes.overlaps(bytes)) continue;", "if (e->loans > 0 || e->ending || !e->bytes.overlaps(bytes)) continue;")),
    ("R12", "deleters run while work is running", (FOREIGN, "return wait || uses_are_over(*e.what, e.bytes, true);", "return true;")),
    ("R12", "the stream of a deleter follows nobody", (FOREIGN, "    follow_all_uses(*line, *e.what, e.bytes);\n", "")),
    ("R12", "workspaces hand out blocks without their logs", (WORKSPACE, "a.log.invalidate();  // views", "a.log.keep_only({}), a.log.invalidate();  // views")),
]
