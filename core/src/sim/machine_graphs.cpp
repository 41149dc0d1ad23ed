// Capture and graphs.
#include <algorithm>
#include <map>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "machine.hpp"
#include "surroundings.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

void machine::refuse_in_capture(capture& in, const std::string& what) {
  in.invalidate(what);
  throw invalid_argument("operation not permitted when stream is capturing: " + what +
                         " is not possible in a capture, which is invalid now; end it, and do this before or after it");
}

void machine::refuse_captured(event& e, const std::string& what) {
  if (!e.in->has_ended()) e.in->invalidate(what + " (an event that was recorded in the capture)");
  throw invalid_argument("operation not permitted on an event last recorded in a capturing stream: " + what +
                         " is not possible, because its record belongs to a graph; record it again outside");
}

void machine::begin_capture(native_stream s) {
  call c(*this);
  stream& on = find_working(s);
  if (on.in)
    throw invalid_argument(concat("stream ", on.id, " is capturing already; end_capture comes before begin_capture"));
  on.in = std::make_shared<capture>(on.id);
}

// Also works on a failed device: the streams of the other devices leave the capture.
native_graph machine::end_capture(native_stream s) {
  call c(*this);
  stream& on = find(s);
  const auto in = on.in;
  if (!in) schedule_.check(on.device);
  if (!in) throw invalid_argument(concat("stream ", on.id, " is not capturing"));
  if (in->origin() != on.id)
    throw invalid_argument(
        concat("the capture of stream ", on.id, " was begun on stream ", in->origin(), ", and ends there"));
  for (auto& [id, other] : streams_)
    if (other.in == in) other.in.reset();
  if (schedule_.has_failed(on.device)) in->drop();
  schedule_.check(on.device);
  const std::uint64_t id = fresh_id();
  graphs_.emplace(id, graph{in->end(), {}});
  return to_handle<native_graph>(id);
}

bool machine::is_capturing(native_stream s) {
  call c(*this);
  return find_working(s).in != nullptr;
}

// Returns the nodes in an order that the dependencies allow; nodes of a joint operation are grouped. Throws deadlock.
std::vector<std::vector<std::size_t>> machine::order_of(const std::vector<graph_node>& nodes) {
  std::vector<std::vector<std::size_t>> order;
  std::vector<bool> done(nodes.size());
  const auto can_run = [&](std::size_t i) {
    return !done[i] &&
           std::all_of(nodes[i].after.begin(), nodes[i].after.end(), [&](std::size_t k) { return done[k]; });
  };
  for (std::size_t left = nodes.size(), before = left + 1; left > 0;) {
    if (before == left)
      throw deadlock("deadlock: joint operations of the graph wait for each other, given crosswise to streams");
    before = left;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!can_run(i)) continue;
      const auto& m = nodes[i].what->together;
      std::vector<std::size_t> parts{i};
      for (std::size_t k = i + 1; m && k < nodes.size(); ++k)
        if (nodes[k].what->together == m && can_run(k)) parts.push_back(k);
      if (m && parts.size() < m->streams) continue;  // later, when the other parts can run
      for (const std::size_t k : parts) done[k] = true;
      left -= parts.size();
      order.push_back(std::move(parts));
    }
  }
  return order;
}

void machine::run_nodes(const std::vector<graph_node>& nodes, const std::vector<std::vector<std::size_t>>& order) {
  for (const std::vector<std::size_t>& parts : order) {
    const auto& m = nodes[parts.front()].what->together;
    for (const std::size_t k : parts)
      if (m)
        take_part(*nodes[k].what, nodes[k].device);
      else
        run_whole(*nodes[k].what, nodes[k].device, memory_);
    if (m) m->body();
  }
}

// Runs one device's part of a joint operation, before the common body.
void machine::take_part(const work& w, int device) {
  if (const std::string why = memory_.forbids(device, w.uses, w.how); !why.empty())
    throw device_fault(device, concat(w.name, ": ", why));
  memory_.touch(device, w.uses);
}

operation machine::part_of(const std::shared_ptr<rendezvous>& m, const graph_node& n) {
  const auto run = [this, what = n.what, device = n.device] { take_part(*what, device); };
  if (memory_.forbids(n.device, n.what->uses, n.what->how).empty())
    return {"joint operation", n.what->name, run, {}, {}, m};
  m->broken = concat("device ", n.device, " failed");
  return {"joint operation", n.what->name, run};
}

