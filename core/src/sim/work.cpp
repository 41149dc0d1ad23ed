#include "work.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "ferry/core/error.hpp"

namespace ferry::sim {
namespace {

[[noreturn]] void fault(const work& w, int device, const std::string& why) {
  std::string text(w.verb);
  if (!w.name.empty()) text += " '" + std::string(w.name) + "'";
  throw device_fault(device, text + ": " + why);
}

void check_alive(const work& w, int device, const address_space& memory) {
  if (const std::string why = memory.lifeless(w.uses); !why.empty()) fault(w, device, why);
}

// Before the bytes are used.
void begin_on(const work& w, int device, address_space& memory) {
  check_alive(w, device, memory);
  if (w.how == reach::mapped) memory.touch(device, w.uses);
}

void run_on(const work& w, int device, const relocation& where) {
  try {
    w.run(where);
  } catch (const std::exception& e) {
    fault(w, device, plain_what(e));
  } catch (...) {
    fault(w, device, "threw what is no std::exception");
  }
}

// Copies of what a kernel uses.
class scratch {
 public:
  explicit scratch(const std::vector<kernel_use>& uses) : uses_(uses) {
    std::erase_if(uses_, [](const kernel_use& u) { return u.bytes == 0; });
    std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) { return std::less<>{}(a.begin, b.begin); });
    for (const kernel_use& u : uses_) {
      if (pieces_.empty() || u.begin >= pieces_.back().begin + pieces_.back().bytes)
        pieces_.push_back({u.begin, u.bytes, nullptr});
      else
        pieces_.back().bytes =
            std::max(pieces_.back().bytes, static_cast<std::size_t>(u.begin - pieces_.back().begin) + u.bytes);
    }
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  void load() {
    for (auto& p : pieces_) {
      const std::size_t shift = reinterpret_cast<std::uintptr_t>(p.begin) % alignment;  // vector loads need it
      buffers_.emplace_back(static_cast<std::byte*>(::operator new (p.bytes + shift, std::align_val_t{alignment})));
      p.now = buffers_.back().get() + shift;
      std::memset(p.now, 0xFF, p.bytes);  // NaN: who promised to write all and did not, shows
    }
    const relocation where = relocated();
    for (const kernel_use& u : uses_)
      if (u.reads) std::memcpy(const_cast<std::byte*>(where(u.begin)), u.begin, u.bytes);
  }

  void store() {
    const relocation where = relocated();
    for (const kernel_use& u : uses_)
      if (u.writes) std::memcpy(const_cast<std::byte*>(u.begin), where(u.begin), u.bytes);
    buffers_.clear();
  }

  relocation relocated() const { return relocation(pieces_); }

 private:
  static constexpr std::size_t alignment = 256;
  struct unaligned {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{alignment}); }
  };
  std::vector<kernel_use> uses_;
  std::vector<relocation::piece> pieces_;
  std::vector<std::unique_ptr<std::byte, unaligned>> buffers_;
};

}  // namespace

std::shared_ptr<const footprint> footprint_of(const work& w, const address_space& memory) {
  footprint f{std::string(w.verb), std::string(w.name), w.uses};
  f.uses.insert(f.uses.end(), w.changes.begin(), w.changes.end());
  std::erase_if(f.uses, [&](const kernel_use& u) { return memory.at(u.begin).state == address_state::pageable; });
  return f.uses.empty() ? nullptr : std::make_shared<const footprint>(std::move(f));
}

void run_whole(const work& w, int device, address_space& memory) {
  if (const std::string why = memory.forbids(device, w.uses, w.how); !why.empty()) fault(w, device, why);
  begin_on(w, device, memory);
  run_on(w, device, relocation{});
}

std::vector<operation> to_operations(std::shared_ptr<const work> w, int device, address_space& memory) {
  std::vector<operation> result;
  if (const std::string why = memory.forbids(device, w->uses, w->how); !why.empty()) {
    result.push_back({w->verb, w->name, [w, device, why] { fault(*w, device, why); }});
  } else if (!w->is_kernel) {
    result.push_back({w->verb, w->name, [w, device, &memory] {
                        begin_on(*w, device, memory);
                        run_on(*w, device, relocation{});
                      }});
  } else {
    auto copies = std::make_shared<scratch>(w->uses);
    result.push_back({w->verb, w->name, [w, device, &memory, copies] {
                        begin_on(*w, device, memory);
                        copies->load();
                        run_on(*w, device, copies->relocated());
                      }});
    result.push_back({"stores of kernel", w->name, [w, device, &memory, copies] {
                        check_alive(*w, device, memory);
                        copies->store();
                      }});
  }
  result.back().fires = w->done;
  return result;
}

}  // namespace ferry::sim
