#include "ferry/multigpu/detail/printing/sharded_text.hpp"

#include <algorithm>
#include <vector>

#include "ferry/multigpu/detail/teams/across_processes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The cells that are in a box as well; empty if there are none.
program_part common_part(program_part own, const program_part& box) {
  for (std::size_t d = 0; d != own.shape.rank; ++d) {
    const auto end_of = [d](const program_part& p) {
      return p.first[d] + static_cast<std::ptrdiff_t>(p.shape.extent[d]);
    };
    const std::ptrdiff_t end = std::min(end_of(own), end_of(box));
    own.first[d] = std::max(own.first[d], box.first[d]);
    own.shape.extent[d] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, end - own.first[d]));
  }
  return own;
}

class printed_cells final : public printed_source {
 public:
  explicit printed_cells(const sharded_operand& a)
      : printed_source(a.distribution().extents, a.cells(a.own(a.team().first_local())).type),
        array_(a) {}
  void copy(const program_part& box, std::byte* to, const strides& s) const override {
    const team& t = array_.team();
    for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m) {
      const program_part here = common_part(array_.own(m), box);
      if (here.is_empty()) continue;
      std::byte* place = to;
      for (std::size_t d = 0; d != here.shape.rank; ++d) place += (here.first[d] - box.first[d]) * s[d];
      copy_to_cpu(array_.cells(here), place, s);
    }
  }
  // The bytes that no member of a process has are zeros there.
  void complete(std::span<std::byte> all) const override {
    if (!spans_processes(array_.team())) return;
    const std::vector<std::byte> each = from_all_processes(array_.team(), all, "print of a sharded array");
    std::fill(all.begin(), all.end(), std::byte{0});
    for (std::size_t i = 0; i != each.size(); ++i) all[i % all.size()] |= each[i];
  }

 private:
  const sharded_operand& array_;
};

}  // namespace

std::string text_of_cells(const sharded_operand& a, const print_options& how) {
  return text_of_elements(printed_cells(a), how);
}

void print_in_first_process(const team& t, const std::string& text) {
  if (t.is_local(0)) print_text(text + "\n");
}

}  // namespace ferry::inline FERRY_ABI::detail
