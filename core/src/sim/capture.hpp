// What a capture records: nodes and their dependencies. A graph is the nodes of a capture that ended well.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "work.hpp"

namespace ferry::sim {

struct graph_node {
  int device = 0;
  std::shared_ptr<const work> what;
  std::vector<std::size_t> after;  // indices of earlier nodes
};

class capture {
 public:
  using position = std::vector<std::size_t>;  // the nodes that whatever comes next comes after

  explicit capture(std::uint64_t origin) : origin_(origin) { at_[origin]; }

  std::uint64_t origin() const { return origin_; }
  bool has(std::uint64_t stream) const { return at_.count(stream) != 0; }
  bool has_ended() const { return ended_; }
  const position& at(std::uint64_t stream) const { return at_.at(stream); }
  // The stream takes part from now on, and goes on behind `p`.
  void join(std::uint64_t stream, const position& p);
  void add(std::uint64_t stream, int device, std::shared_ptr<const work> what);
  void add(std::uint64_t stream, const std::vector<graph_node>& graph);
  // Something forbidden was tried: the capture cannot end well any more.
  void invalidate(const std::string& why);
  // Ends it without a graph.
  void drop() { ended_ = true; }
  // Throws invalid_argument if it was invalidated, or a stream that was forked has not come back.
  std::vector<graph_node> end();

 private:
  std::uint64_t origin_;
  std::vector<graph_node> nodes_;
  std::map<std::uint64_t, position> at_;
  std::string invalid_;
  bool ended_ = false;
};

struct graph {
  std::vector<graph_node> nodes;
  std::shared_ptr<signal> last;                         // of its latest launch: launches of one graph do not overlap
  std::vector<std::shared_ptr<clock_line>> lines = {};  // of its nodes, where races are looked for
};

}  // namespace ferry::sim
