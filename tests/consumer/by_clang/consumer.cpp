// Errors of work pass accesses of elements, and objects on the way are destroyed.
#include <ferry/ferry.hpp>

#include <cstdio>

namespace fr = ferry;
namespace {

FERRY_FUNCTOR(failing, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float*) const { FERRY_ASSERT(i != 3, "planted"); }
});

struct counted {
  int& count;
  ~counted() { ++count; }
};

float read(const fr::unified_array<float>& u, int& count) {
  const counted c{count};
  return u[0] + 1;
}
float& write(fr::unified_array<float>& u, int& count) {
  const counted c{count};
  return u[0] = 1;
}
template <class Call>
bool is_refused(Call call) {
  int count = 0;
  try {
    call(count);
  } catch (const fr::device_error&) {
    return count == 1;
  }
  std::fputs("an access after failed work threw nothing\n", stderr);
  return false;
}

}  // namespace

int main() {
  const fr::simulation machine("devices=1");
  fr::unified_array<float> u({100}, 1.f);
  try {
    fr::parallel_for(100, failing{}, u);
    fr::synchronize();
  } catch (const fr::device_error&) {  // told by these calls, or only by the accesses
  }
  const bool read_is_refused = is_refused([&](int& count) { read(u, count); });
  return is_refused([&](int& count) { write(u, count); }) && read_is_refused ? 0 : 1;
}
