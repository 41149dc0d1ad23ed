// A capture records nodes and their dependencies. A graph consists of the nodes of a capture that ended without an
// error.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ferry/version.hpp"
#include "work.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

struct graph_node {
  int device = 0;
  std::shared_ptr<const work> what;
  std::vector<std::size_t> after;  // indices of earlier nodes
};

class capture {
 public:
  using position = std::vector<std::size_t>;  // the nodes that the next operation is ordered behind

  explicit capture(std::uint64_t origin) : origin_(origin) { at_[origin]; }

  std::uint64_t origin() const { return origin_; }
  bool has(std::uint64_t stream) const { return at_.count(stream) != 0; }
  bool has_ended() const { return ended_; }
  const position& at(std::uint64_t stream) const { return at_.at(stream); }
  // The stream joins the capture, ordered behind `p`.
  void join(std::uint64_t stream, const position& p);
  void add(std::uint64_t stream, int device, std::shared_ptr<const work> what);
  void add(std::uint64_t stream, const std::vector<graph_node>& graph);
  // Marks the capture as invalid after a forbidden call: end() will throw.
  void invalidate(const std::string& why);
  // Ends the capture without a graph.
  void drop() { ended_ = true; }
  // Throws invalid_argument if the capture is invalid, or if a forked stream is not joined.
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
  std::shared_ptr<signal> last;  // the end of its last launch: launches of one graph do not overlap
  std::vector<std::shared_ptr<clock_line>> lines = {};  // of its nodes, if races are checked
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
