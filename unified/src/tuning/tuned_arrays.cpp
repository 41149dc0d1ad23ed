#include "tuning/tuned_arrays.hpp"

#include <cstring>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/unified/migration.hpp"
#include "migration/migration_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t part = std::size_t{64} << 10;

// Returns a hash of each part of the bytes. Words are mixed by multiplication and rotation (as in Murmur3, by Austin
// Appleby). So a difference of one bit changes about half of the bits of the hash.
std::vector<std::uint64_t> prints_of(byte_range bytes) {
  std::vector<std::uint64_t> result;
  for (const std::byte* p = bytes.begin; p < bytes.end; p += std::min(part, static_cast<std::size_t>(bytes.end - p))) {
    const std::size_t n = std::min(part, static_cast<std::size_t>(bytes.end - p));
    std::uint64_t h = n;
    for (std::size_t at = 0; at < n; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p + at, std::min<std::size_t>(8, n - at));
      word *= 0x87c37b91114253d5;
      word = (word << 31 | word >> 33) * 0x4cf5ad432745937f;
      h ^= word;
      h = (h << 27 | h >> 37) * 5 + 0x52dce729;
    }
    result.push_back(h);
  }
  return result;
}

std::byte* writable(byte_range r) { return const_cast<std::byte*>(r.begin); }

}  // namespace

tuned_arrays::tuned_arrays(const std::vector<tuned_array>& arrays)
    : arrays_(arrays),
      runtime_(runtime::current()),
      known_(migration_policy::current()),
      before_(arrays.size()) {
  wait();
  each([&](std::size_t i, allocation& a) {
    before_[i].pages = known_.records().pages(a);
    before_[i].policy = known_.policies().own(a);
  });
  try {
    hold_still();
    bring_to_cpu();
    each([&](std::size_t i, allocation&) { before_[i].elements.assign(arrays_[i].bytes.begin, arrays_[i].bytes.end); });
  } catch (...) {  // the destructor does not run
    for (state& s : before_) s.elements.clear();
    put_back_quietly();
    throw;
  }
}

tuned_arrays::~tuned_arrays() { put_back_quietly(); }

// If a device failed, another exception already reports that.
void tuned_arrays::put_back_quietly() noexcept {
  try {
    put_back();
  } catch (const error&) {
  }
}

void tuned_arrays::wait() {
  each([&](std::size_t, allocation& a) { known_.moves().wait_for_arrival(a); });
  runtime_.streams().synchronize();
}

void tuned_arrays::hold_still() {
  each([&](std::size_t, allocation& a) {
    array_policy still;
    still.moves = array_policy::way::explicitly;
    known_.policies().set(a, still);
  });
}

// As prefetch(), but for an allocation.
void tuned_arrays::send(std::size_t i, byte_range pages, memory_location to) {
  access use{&arrays_[i].owner.get(), arrays_[i].bytes, false};
  const ferry::device on(to.is_host() ? use.what->device : to.device);
  submit_ordered(default_stream(on), {&use, 1}, reach::of_pages,
                 [&](native_stream n) { runtime_.backend().prefetch(n, writable(pages), pages.size(), to); });
}

void tuned_arrays::bring_to_cpu() {
  each([&](std::size_t i, allocation&) { send(i, arrays_[i].bytes, {}); });
  wait();
}

void tuned_arrays::fill_and_place() {
  bring_to_cpu();
  each([&](std::size_t i, allocation&) {
    const std::vector<std::byte>& elements = before_[i].elements;
    if (!elements.empty()) std::memcpy(writable(arrays_[i].bytes), elements.data(), elements.size());
    for (const page_run& g : before_[i].pages.runs())
      if (g.where >= 0) send(i, g.range(), {g.where});
  });
  wait();
  each([&](std::size_t i, allocation& a) { known_.records().restore_pages(a, before_[i].pages); });
}

std::size_t tuned_arrays::put_handles_back() {
  const auto elements = [](const tuned_array& a) { return a.now(a.object); };
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const tuned_array& mine = arrays_[i];
    if (elements(mine) == mine.bytes.begin) continue;
    std::size_t j = i + 1;
    while (j < arrays_.size() && !(arrays_[j].type == mine.type && elements(arrays_[j]) == mine.bytes.begin)) ++j;
    if (j == arrays_.size()) return i;
    mine.exchange(mine.object, arrays_[j].object);
  }
  return arrays_.size();
}

void tuned_arrays::begin(const std::vector<array_policy>& policies) {
  hold_still();
  fill_and_place();
  each([&](std::size_t i, allocation& a) { known_.policies().set(a, policies[i]); });
}

tuned_arrays::prints tuned_arrays::result() {
  wait();
  for (const tuned_array& a : arrays_)
    if (a.owner.is_freed())
      throw invalid_argument("tuner: the step has freed array '" + a.name +
                             "': make and free arrays outside of the step");
  hold_still();
  bring_to_cpu();
  const std::size_t replaced = put_handles_back();
  if (replaced < arrays_.size())
    throw invalid_argument("tuner: the step has replaced or resized array '" + arrays_[replaced].name +
                           "': it may only exchange arrays that were added to the tuner, of one type");
  prints all;
  for (const tuned_array& a : arrays_) all.push_back(prints_of(a.bytes));
  return all;
}

std::string tuned_arrays::difference(const prints& a, const prints& b) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k)
      if (a[i][k] != b[i][k])
        return concat("array '", arrays_[i].name, "' differs in its bytes ", k * part, " to ",
                      std::min((k + 1) * part, arrays_[i].bytes.size()));
  return {};
}

void tuned_arrays::put_back() {
  if (std::exchange(is_back_, true)) return;
  wait();
  for (std::size_t i = 0; (i = put_handles_back()) < arrays_.size();) arrays_[i].reset();
  hold_still();
  fill_and_place();
  each([&](std::size_t i, allocation& a) { known_.policies().set(a, before_[i].policy); });
}

}  // namespace ferry::inline FERRY_ABI::detail
