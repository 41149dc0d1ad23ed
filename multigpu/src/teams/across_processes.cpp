#include "ferry/multigpu/detail/teams/across_processes.hpp"

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

processes& all_processes(const std::string& what) {
  refuse_inside_submission(what);
  refuse_inside_capture(what);
  if (processes* const all = processes::world()) return *all;
  throw not_supported(what +
                      ": the team spans processes, to which this program is not connected: make it with "
                      "ferry::team::world()");
}

}  // namespace

std::vector<std::byte> from_all_processes(const team&, std::span<const std::byte> mine, const char* what) {
  return all_processes(what).all_gather(mine, what);
}

void join_processes(const team& t, std::span<const std::byte> mine, std::span<std::byte> all, const char* what) {
  struct sizes {
    std::uint64_t mine, all;
  };
  std::vector<sizes> said;
  for_each_process(t, sizes{mine.size(), all.size()}, what, [&](const sizes& s) { said.push_back(s); });
  std::vector<std::size_t> begin{0};
  for (const sizes& s : said) begin.push_back(begin.back() + s.mine);
  for (std::size_t p = 0; p < said.size(); ++p)
    if (said[p].all != begin.back())
      throw invalid_argument(concat(what, ": the processes have ", begin.back(), " bytes in all, and process ", p,
                                    " expects ", said[p].all, ": all must make the same calls for the same array"));
  processes& to = all_processes(what);
  const std::size_t here = to.rank();
  std::vector<processes::outgoing> out;
  std::vector<processes::incoming> in;
  for (std::size_t p = 0; p < said.size(); ++p) {
    if (p == here) continue;
    out.push_back({p, processes::usual_tag, mine.data(), mine.size()});
    in.push_back({p, processes::usual_tag, all.data() + begin[p], said[p].mine});
  }
  if (!mine.empty()) std::memcpy(all.data() + begin[here], mine.data(), mine.size());
  to.exchange(out, in, what);
}

void together(const team& t, const std::string& what, function_ref<void()> f) {
  if (!spans_processes(t)) return f();
  all_processes(what).together(what, f);
}

}  // namespace ferry::inline FERRY_ABI::detail
