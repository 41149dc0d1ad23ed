// as: host
// test: jacksboro_elevation.npy gpu0 gpu-last --times 3
// Moves the array of a .npy file between any two places, prints its route and its speed.
//
//   copy FILE FROM TO [--times N] [--all-links]
//   copy --topology
//
// FROM and TO: memory (as malloc gives it), pinned, unified, gpu0, gpu1, ..., gpu-last.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <ferry/ferry.hpp>

namespace fr = ferry;
namespace {

using bytes = std::vector<std::uint8_t>;
using place =
    std::variant<bytes, fr::host_array<std::uint8_t>, fr::unified_array<std::uint8_t>, fr::device_array<std::uint8_t>>;

std::string found(const std::string& file) {
  const char* data = std::getenv("FERRY_EXAMPLES_DATA");
  return std::filesystem::exists(file) || !data ? file : std::string(data) + "/" + file;
}

// The elements of a file as raw bytes: their type does not matter here.
bytes read_elements(const std::string& file) {
  const fr::npy_info info = fr::read_npy_header(file);
  bytes all(std::filesystem::file_size(file) - info.data_offset);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(info.data_offset));
  in.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()));
  if (!in) throw std::runtime_error(file + " cannot be read");
  return all;
}

// Parses an integer that is at least `least`.
int parsed_number(std::string_view text, int least, const std::string& refusal) {
  int n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (wrong != std::errc{} || end != text.data() + text.size() || n < least) throw std::runtime_error(refusal);
  return n;
}

fr::device parsed_device(const std::string& name) {
  const int count = static_cast<int>(fr::devices().size());
  if (name == "gpu-last") return fr::devices().back();
  const int i = parsed_number(std::string_view(name).substr(3), 0,
                              "'" + name + "' is no place: GPUs are gpu0, gpu1, ... and gpu-last");
  if (i >= count)
    throw std::runtime_error("there is no " + name + ": the last one here is gpu" + std::to_string(count - 1));
  return fr::device(i);
}

place make_place(const std::string& name, std::size_t n) {
  const fr::extents<1> e{n};
  if (name == "memory") return bytes(n);
  if (name == "pinned") return fr::host_array<std::uint8_t>(e);
  if (name == "unified") return fr::unified_array<std::uint8_t>(e);
  if (name.starts_with("gpu")) return fr::device_array<std::uint8_t>(e, parsed_device(name));
  throw std::runtime_error("'" + name + "' is no place: memory, pinned, unified, gpu0, gpu1, ..., gpu-last");
}

fr::copy_end end_of(const place& p) {
  return std::visit(
      [](const auto& x) {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, bytes>)
          return fr::pageable_memory;
        else
          return fr::copy_end(x);
      },
      p);
}

// Copies from one place to the other, and waits until the copy is complete.
void move_bytes(const place& from, place& to) {
  std::visit(
      [](const auto& f, auto& t) {
        fr::copy(f, t);
        if constexpr (!std::is_same_v<std::decay_t<decltype(t)>, bytes>) fr::default_stream(t.device()).synchronize();
      },
      from, to);
}

int run(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--topology")) {
    std::cout << fr::topology::measured();
    return 0;
  }
  if (argc < 4) throw std::runtime_error("usage: copy FILE FROM TO [--times N] [--all-links], or copy --topology");
  int times = 10;
  bool all_links = false;
  for (int i = 4; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--all-links"))
      all_links = true;
    else if (!std::strcmp(argv[i], "--times") && i + 1 < argc)
      times = parsed_number(argv[++i], 1, "--times needs a whole number from 1 on");
    else
      throw std::runtime_error(std::string("'") + argv[i] + "' is no option");
  }
  if (all_links) {
    fr::copy_options o = fr::current_copy_options();
    o.multipath = fr::multipath_use::always;
    fr::set_copy_options(o);
  }
  const place file = read_elements(found(argv[1]));
  const std::size_t n = std::get<bytes>(file).size();
  place from = make_place(argv[2], n), to = make_place(argv[3], n);
  move_bytes(file, from);

  double best = 1e9;
  for (int i = 0; i <= times; ++i) {  // the first copy also enables peer access and pins staging buffers
    const auto begin = std::chrono::steady_clock::now();
    move_bytes(from, to);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, took.count());
  }
  place back = bytes(n);
  move_bytes(to, back);
  if (std::get<bytes>(back) != std::get<bytes>(file)) throw std::runtime_error("other bytes arrived");

  const fr::route_info way = fr::route(end_of(from), end_of(to), n);
  std::printf("%s to %s, %zu bytes: %.2f GB/s\n%s\n", argv[2], argv[3], n, static_cast<double>(n) / best * 1e-9,
              way.text().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& e) {
  std::fprintf(stderr, "copy: %s\n", e.what());
  return 1;
}
