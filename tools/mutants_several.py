"""Planted bugs in code for several devices, for tools/mutants.py, in the form of mutants_table.py. Tests in tests/multigpu,
and those of copies and peers in tests/contract, must catch them. The first field names the broken feature."""

HALO_KERNEL, HALO_COPIES = "multigpu/src/halos/halo_kernel.cpp", "multigpu/include/ferry/multigpu/detail/halos/halo_copies.hpp"
HALO_MEMBER, HALO_ROUTES = "multigpu/src/halos/member_exchange.cpp", "multigpu/src/halos/halo_routes.cpp"
GROUP, JOINT = "multigpu/src/collectives/collective_group.cpp", "multigpu/src/transport/joint_submission.cpp"
MATH, RESHARD = "multigpu/src/transport/collective_math.cpp", "multigpu/include/ferry/multigpu/reshard.hpp"
REPRODUCIBLE, LAYOUT = "multigpu/include/ferry/multigpu/reproducible.hpp", "multigpu/include/ferry/multigpu/shard_layout.hpp"
SHARD_COPY = "multigpu/src/shards/shard_copy.cpp"
VALIDITY, WATCH = "multigpu/include/ferry/multigpu/detail/halos/halo_validity.hpp", "multigpu/src/loops/cell_watch.cpp"
WATCHED_SHARDS = "multigpu/include/ferry/multigpu/detail/loops/watched_shards.hpp"
SHARD_ARGUMENTS = "multigpu/include/ferry/multigpu/detail/loops/shard_arguments.hpp"
STORE = "multigpu/include/ferry/multigpu/detail/shards/shard_store.hpp"
WAYS, COPY, COPY_HPP = "core/src/copies/contiguous_copy.cpp", "core/src/copies/copy.cpp", "core/include/ferry/core/copy.hpp"
COPY_ENGINE, STEPS = "core/src/copies/copy_engine.cpp", "core/src/copies/copy_operation.cpp"
OPERATIONS, KEYS = "core/include/ferry/core/reduction_operations.hpp", "multigpu/src/transport/ordered_keys.hpp"
KEYED, KEYED_MATH = "multigpu/src/transport/keyed_transport.cpp", "multigpu/src/transport/ordered_keys.cpp"
ARGUMENTS = "core/include/ferry/core/arguments.hpp"
OPERATION, FOREIGN, STREAM, MIRRORS = "core/src/runtime/submission.cpp", "core/src/external/foreign_memory.cpp", "core/src/runtime/stream.cpp", "core/src/kernels/staged_launch.cpp"
JOINT_HPP = "multigpu/src/transport/joint_submission.hpp"
LAUNCH = "core/include/ferry/core/detail/kernels/staged_launch.hpp"
SIM = "core/src/sim/machine.cpp"
PEER, KEPT, WAYS_HPP = "core/src/runtime/peer.cpp", "core/src/runtime/host_pinned_pages.cpp", "core/src/copies/contiguous_copy.hpp"

