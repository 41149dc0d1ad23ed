"""Planted bugs of several devices, for tools/mutants.py: as those of mutants_table.py, caught by tests of tests/multigpu and of
copies and peers in tests/contract. The first field says what is broken."""

HALOS, HALO_BOXES = "multigpu/src/halo_plan.cpp", "multigpu/include/ferry/multigpu/halo_plan.hpp"
GROUP, JOINT = "multigpu/src/collective_group.cpp", "multigpu/src/joint_submission.cpp"
MATH, RESHARD = "multigpu/src/collective_math.cpp", "multigpu/include/ferry/multigpu/reshard.hpp"
REPRODUCIBLE, LAYOUT = "multigpu/include/ferry/multigpu/reproducible.hpp", "multigpu/include/ferry/multigpu/shard_layout.hpp"
SHARD_COPY = "multigpu/src/shard_copy.cpp"
WAYS, COPY, COPY_HPP = "core/src/copy_ways.cpp", "core/src/copy.cpp", "core/include/ferry/core/copy.hpp"
COPY_ENGINE, STEPS = "core/src/copy_engine.cpp", "core/src/copy_operation.cpp"
PEER, KEPT, WAYS_HPP = "core/src/peer.cpp", "core/src/kept_pages.cpp", "core/src/copy_ways.hpp"

MUTANTS = [
    ("halos", "stores do not wait for the neighbour's readers",
     (HALOS, "  k.uses.push_back({b.target_owner, b.written, true, b.target_contiguous});\n}\n\nbool reads_strided",
      "  k.uses.push_back({b.target_owner, b.written, false, b.target_contiguous});\n}\n\nbool reads_strided")),
    ("halos", "a buffer is packed in no order",
     (HALOS, "  k.uses.push_back({owner, {at, at + bytes_of(b.shape)}, true});\n", "")),
    ("halos", "a buffer is unpacked in no order",
     (HALOS, "  k.uses.push_back({owner, {at, at + bytes_of(b.shape)}, false});\n", "")),
    ("halos", "the source of halos is not logged",
     (HALOS, "void store(planned_kernel& k, const halo_box& b) {\n  k.boxes.push_back(plan_box(b.target, b.source, b.shape));\n  k.uses.push_back({b.source_owner, b.read, false});\n",
      "void store(planned_kernel& k, const halo_box& b) {\n  k.boxes.push_back(plan_box(b.target, b.source, b.shape));\n")),
    ("halos", "the inside waits for who packs cells with strides",
     (HALOS, "if (beside) run(all(&member_plan::pack_first), own);", "if (beside) run(all(&member_plan::pack_first), on);")),
    ("halos", "stores go over links that failed their test",
     (HALOS, "m.peers().grant(t.device(from).index(), a.device, a.sort());", "m.peers().can_reach(t.device(from).index(), a.device, a.sort());")),
    ("halos", "corners are missed",
     (HALO_BOXES, "      box<Rank> target;\n      std::array<std::ptrdiff_t, Rank> shift;",
      "      if (Rank - static_cast<std::size_t>(std::count(which.begin(), which.end(), 0u)) > 1) continue;\n      box<Rank> target;\n      std::array<std::ptrdiff_t, Rank> shift;")),
    ("halos", "a periodic axis mirrors one of its ends only",
     (HALO_BOXES, "for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n, -n}) {", "for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n}) {")),
    ("halos", "a periodic end mirrors the cells beside the right ones",
     (HALO_BOXES, "target.end[k] = s.end, shift[k] = s.shift;", "target.end[k] = s.end, shift[k] = s.shift < 0 ? s.shift + 1 : s.shift;")),
    ("halos", "several shards' widths: a halo is one cell too narrow",
     (HALO_BOXES, "std::pair(own.end[d], own.end[d] + w)", "std::pair(own.end[d], own.end[d] + w - (w > 1))")),
    ("routes", "a chunk of the ring counts as empty once it is full",
     (WAYS, "{c.data, between});\n  verbs_.record(c.emptied, lane.out());", "{c.data, between});\n  verbs_.record(c.emptied, lane.in());")),
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
     (PEER, "const std::string wrong = test_peers(verbs_, device, owner, both, std::pair(user, lender));", "const std::string wrong;")),
    ("peers", "pages of unified memory are not tested", (PEER, "return test_pages(verbs_, device, owner);", "return {};")),
    ("peers", "what fails is said each time", (PEER, "    e->asked = true;\n    if (!wrong.empty()) e->why", "    if (!wrong.empty()) e->why")),
    ("peers", "what fails stays granted",
     (PEER, "    verbs_.disable_peer_access(device, owner);\n", "")),
    ("peers", "pages that are kept are not sent to the CPU", (KEPT, "  verbs.prefetch(on.stream(), a.begin, a.bytes, {});\n", "")),
    ("peers", "pages that are kept go beside who uses them", (KEPT, "  access_guard guard(on, {&all, 1});\n", "  (void)all;\n")),
    ("peers", "graphs do not test links of pages", ("core/src/graph.cpp", "  for (const int d : state_->captured.page_users) m.test_pages(d);\n", "")),
    ("collectives", "the type of doubles is that of integers",
     (GROUP, "c.type = t.type,", "c.type = t.type == element_type::float64 ? element_type::int64 : t.type,")),
    ("collectives", "the greatest is the least", (MATH, "case reduction::maximum: return a < b ? b : a;", "case reduction::maximum: return b < a ? b : a;")),
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
    ("shards", "shards travel one after the other", (SHARD_COPY, "!this_thread_state.capture && !workspace_scope::current())", "false)")),
    ("shards", "threads take no notice of the caller's scopes", ("multigpu/src/submitters.cpp", "    const thread_scopes::use here(scopes);\n", "")),
]
