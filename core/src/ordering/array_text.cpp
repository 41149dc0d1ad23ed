#include "ferry/core/detail/ordering/array_text.hpp"

#include <algorithm>
#include <cctype>
#include <new>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_size.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// An array that was freed while references to it remained.
struct freed_array {
  const allocation* node = nullptr;
  std::uint32_t generation = 0;
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t bytes = 0;
  freed_by how = freed_by::free;
  std::string name;
};

// The most recently freed arrays. Once full, the oldest is at `next`.
struct freed_arrays {
  static constexpr std::size_t most = 1024;
  detail::mutex mutex;
  std::vector<freed_array> all FERRY_GUARDED_BY(mutex);
  std::size_t next FERRY_GUARDED_BY(mutex) = 0;
};

freed_arrays& freed() {
  static auto* arrays = new freed_arrays;  // never destroyed: static arrays are freed after main
  return *arrays;
}

freed_array find_freed(const allocation* node, std::uint32_t generation) {
  lock_guard lock(freed().mutex);
  for (const freed_array& f : freed().all)
    if (f.node == node && f.generation == generation) return f;
  return {};
}

// "3 x 4 doubles"
std::string elements_text(const array_look& a) {
  std::string type(a.type);
  if (a.rank == 0) return "one " + type;
  if (!type.empty() && (std::isalnum(static_cast<unsigned char>(type.back())) || type.back() == '_')) type += 's';
  std::string shape;
  for (std::size_t d = 0; d != a.rank; ++d) shape += concat(d ? " x " : "", a.extent[d]);
  return shape + " " + type;
}

std::string named_or_kind(const std::string& name, memory_kind kind) {
  return name.empty() ? concat("the unnamed ", kind_name(kind), " array") : quoted_name(name);
}

std::string block_text(const std::string& name, memory_kind kind, std::size_t bytes, int device) {
  if (!name.empty()) return quoted_name(name);
  return concat(named_or_kind(name, kind), " of ", bytes_text(bytes), " on device ", device);
}

// For an array that is not in the list: only that it was freed.
const char* words_of(const freed_array& f) {
  if (!f.node) return " was freed";
  switch (f.how) {
    case freed_by::free: return " was freed by free()";
    case freed_by::give_back: return " was borrowed memory, and give_back() ended the borrow";
    case freed_by::end_of_borrow: return " was borrowed memory, and the borrow ended with the object that stood for it";
  }
  return "";
}

}  // namespace

std::string array_text(const array_look& a) {
  std::string name(a.name);
  if (name.empty() && a.owner && *a.owner && !a.owner->is_freed()) name = a.owner->unchecked()->name.get();
  const bool has_kind = a.owner || !name.empty();
  return (has_kind ? named_or_kind(name, a.kind) : "the unnamed sharded array") + " of " + elements_text(a);
}

std::string array_text(const allocation& a) { return block_text(a.name.get(), a.kind, a.bytes, a.device); }

std::string use_text(const access& a) { return array_text(*a.what) + in_line(a.at); }

void remember_freed(const allocation& a, std::uint32_t generation, freed_by how) noexcept {
  try {
    freed_arrays& f = freed();  // the first call allocates it
    lock_guard lock(f.mutex);
    freed_array one{&a, generation, a.kind, a.device, a.bytes, how, a.name.get()};
    if (f.all.size() < freed_arrays::most)
      f.all.push_back(std::move(one));
    else
      f.all[f.next] = std::move(one);
    f.next = (f.next + 1) % freed_arrays::most;
  } catch (const std::bad_alloc&) {
  }
}

void throw_freed(const allocation* node, std::uint32_t generation, const array_look* as, source_line at) {
  const freed_array was = find_freed(node, generation);
  const std::string text = as         ? named_or_kind(was.name, as->kind) + " of " + elements_text(*as)
                           : was.node ? block_text(was.name, was.kind, was.bytes, was.device)
                                      : "an array";
  const bool is_borrow = was.how != freed_by::free;
  throw use_after_free(text + words_of(was) + "; it or a view of it is used again" + in_line(at) +
                       (is_borrow ? ": end the borrow later" : ": free it later, or let its destructor do it"));
}

}  // namespace ferry::inline FERRY_ABI::detail
