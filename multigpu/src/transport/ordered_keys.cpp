#include "transport/ordered_keys.hpp"

#include <cstring>

#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class From, class To, class F>
void convert_each(const std::byte* from, std::byte* to, std::size_t count, F f) {
  for (std::size_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, from + i * sizeof x, sizeof x);
    const To y = f(x);
    std::memcpy(to + i * sizeof y, &y, sizeof y);
  }
}

void convert_on_cpu(const key_conversion& c, const std::byte* from, std::byte* to) {
  with_float_format(c.type, [&]<class Format>(Format) {
    using bits = typename Format::bits;
    using key = typename Format::key;
    if (!c.to_keys) return convert_each<key, bits>(from, to, c.count, Format::from_key);
    const key nan = is_least(c.op) == ignores_nan(c.op) ? Format::highest : Format::lowest;
    convert_each<bits, key>(from, to, c.count, [nan](bits b) { return Format::to_key(b, nan); });
  });
}

}  // namespace

void convert_keys(native_stream s, [[maybe_unused]] int device, const key_conversion& c,
                  std::span<const kernel_use> uses) {
#if FERRY_HAS_CUDA
  if (!runtime::current().is_simulated()) return cuda::launch_key_conversion(s, device, c);
#endif
  runtime::current().backend().launch(
      s, {"floats as integers", uses, [c](const relocation& move) { convert_on_cpu(c, move(c.from), move(c.to)); }});
}

}  // namespace ferry::inline FERRY_ABI::detail
