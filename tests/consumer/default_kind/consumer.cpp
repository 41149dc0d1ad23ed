// ferry::array has the kind that the project's CMakeLists.txt sets, except for types with a kind of their own.
#include <ferry/core.hpp>

#include <type_traits>
#include <vector>

namespace fr = ferry;

struct counted {
  int hits;
};
template <>
inline constexpr fr::memory_kind ferry::default_memory_kind<counted> = fr::memory_kind::unified;

static_assert(std::is_same_v<fr::array<float>, fr::device_array<float>>, "the option did not reach its user");
static_assert(std::is_same_v<fr::array<counted>, fr::unified_array<counted>>);

static_assert(decltype(fr::zeros<int, 1>({3}))::kind == fr::memory_kind::device);

int hits(const std::vector<float>& given) {
  const auto a = fr::array<float>::from(given);
  fr::array<counted> c({1}, counted{0});
  c[0].hits += static_cast<int>(fr::to_vector(a)[0]);
  return c[0].hits;
}
