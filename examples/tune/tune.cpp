// Heat in a rod, tuned: finds the best policy of each array and saves the policies, or runs with saved ones.
//   tune                          as it is
//   tune find [heat.policies]     looks for better; heat.policies.json has all trials
//   FERRY_TUNE=heat.policies tune with what was found
// test: find
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ferry/ferry.hpp>
#include <iostream>
#include <string>

#include "../../tools/progress_bar.hpp"

namespace fr = ferry;
namespace {

constexpr std::size_t n = std::size_t{1} << 20, piece = 8192;  // a device uses one piece at a time

FERRY_FUNCTOR(diffuse, {
  std::size_t n;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from, const float* conductivity) const {
    const float left = i > 0 ? from[i - 1] : from[i], right = i + 1 < n ? from[i + 1] : from[i];
    to[i] = from[i] + conductivity[i] * (left + right - 2 * from[i]);
  }
});
FERRY_FUNCTOR(cool, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* edge) const { edge[i] *= 0.5f; }
});

struct rod {
  fr::unified_array<float> now{{n}}, next{{n}}, conductivity{{n}}, edges{{n}};
  rod() {
    now.name("now"), next.name("next"), conductivity.name("conductivity"), edges.name("edges");
    for (std::size_t i = 0; float& x : now) x = static_cast<float>(i++ % 100);
    for (float& x : next) x = 0;
    for (float& x : conductivity) x = 0.25f;
    for (float& x : edges) x = 1;
  }
  // Kernels on the whole rod, and on small pieces of an array that the CPU then reads.
  float step() {
    fr::parallel_for(n, diffuse{n}, fr::out(next), fr::in(now), fr::in(conductivity));
    std::swap(now, next);
    for (std::size_t i = 0; i < n; i += piece) fr::parallel_for(piece, cool{}, fr::inout(edges.slice({i, i + piece})));
    float sum = 0;
    for (const float x : std::as_const(edges)) sum += x;
    return sum;
  }
};

std::string text_of(const fr::tune_progress& p) {
  char best[40] = "";
  if (p.best_milliseconds > 0) std::snprintf(best, sizeof best, ", best %.4g ms", p.best_milliseconds);
  return best + ("  " + (p.array.empty() ? std::string("all") : p.array)) + ": " + p.policy.text();
}

fr::tune_result search(rod& r) {
  tools::progress_bar bar("tuning");
  fr::tuner t({.progress = [&](const fr::tune_progress& p) { bar.show(p.trial, p.trials, text_of(p)); }});
  t.add(r.now).add(r.next).add(r.conductivity).add(r.edges);
  return t.run([&] { r.step(); });
}

}  // namespace

int main(int argc, char** argv) try {
  fr::name_program("heat", "1");
  rod r;
  if (argc > 1 && std::strcmp(argv[1], "find") == 0) {
    const std::string file = argc > 2 ? argv[2] : "heat.policies";
    const fr::tune_result found = search(r);
    found.best.save(file);
    found.save_json(file + ".json");  // tools/tuning_picture.py draws it
    std::cout << found << "saved as " << file << ", for " << fr::devices().size() << " x "
              << fr::runtime::current().properties(0).name << '\n';
    return 0;
  }
  float sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) sum = r.step();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("%g left, %.3f ms a step\n", static_cast<double>(sum), time.count() / 20);
  for (const std::string& name : fr::unmet_policies()) std::printf("there is no array '%s'\n", name.c_str());
} catch (const fr::error& e) {
  std::fprintf(stderr, "tune: %s\n", e.what());
  return 1;
}
