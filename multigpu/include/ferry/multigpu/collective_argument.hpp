// What members give to a collective, without its type.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace ferry {

class allocation_ref;

namespace detail {

struct collective_argument {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::size_t count = 0;
  bool contiguous = true;
};

// One for each member: up to 8, as many GPUs as a machine usually has at most, with no memory of their own.
class collective_arguments {
 public:
  void push_back(const collective_argument& a) {
    if (size_ < few_.size()) {
      few_[size_++] = a;
      return;
    }
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(a);
    ++size_;
  }
  std::size_t size() const { return size_; }
  std::span<const collective_argument> get() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }
  std::span<collective_argument> get() { return {many_.empty() ? few_.data() : many_.data(), size_}; }
  const collective_argument& operator[](std::size_t i) const { return get()[i]; }

 private:
  std::array<collective_argument, 8> few_;
  std::vector<collective_argument> many_;
  std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace ferry
