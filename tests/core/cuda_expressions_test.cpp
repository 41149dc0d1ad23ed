// Programs on CUDA devices give the bytes of the interpreter on the CPU: generated kernels and the interpreter kernel.
// as: host
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_fixture.hpp"
#include "interpreter/interpret.hpp"
#include "interpreter/reduce.hpp"
#include "random_reduction.hpp"
#include "support/seeds.hpp"

using namespace cuda_test;

namespace cuda_expressions {
namespace {

using random_evaluations::random_evaluation;

template <class T>
bool same_number(const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x), std::memcpy(&y, b, sizeof y);
  return std::memcmp(a, b, sizeof x) == 0 || (x != x && y != y);
}
// NaNs are equal, whatever their bits.
bool are_same(scalar_type t, const std::byte* a, const std::byte* b) {
  switch (t) {
    case scalar_type::float32: return same_number<float>(a, b);
    case scalar_type::float64: return same_number<double>(a, b);
    case scalar_type::complex64: return same_number<float>(a, b) && same_number<float>(a + 4, b + 4);
    case scalar_type::complex128: return same_number<double>(a, b) && same_number<double>(a + 8, b + 8);
    case scalar_type::half:
    case scalar_type::bfloat16: {
      std::uint16_t x, y;
      std::memcpy(&x, a, 2), std::memcpy(&y, b, 2);
      const unsigned infinity = t == scalar_type::half ? 0x7c00 : 0x7f80;
      return x == y || ((x & 0x7fffu) > infinity && (y & 0x7fffu) > infinity);
    }
    default: return std::memcmp(a, b, size_of(t)) == 0;
  }
}

std::string bits(const std::byte* p, std::size_t n) {
  std::string text;
  for (std::size_t k = n; k-- > 0;) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned>(p[k]) >> 4];
    text += digits[static_cast<unsigned>(p[k]) & 15];
  }
  return text;
}

class on_device : public unchanged {
 public:
  // Returns what the block of memory holds after the device has evaluated the program.
  std::vector<std::byte> run(random_evaluation& r) {
    const bytes block(b, memory_kind::device, 0, r.bytes() + 64);
    put(block.p, r.content());
    b.evaluate(s, 0, r.at(block.p), {});
    check("evaluate");
    return fetch(block.p, r.content().size());
  }
};

// Returns false at the first difference.
bool compare(random_evaluation& r, const std::vector<std::byte>& got, const std::string& what) {
  alignas(64) std::vector<std::byte> room(r.content().size() + 64);
  std::byte* const base = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64;
  std::memcpy(base, r.content().data(), r.content().size());
  interpret(r.at(base), 1);
  std::vector<std::byte> expected(base, base + r.content().size());
  bool good = true;
  std::vector<std::byte> patched = got;
  r.each_output([&](const evaluation_output& o, std::size_t at) {
    const std::size_t size = size_of(o.to.type);
    if (good && !are_same(o.to.type, expected.data() + at, got.data() + at)) {
      good = false;
      BOOST_ERROR(what << ": " << name_of(o.to.type) << " at byte " << at << " is " << bits(got.data() + at, size)
                       << ", expected " << bits(expected.data() + at, size));
    }
    std::memcpy(patched.data() + at, expected.data() + at, size);
  });
  if (good && patched != expected) {
    good = false;
    BOOST_ERROR(what << ": bytes outside of the outputs have changed");
  }
  return good;
}

// Sums are in another order than on the CPU.
template <class T>
bool near(const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x), std::memcpy(&y, b, sizeof y);
  const T bound = (sizeof(T) == 4 ? T(2e-4) : T(1e-9)) * (std::fabs(x) + std::fabs(y) + 1000);
  return (x != x && y != y) || x == y || !std::isfinite(x) || std::fabs(x - y) <= bound;
}
bool are_near(scalar_type t, const std::byte* a, const std::byte* b) {
  switch (t) {
    case scalar_type::float32: return near<float>(a, b);
    case scalar_type::float64: return near<double>(a, b);
    case scalar_type::complex64: return near<float>(a, b) && near<float>(a + 4, b + 4);
    case scalar_type::complex128: return near<double>(a, b) && near<double>(a + 8, b + 8);
    default: return are_same(t, a, b);
  }
}

}  // namespace
}  // namespace cuda_expressions

