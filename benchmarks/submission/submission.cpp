// What does a collective cost the CPU, apart from the library that executes it? Uses the null backend and a transport
// that does nothing. Needs no GPU.
// as: host
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <ferry/multigpu.hpp>

#include "../support/null_backend.hpp"
#include "../support/suite.hpp"
#include "transport/joint_submission.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

class null_transport final : public fr::detail::transport {
 public:
  std::string_view name() const override { return "null"; }
  void submit(std::span<const fr::detail::collective_call> calls, std::span<const fr::stream_ref> streams) override {
    fr::detail::submit_jointly(calls, streams, [](fr::detail::joint_uses&) {});
  }
};

// One input and one output array per member, used only by this team.
struct arrays_of_a_team {
  explicit arrays_of_a_team(std::span<const fr::device> devices)
      : members(devices, 0, devices.size(), std::make_shared<null_transport>()) {
    for (const fr::device d : devices)
      from.emplace_back(fr::extents<1>{1024}, d), to.emplace_back(fr::extents<1>{1024}, d);
  }
  fr::team members;
  std::vector<fr::device_array<float>> from, to;
};

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {});
  const fr::runtime_scope null_machine(std::make_unique<bm::null_backend>(8));
  std::vector<std::unique_ptr<arrays_of_a_team>> teams;
  for (const std::size_t n : {2, 4, 8}) {
    teams.push_back(std::make_unique<arrays_of_a_team>(fr::devices().subspan(0, n)));
    s.add({"all_reduce of " + std::to_string(n) + " members beyond its library (null)",
           "ns",
           bm::on_cpu([&t = *teams.back()] { fr::all_reduce(t.members, t.from, t.to, fr::plus{}); }),
           "",
           {},
           bm::bound::none()});
  }
  return s.run();
}
