#include "transport/keyed_transport.hpp"

#include <algorithm>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "transport/ordered_keys.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool needs_keys(const collective_call& c) {
  using enum collective_kind;
  return (c.kind == all_reduce || c.kind == reduce || c.kind == reduce_scatter) && is_float(c.type) && is_extreme(c.op);
}

std::size_t elements_of(const collective_buffer& b, const collective_call& c) { return b.bytes / c.element_bytes; }

void convert(stream_ref s, const collective_call& c, bool to_keys, const collective_buffer& from,
             const collective_buffer& to, std::size_t count) {
  if (count == 0) return;
  const key_conversion conversion{c.type, c.op, to_keys, from.data, to.data, count};
  std::vector<access> uses;
  std::vector<kernel_use> touched;
  const bool in_place = from.data == to.data;
  if (!in_place) {
    uses.push_back({from.owner, from.range(), false});
    touched.push_back({from.data, from.bytes, true, false});
  }
  uses.push_back({to.owner, to.range(), true});
  touched.push_back({to.data, to.bytes, in_place, true});
  submit_ordered(s, uses, reach::by_kernel,
                 [&](native_stream n) { convert_keys(n, s.where().index(), conversion, touched); });
}

class keyed_transport final : public transport {
 public:
  keyed_transport(std::shared_ptr<transport> below, std::size_t first) : below_(std::move(below)), first_(first) {}
  std::string_view name() const override { return below_->name(); }
  void check() override { below_->check(); }

  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    if (std::none_of(calls.begin(), calls.end(), needs_keys)) return below_->submit(calls, streams);
    // Checked before the conversion to keys, which overwrites buffers in place.
    for (const collective_call& c : calls)
      for (const auto& [buffer, write] : {std::pair(&c.from, false), {&c.to, true}})
        if (buffer->owner) {
          access use{buffer->owner, buffer->range(), write};
          (void)admit(streams[c.member], {&use, 1}, reach::by_kernel);
        }
    std::vector<collective_call> keyed(calls.begin(), calls.end());
    std::vector<device_array<std::byte>> scratch;
    for (collective_call& c : keyed)
      if (needs_keys(c)) enqueue_keys(c, streams[c.member].where(), scratch);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (const collective_call& c = calls[i]; needs_keys(c))
        convert(streams[c.member], c, true, c.from, keyed[i].from, elements_of(c.from, c));
    below_->submit(keyed, streams);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (const collective_call& c = calls[i]; needs_keys(c) && c.to.owner)
        convert(streams[c.member], c, false, keyed[i].to, c.to, elements_of(c.to, c));
  }

 private:
  // Changes a call to one on keys, in place: the result replaces the keys of the member, or its share of them.
  void enqueue_keys(collective_call& c, device d, std::vector<device_array<std::byte>>& scratch) const {
    const std::size_t bytes = key_bytes(c.type), count = elements_of(c.from, c);
    collective_buffer keys = c.to;
    if (c.kind != collective_kind::all_reduce || bytes != c.element_bytes) {
      auto& fresh = scratch.emplace_back(extents<1>{count * bytes}, d);
      keys = fresh.owner() ? collective_buffer{&fresh.owner().get(), fresh.unsynchronized_data(), count * bytes}
                           : collective_buffer{};
    }
    c.from = keys;
    if (c.to.owner) c.to = keys;
    if (c.kind == collective_kind::reduce_scatter)
      c.to.data += (first_ + c.member) * c.count * bytes, c.to.bytes = c.count * bytes;
    c.op = is_least(c.op) ? reduction::minimum : reduction::maximum;
    c.type = key_type(c.type), c.element_bytes = bytes;
  }

  const std::shared_ptr<transport> below_;
  const std::size_t first_;  // rank of this process' first member
};

}  // namespace

std::shared_ptr<transport> with_ordered_keys(std::shared_ptr<transport> below, const rank_layout& team) {
  return std::make_shared<keyed_transport>(std::move(below), team.first);
}

}  // namespace ferry::inline FERRY_ABI::detail