BOOST_AUTO_TEST_SUITE(cuda_expressions, *utf::precondition(needs_devices{1}))

BOOST_AUTO_TEST_CASE(random_programs_give_the_bytes_of_the_cpu) {
  cuda_expressions::on_device device;
  const std::size_t seeds = support::seeds(300);
  int wrong = 0;
  for (std::size_t seed = 0; seed != seeds && wrong < 12; ++seed) {
    cuda_expressions::random_evaluation r(seed, true);
    const auto first = device.run(r);
    if (!cuda_expressions::compare(r, first, "seed " + std::to_string(seed))) {
      ++wrong;
      BOOST_TEST_MESSAGE(device.b.explain_evaluation(0, r.at(reinterpret_cast<std::byte*>(1 << 20))));
      continue;
    }
    BOOST_TEST(device.b.prepare_evaluation(0, r.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20))) ==
               (device.b.explain_evaluation(0, r.at(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20)))
                    .find("FERRY_JIT=off") == std::string::npos));
    if (!cuda_expressions::compare(r, device.run(r), "compiled, seed " + std::to_string(seed))) {
      ++wrong;
      BOOST_TEST_MESSAGE(device.b.explain_evaluation(0, r.at(reinterpret_cast<std::byte*>(1 << 20))));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_reductions_give_the_results_of_the_cpu) {
  cuda_expressions::on_device device;
  if (device.b.explain_evaluation(0, cuda_expressions::random_evaluation(0, true).at(nullptr)).find("FERRY_JIT=off") !=
      std::string::npos) {
    BOOST_TEST_MESSAGE("reductions need FERRY_JIT");
    return;
  }
  int wrong = 0;
  for (std::size_t seed = 0; seed != support::seeds(150) && wrong < 10; ++seed) {
    random_evaluations::random_reduction q(seed);
    if (q.is_empty()) continue;
    std::vector<std::byte> content = q.input().content();
    content.resize(content.size() + 64);
    std::byte* const base = content.data() + (64 - reinterpret_cast<std::uintptr_t>(content.data()) % 64) % 64;
    std::memmove(base, q.input().content().data(), q.input().content().size());
    std::vector<std::byte> expected(q.result_bytes() + 64);
    reduce_on_cpu(q.at(base, expected.data()), 1);
    const bytes block(device.b, memory_kind::device, 0, q.input().bytes() + 64);
    const bytes results(device.b, memory_kind::device, 0, expected.size());
    device.put(block.p, q.input().content());
    reduction_evaluation r = q.at(block.p, results.p);
    const bytes scratch(device.b, memory_kind::device, 0, device.b.scratch_bytes(r) + 64);
    r.scratch = scratch.p;
    device.b.reduce(device.s, 0, r, {});
    device.check("reduce");
    const auto got = device.fetch(results.p, expected.size());
    device.b.reduce(device.s, 0, r, {});
    BOOST_TEST((device.fetch(results.p, expected.size()) == got), "seed " << seed << " is not deterministic");
    bool good = true;
    for (std::size_t k = 0; k != q.results().size(); ++k)
      for (std::size_t c = 0; c != q.cells() && good; ++c) {
        const scalar_type t = q.results()[k].to.type;
        const std::size_t at = q.offset(k) + c * size_of(t);
        // The order decides whether a product overflows before it meets a 0.
        if (q.results()[k].what == reduction_operation::product && !is_integer(t)) continue;
        good = cuda_expressions::are_near(t, expected.data() + at, got.data() + at);
        if (!good)
          BOOST_ERROR("seed " << seed << ", result " << k << ", cell " << c << " of " << q.cells() << ": " << name_of(t)
                              << " is " << cuda_expressions::bits(got.data() + at, size_of(t)) << ", expected "
                              << cuda_expressions::bits(expected.data() + at, size_of(t)));
      }
    wrong += !good;
  }
}

// Functions of all kinds run, on all types; expressions_functions checks their values.
BOOST_AUTO_TEST_CASE(random_programs_with_functions_run) {
  cuda_expressions::on_device device;
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    cuda_expressions::random_evaluation r(seed, false);
    BOOST_TEST(device.run(r).size() == r.content().size());
  }
}

BOOST_AUTO_TEST_SUITE_END()
