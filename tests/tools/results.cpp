// Writes what the scripts of tools/ draw, by names that HTML and XML must escape: snapshot.json and tuning.json, in the
// current folder.
#include <cstdio>
#include <ferry/ferry.hpp>

namespace fr = ferry;

int main() try {
  const fr::simulation sim("devices=1");
  {
    const fr::memory_recording recording;
    const fr::memory_tag_scope tag("tag \xc3");
    fr::device_array<char> a({4096}), b({8192});
    a.name("</script><b>"), b.name("SNAPSHOT &");
    b.free();
    fr::save_memory_snapshot(recording.snapshot(), "snapshot.json");
  }
  fr::name_program("a \"program\"", "1 < 2");
  fr::unified_array<int> u({1000}, 0);
  u.name("a<b>&\x01\xff");
  fr::tune_options o;
  o.candidates = {fr::array_policy::parse("prefetch"), fr::array_policy::parse("automatic preferred=device:9")};
  fr::tuner(o).add(u).run([&] { u[0] += 1; }).save_json("tuning.json");
  return 0;
} catch (const fr::error& e) {
  std::fprintf(stderr, "results: %s\n", e.what());
  return 1;
}
