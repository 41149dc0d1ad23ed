#include "sim_transport.hpp"

#include "ferry/core/error.hpp"
#include "transport/joint_submission.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

class sim_transport final : public transport {
 public:
  explicit sim_transport(const rank_layout& team) : ranks_(team.ranks) {}
  std::string_view name() const override { return "sim"; }

  // One rendezvous of all streams that take part. The calls are copied, because they run when the last stream has
  // arrived.
  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    detail::backend& backend = runtime::current().backend();
    auto all = std::make_shared<rendezvous>();
    all->name = calls.size() > ranks_ ? "a group of collectives" : name_of(calls.front().kind);
    all->body = [kept = std::vector(calls.begin(), calls.end()), ranks = ranks_] { run_calls(kept, ranks); };
    detail::submit_jointly(calls, streams, [&](detail::joint_uses& joint) {
      all->streams = joint.members().size();
      for (const auto& m : joint.members()) {
        std::vector<kernel_use> touched;
        for (const access& a : joint.uses(m)) touched.push_back({a.where.begin, a.where.size(), !a.write, a.write});
        backend.join_rendezvous(streams[m.place].timeline().stream(), all, touched);
      }
    });
  }

 private:
  const std::size_t ranks_;
};

}  // namespace

std::shared_ptr<transport> make_transport(const rank_layout& team) { return std::make_shared<sim_transport>(team); }

}  // namespace ferry::inline FERRY_ABI::detail::sim
