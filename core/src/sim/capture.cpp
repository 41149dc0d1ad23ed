#include "capture.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

void capture::join(std::uint64_t stream, const position& p) {
  position& mine = at_[stream];
  mine.insert(mine.end(), p.begin(), p.end());
  std::sort(mine.begin(), mine.end());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
}

void capture::add(std::uint64_t stream, int device, std::shared_ptr<const work> what) {
  position& mine = at_.at(stream);
  nodes_.push_back({device, std::move(what), std::move(mine)});
  mine = {nodes_.size() - 1};
}

void capture::add(std::uint64_t stream, const std::vector<graph_node>& graph) {
  if (graph.empty()) return;
  position& mine = at_.at(stream);
  const std::size_t first = nodes_.size();
  std::vector<bool> is_leaf(graph.size(), true);
  std::map<const rendezvous*, std::shared_ptr<rendezvous>> again;  // the same graph may be launched twice in a capture
  for (const graph_node& n : graph) {
    graph_node copy = n;
    if (const auto& m = n.what->together) {
      auto& own = again[m.get()];
      if (!own) own = std::make_shared<rendezvous>(*m);
      work part = *n.what;
      part.together = own;
      copy.what = std::make_shared<work>(std::move(part));
    }
    for (std::size_t& k : copy.after) is_leaf[k] = false, k += first;
    if (copy.after.empty()) copy.after = mine;
    nodes_.push_back(std::move(copy));
  }
  mine.clear();
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (is_leaf[i]) mine.push_back(first + i);
}

void capture::invalidate(const std::string& why) {
  if (invalid_.empty()) invalid_ = why;
}

std::vector<graph_node> capture::end() {
  ended_ = true;
  if (!invalid_.empty()) throw invalid_argument("the capture was invalidated earlier: " + invalid_);
  std::map<const rendezvous*, std::size_t> parts_of;
  for (const graph_node& n : nodes_) ++parts_of[n.what->together.get()];
  for (const graph_node& n : nodes_)
    if (const auto& m = n.what->together) {
      const std::size_t parts = parts_of[m.get()];
      if (parts != m->streams)
        throw invalid_argument(
            concat("the joint operation '", m->name, "' of ", m->streams, " streams was captured on ", parts,
                   " of them; it would wait for the others for ever: all of them belong into the capture"));
    }
  std::vector<bool> joined(nodes_.size());  // nodes that the origin's next operation is ordered behind
  for (const std::size_t k : at_.at(origin_)) joined[k] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;)
    if (joined[i])
      for (const std::size_t k : nodes_[i].after) joined[k] = true;
  for (const auto& [stream, last] : at_)
    for (const std::size_t k : last)
      if (!joined[k])
        throw invalid_argument(concat(
            "capture has unjoined work: stream ", stream, " was forked from stream ", origin_, ", and its ",
            nodes_[k].what->verb, " '", nodes_[k].what->name,
            "' is not waited for; record an event on it, and let the captured stream wait for that before the end"));
  return std::move(nodes_);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