// Returns a clock line number for each node. A node continues the line of one that it is ordered behind. So a graph has
// about as many lines as captured streams, not as many as nodes.
std::vector<std::size_t> machine::lines_of(const std::vector<graph_node>& nodes) {
  std::vector<std::size_t> line(nodes.size());
  std::vector<bool> goes_on(nodes.size());
  std::size_t lines = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& after = nodes[i].after;
    const auto before = std::find_if(after.begin(), after.end(), [&](std::size_t k) { return !goes_on[k]; });
    if (before == after.end()) {
      line[i] = lines++;
      continue;
    }
    goes_on[*before] = true;
    line[i] = line[*before];
  }
  return line;
}

void machine::launch_graph(native_graph g, native_stream s) {
  call c(*this);
  stream& on = find_working(s);
  const auto found = graphs_.find(to_id(g.handle));
  if (found == graphs_.end())
    throw invalid_argument(
        concat("invalid resource handle: ", to_id(g.handle), " is no graph of this simulated machine"));
  may_fail(failing_verb::launch, c.lock, on.device);
  graph& what = found->second;
  for (const graph_node& n : what.nodes) schedule_.check(n.device);
  if (on.in) return on.in->add(on.id, what.nodes);

  const auto line = on.line;
  const auto make_signal = [id = on.id](std::string_view part) {
    auto made = std::make_shared<signal>();
    made->who = concat(part, " of a graph launched on stream ", id);
    return made;
  };
  if (schedule_.is_eager()) {
    const auto nodes = what.nodes;   // another thread may destroy the graph meanwhile
    std::shared_ptr<footprint> all;  // as one operation: races inside the graph are not checked
    for (const graph_node& n : nodes)
      if (const auto one = footprint_of(*n.what)) {
        if (!all) all = std::make_shared<footprint>(footprint{"graph", {}, {}});
        all->uses.insert(all->uses.end(), one->uses.begin(), one->uses.end());
      }
    if (what.last) schedule_.order_behind(c.lock, *line, *what.last);
    std::vector<const work*> works;
    for (const graph_node& n : nodes) works.push_back(n.what.get());
    schedule_.run_now(
        c.lock, *line,
        [&, order = order_of(nodes)] {
          const worker_scope scope(workers_of(line->device), options_.indices);
          run_nodes(nodes, order);
        },
        all, &surroundings::of(works, memory_));
    if (const auto same = graphs_.find(to_id(g.handle)); same != graphs_.end()) {
      same->second.last = make_signal("the end");
      same->second.last->fired = true;
      schedule_.stamp(c.lock, *line, *same->second.last);
    }
    for (const graph_node& n : nodes) schedule_.check(n.device);
    return;
  }
  const std::vector<std::size_t> line_of = lines_of(what.nodes);
  const std::size_t lines = what.nodes.empty() ? 0 : 1 + *std::max_element(line_of.begin(), line_of.end());
  while (what.lines.size() < lines) what.lines.push_back(schedule_.new_line(c.lock));
  // Each node is a queue of its own between two entries of the stream, so nodes interleave with other work.
  const auto start = make_signal("the start");
  operation begin{"start of graph", {}, {}, {}, start};
  if (what.last) begin.needs.push_back(what.last);
  schedule_.push(c.lock, *line, std::move(begin));
  std::vector<std::shared_ptr<signal>> done;
  std::map<const rendezvous*, std::shared_ptr<rendezvous>> rendezvous_of;
  for (const graph_node& n : what.nodes) {
    std::vector<operation> ops;
    if (const auto& m = n.what->together) {
      auto& held = rendezvous_of[m.get()];
      if (!held) held = std::make_shared<rendezvous>(*m);
      ops.push_back(part_of(held, n));
    } else {
      ops = to_operations(n.what, n.device, memory_, mode(n.device));
    }
    ops.front().touches = footprint_of(*n.what);
    for (const std::size_t k : n.after) ops.front().needs.push_back(done[k]);
    if (n.after.empty()) ops.front().needs.push_back(start);
    ops.back().fires = done.emplace_back(make_signal("a node"));
    const auto own = schedule_.open(c.lock, n.device, on.id, what.lines[line_of[done.size() - 1]]);
    for (operation& op : ops) schedule_.push(c.lock, *own, std::move(op));
    schedule_.close(c.lock, *own);
  }
  what.last = make_signal("the end");
  schedule_.push(c.lock, *line, {"end of graph", {}, {}, done, what.last});
  schedule_.run_lazily(c.lock);
}

void machine::destroy_graph(native_graph g) {
  call c(*this);
  if (graphs_.erase(to_id(g.handle)) == 0)
    throw invalid_argument(
        concat("invalid resource handle: ", to_id(g.handle), " is no graph of this simulated machine"));
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
