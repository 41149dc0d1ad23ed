// Amounts of memory as people write them: bytes, "512MiB", "60%" of a device.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ferry {

class memory_size {
 public:
  // None: no limit.
  constexpr memory_size() = default;
  constexpr memory_size(std::size_t bytes) : unit_(unit::bytes), bytes_(bytes) {}
  // "8589934592", "512B", "64KiB", "512MiB", "1.5GiB", "2TiB", or "60%" of what the amount is compared with.
  // Throws parse_error, which quotes the text and lists these forms.
  memory_size(std::string_view text);
  memory_size(const char* text) : memory_size(std::string_view(text)) {}
  memory_size(const std::string& text) : memory_size(std::string_view(text)) {}

  bool is_set() const { return unit_ != unit::none; }
  bool is_percentage() const { return unit_ == unit::percent; }
  // In bytes, where a percentage is of `whole`. None is 0.
  std::size_t bytes_of(std::size_t whole) const;
  // As it was meant: "60%", "8.000 GiB".
  std::string text() const;

 private:
  enum class unit { none, bytes, percent };
  unit unit_ = unit::none;
  std::size_t bytes_ = 0;
  double percent_ = 0;
};

// "512 bytes", "1.500 KiB", "8.000 GiB": three places, as tools of the field print them.
std::string bytes_text(std::size_t bytes);

namespace detail {
// Why a text is no size: "'Mib' is no unit", or that it has no number. units: those that are allowed there.
std::string why_no_size(std::string_view text, std::string_view units = "B, KiB, MiB, GiB or TiB");
}  // namespace detail

}  // namespace ferry