MUTANTS = [
    ("gate", "the policy is not told of collectives", (JOINT_HPP, "reach::by_library", "reach::of_pages")),
    ("gate", "the policy is not told of staged copies",
     (MIRRORS, "reach::by_library, [&](native_stream n) {\n    lanes_", "reach::of_pages, [&](native_stream n) {\n    lanes_")),
    ("gate", "the policy is not told of copies", (OPERATION, "p && how != reach::of_pages)", "p && how < reach::by_copy)")),
    ("gate", "arrays of another runtime are let through",
     (OPERATION, "    need_own(m, *a.what, a.at);\n    if (how", "    if (how"),
     (OPERATION, "  for (const access& a : uses) need_own(m, *a.what, a.at);\n", "")),
    ("gate", "a group does not see that an array was freed", (GROUP, "(void)r.get();", "(void)r;")),
    ("gate", "bytes of arrays are lent", (FOREIGN, "  refuse_own(runtime_, bytes, of);\n", "")),
    ("gate", "streams are taken for those of another device", (STREAM, "of && *of != d.index())", "of && *of < 0)")),
    ("halos", "stores do not wait for the neighbour's readers",
     (HALO_KERNEL, "  uses_.push_back({b.target_owner, b.written, true, b.target_contiguous});\n}\n\nvoid halo_kernel::pack",
      "  uses_.push_back({b.target_owner, b.written, false, b.target_contiguous});\n}\n\nvoid halo_kernel::pack")),
    ("halos", "a buffer is packed in no order",
     (HALO_KERNEL, "  uses_.push_back({owner, {at, at + bytes_of(b.shape)}, true});\n", "")),
    ("halos", "a buffer is unpacked in no order",
     (HALO_KERNEL, "  uses_.push_back({owner, {at, at + bytes_of(b.shape)}, false});\n", "")),
    ("halos", "the source of halos is not logged",
     (HALO_KERNEL, "  boxes_.push_back(plan_box(b.target, b.source, b.shape));\n  uses_.push_back({b.source_owner, b.read, false});\n",
      "  boxes_.push_back(plan_box(b.target, b.source, b.shape));\n")),
    ("halos", "the inside waits for who packs cells with strides",
     (HALO_MEMBER, "if (beside) run(arrays, &member_exchange::pack_first_, own);", "if (beside) run(arrays, &member_exchange::pack_first_, on);")),
    ("halos", "a member gives itself cells beside the inside",
     (HALO_MEMBER, "(b.from == b.to ? pack_first_ : stores_beside_).store(b);", "stores_beside_.store(b);")),
    ("halos", "single cells go beside strided ones",
     (HALO_ROUTES, "const bool one_by_one = !strided_.contains({b.from, b.to});", "const bool one_by_one = b.source_contiguous && b.target_contiguous;")),
    ("halos", "stores go over links that failed their test",
     (HALO_ROUTES, "peers().grant(team_.device(from).index(), to.device, to.peer_class());", "peers().can_reach(team_.device(from).index(), to.device, to.peer_class());")),
    ("halos", "corners are missed",
     (HALO_COPIES, "      box<Rank> target;\n      std::array<std::ptrdiff_t, Rank> shift;",
      "      if (Rank - static_cast<std::size_t>(std::count(which.begin(), which.end(), 0u)) > 1) continue;\n      box<Rank> target;\n      std::array<std::ptrdiff_t, Rank> shift;")),
    ("halos", "a periodic axis mirrors one of its ends only",
     (HALO_COPIES, "for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n, -n}) {", "for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n}) {")),
    ("halos", "a periodic end mirrors the cells beside the right ones",
     (HALO_COPIES, "target.end[k] = s.end, shift[k] = s.shift;", "target.end[k] = s.end, shift[k] = s.shift < 0 ? s.shift + 1 : s.shift;")),
    ("halos", "several shards' widths: a halo is one cell too narrow",
     (HALO_COPIES, "std::pair(own.end[d], own.end[d] + w)", "std::pair(own.end[d], own.end[d] + w - (w > 1))")),
    ("halos", "loops make no halo out of date", (SHARD_ARGUMENTS, "a.what->note_changed(r);", "(void)r;")),
    ("halos", "an exchange leaves halos out of date", (STORE, "    if (validity) validity->refreshed();\n", "")),
    ("halos", "a capture changes what is known of halos", (VALIDITY, "if (capture == 0) return known_;", "return known_;")),
    ("halos", "a graph inside a capture changes what is known of halos", (VALIDITY, "    marks& all = now();\n    for (std::size_t i = 0; i < all.size(); ++i) {", "    marks& all = clock_;\n    for (std::size_t i = 0; i < all.size(); ++i) {")),
    ("halos", "cells that were not written make halos out of date", (VALIDITY, "all[i].stale.add(mirror_of(p.slab(k), copies_[i]));", "all[i].stale.add(copies_[i].target);")),
    ("halos", "halos that are filled through views count as out of date", (VALIDITY, "untracked_[i] = true;", "untracked_[i] = false;")),
    ("halos", "what marks a halo as out of date is stored", (WATCH, "        std::memcpy(cell, before, n);\n", "        (void)cell;\n")),
    ("regions", "writes outside of the region are not compared", (WATCH, "else if (std::memcmp(cell, before, n) != 0)", "else if (n == 0)")),
    ("regions", "the gap of a region is not watched", (WATCHED_SHARDS, "  if (!a.region.has_gap()) return;\n", "  return;\n")),
    ("routes", "a chunk of the ring counts as empty once it is full",
     (WAYS, "{c.data, between});\n  backend_.record(c.emptied, lane.out());", "{c.data, between});\n  backend_.record(c.emptied, lane.in());")),
    ("routes", "the last chunk is dropped",
     (WAYS_HPP, "return (bytes_ + chunk_ - 1) / chunk_;", "return bytes_ < chunk_ ? 1 : bytes_ / chunk_;")),
    ("routes", "chunks are counted in 32 bits", (WAYS_HPP, "return {i * chunk_, std::min(", "return {static_cast<unsigned>(i * chunk_), std::min(")),
    ("routes", "strided memory of the CPU is taken as contiguous", (COPY_HPP, "side.contiguous = is_contiguous(e, s);", "side.contiguous = true;")),
    ("routes", "memory of the CPU does not wait for the stream", (COPY, "  if (s) s->synchronize();\n", "")),
    ("routes", "overlapping memory of the CPU is copied as it comes",
     (COPY, "if (to.begin < from.begin + from.bytes && from.begin < to.begin + to.bytes) {", "if (false) {")),
    ("routes", "what cannot be sent by a link is sent by it",
     (COPY_ENGINE, "if (links(from.on, to.on, way.sort_to) && links(to.on, from.on, way.sort_from))", "if (links(from.on, to.on))")),
    ("peers", "memory of pools is not tested",
     (PEER, "const std::string wrong = test_peers(backend_, device, owner, both, std::pair(user, lender));", "const std::string wrong;")),
    ("peers", "pages of unified memory are not tested", (PEER, "trusts ? std::string() : test_pages(backend_, device, owner);", "std::string();")),
    ("peers", "links are taken to lose nothing", (SIM, ".links_may_lose_bytes = true", ".links_may_lose_bytes = false")),
    ("peers", "what fails is said each time", (PEER, "    e->asked = true;\n    if (!wrong.empty()) e->why", "    if (!wrong.empty()) e->why")),
    ("peers", "what fails stays granted",
     (PEER, "    backend_.disable_peer_access(device, owner);\n", "")),
    ("peers", "pages that are kept are not sent to the CPU", (KEPT, "  backend.prefetch(on.stream(), begin, bytes.size(), {});\n", "")),
    ("peers", "what a borrow grew by is not kept",
     (KEPT, "k.generation == generation && k.bytes.covers(all)", "k.generation == generation")),
    ("peers", "pages that are kept go beside who uses them", (KEPT, "  access_guard guard(admission::unchecked(on, {&all, 1}));\n", "  (void)all;\n")),
    ("peers", "graphs do not test links of pages", ("core/src/runtime/graph.cpp", "  for (const int d : state_->captured.page_users) m.test_pages(d);\n", "")),
    ("collectives", "the type of doubles is that of integers",
     (GROUP, "c.type = t.type,", "c.type = t.type == element_type::float64 ? element_type::int64 : t.type,")),
    ("collectives", "the greatest is the least", (MATH, "case reduction::maximum: return chosen(a, b, ferry::maximum());", "case reduction::maximum: return chosen(a, b, ferry::minimum());")),
    ("collectives", "NaN is lost among zeros and numbers", (OPERATIONS, "return detail::nan_or(a, b, detail::greater_number(a, b));", "return detail::greater_number(a, b);")),
    ("collectives", "negative floats as integers are in the wrong order", (KEYS, "return b < 0 ? static_cast<key>(b ^ magnitude) : static_cast<key>(b);", "return static_cast<key>(b);")),
    ("collectives", "NaN as an integer loses where it should win", (KEYED_MATH, "is_least(c.op) == ignores_nan(c.op) ? Format::highest", "is_least(c.op) != ignores_nan(c.op) ? Format::highest")),
    ("collectives", "shares of keys are those of the first rank", (KEYED, "c.to.data += (first_ + c.member) * c.count * bytes,", "c.to.data += 0 * c.count * bytes,")),
    ("collectives", "an average is a sum", (MATH, "if (op != reduction::average) return;", "return;")),
    ("collectives", "all_gather in place takes the next member's share",
     (GROUP, "a.data += rank++ * a.count * element_bytes;", "a.data += (++rank % l.ranks) * a.count * element_bytes;"),
     (GROUP, "case all_gather:\n    case gather: return c.from.data == c.to.data + rank * c.bytes();", "case all_gather:\n    case gather: return true;")),
    ("collectives", "what is written is logged as read",
     (JOINT, "use(c.to, true);", "use(c.to, false);")),
    ("collectives", "a group logs its first call only", (JOINT, "if (c.member == place) takes_part = true, add(c);", "if (c.member == place && !takes_part) takes_part = true, add(c);")),
    ("shards", "reshard leaves out the last member",
     (RESHARD, "for (std::size_t source = 0; source < from.team().size(); ++source) {", "for (std::size_t source = 0; source + 1 < from.team().size() || source == 0; ++source) {")),
    ("shards", "a reproducible sum has chunks of each member's own",
     (REPRODUCIBLE, "if ((first + i + 1) % detail::reproducible_chunk == 0)", "if ((i + 1) % detail::reproducible_chunk == 0)")),
    ("arguments", "a bare array is written where the parameter is const",
     (ARGUMENTS, "} else if constexpr (reads && !std::is_const_v<std::remove_reference_t<A>>) {", "} else if constexpr (false) {")),
    ("arguments", "an explicit inout() is read where the parameter is const",
     (ARGUMENTS, "  } else if constexpr (is_array_argument<X>) {\n    return X(a);\n",
      "  } else if constexpr (is_array_argument<X>) {\n    X b(a);\n    if (reads) b.mode = access_mode::in;\n    return b;\n")),
    ("arguments", "a bare sharded array is written where the parameter is const",
     (SHARD_ARGUMENTS, "  } else if constexpr (reads && !is_const) {\n", "  } else if constexpr (false) {\n")),
    ("shards", "shards travel one after the other", (SHARD_COPY, "!this_thread_state.capture && !workspace_scope::current())", "false)")),
    ("shards", "threads take no notice of the caller's scopes", ("multigpu/src/teams/submitters.cpp", "    const thread_scopes::use here(scopes);\n", "")),
    ("checks", "what a kernel promises to write is not poisoned",
     (LAUNCH, "      enqueue_poison(n);\n", "")),
]
