// Finds how each unified array of a program is treated best: runs a step of it under candidate policies and takes the time.
#pragma once
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "ferry/unified/policy_file.hpp"

namespace ferry {

struct tune_options {
  // Steps of each trial: first some that do not count, then those whose median does.
  int warm_up = 1, repeats = 5;
  // A policy must be faster than what it replaces by more than the spread of either, and by this part of its time.
  double least_gain = 0.01;
  // What is tried for each array; empty: tuner::usual_candidates().
  std::vector<array_policy> candidates = {};
  // Milliseconds since whenever, asked when all devices are idle; empty: a steady clock. Others measure other costs.
  std::function<double()> clock = {};
  // Called before each trial: sets back what the step changes and the tuner does not know.
  std::function<void()> before = {};
  // Null: a progress bar on stderr, if that is a terminal.
  std::ostream* progress = nullptr;
};

// The steps of one trial: all arrays as found best so far, but for one.
struct tune_trial {
  std::string array;  // empty: all arrays have the policy
  array_policy policy;
  std::vector<double> milliseconds;  // of each step
  double median = 0, spread = 0;     // spread: between the quartiles
  std::string rejected;              // why it does not count, if it does not
  bool chosen = false;
};

struct tune_result {
  array_policies best;  // without the arrays for which automatic is best
  std::vector<tune_trial> trials;
  double automatic_milliseconds = 0, best_milliseconds = 0;  // of a step, at the end; or of automatic's own trial
  std::string table() const;
  // One picture that needs no other file.
  std::string svg() const;
  void save_svg(const std::string& path) const;
};
std::ostream& operator<<(std::ostream& out, const tune_result& r);

namespace detail {
// An array as the tuner sees it, whatever its elements are.
struct tuned_array {
  std::string name;
  std::type_index type;
  allocation_ref owner;
  byte_range bytes;
  void* object;
  const std::byte* (*now)(const void* object);  // where the elements of the object are
  void (*exchange)(void* object, void* other);  // of one type
  std::function<void()> reset;                  // makes the object this array again, whatever it is now
};
}  // namespace detail

class tuner {
 public:
  explicit tuner(tune_options how = {});

  // An array that the step uses, which must outlive the tuner and keep its size. Throws invalid_argument if it has no
  // name, no elements, or a name that another one has.
  template <class T, std::size_t Rank>
  tuner& add(unified_array<T, Rank>& a) {
    using array = unified_array<T, Rank>;
    using view = array_view<T, Rank, memory_kind::unified>;
    add({a.name(), typeid(array), a.owner(), a.bytes(), &a,
         [](const void* o) {
           return reinterpret_cast<const std::byte*>(static_cast<const array*>(o)->unsynchronized_data());
         },
         [](void* o, void* other) { static_cast<array*>(o)->swap(*static_cast<array*>(other)); },
         [&a, as_it_was = view(a)] { static_cast<view&>(a) = as_it_was; }});
    return *this;
  }
  // What is tried for one array instead. Throws invalid_argument for a name that no array of the tuner has.
  tuner& candidates(const std::string& array, std::vector<array_policy> policies);
  static std::vector<array_policy> usual_candidates();

  // Runs the step, some hundred times for a few arrays, on this thread. The step must do the same each time that the
  // arrays (and what options.before sets back) hold the same; it may exchange arrays of the tuner with each other.
  // Blocks: each step is timed until all devices are idle. The arrays are then as they were before, with their contents,
  // pages, and policies; see use_policies() for having the result. Policies under which the arrays end with other bytes
  // than under `explicit` are rejected. Throws what the step throws; invalid_argument if there are no arrays, if the step
  // ends with other bytes each time, or replaces or resizes an array; not_supported where unified memory does not move.
  // In each case the arrays are as before, but for one that the step has freed. Needs CPU memory for a copy of all arrays.
  tune_result run(const std::function<void()>& step);

 private:
  void add(detail::tuned_array a);
  tune_options how_;
  std::vector<detail::tuned_array> arrays_;
  std::map<std::string, std::vector<array_policy>> own_candidates_;
};

}  // namespace ferry
