/// @file
/// Finds the best policy of each unified array of a program: runs one step under candidate policies and measures the
/// time.
#pragma once
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/unified/policy_file.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// The progress of a tuner, when a trial begins.
struct tune_progress {
  std::size_t trial = 0, trials = 0;  ///< trials before this one, and the expected number of all
  std::string array;                  ///< empty: all arrays have the policy
  array_policy policy;
  double best_milliseconds = 0;  ///< of a step so far; 0 before the first result
};

/// Options of a tuner.
struct tune_options {
  /// Number of steps in each trial: first those that do not count, then those whose median counts.
  int warm_up = 1, repeats = 5;
  /// A policy replaces another one only if it is faster by more than the spread of either, and by this fraction of the
  /// time.
  double least_gain = 0.01;
  /// Candidates for each array. Empty: tuner::usual_candidates().
  std::vector<array_policy> candidates = {};
  /// Returns a time in milliseconds from any origin, and is called while all devices are idle. Empty: a steady clock. A
  /// program can supply another measure of cost.
  std::function<double()> clock = {};
  /// Called before each trial. Resets what the step changes besides the arrays of the tuner.
  std::function<void()> before = {};
  /// Called when a trial begins. Empty: the progress is not reported.
  std::function<void(const tune_progress&)> progress = {};
};

/// One trial: all arrays have the best policies found before, except one.
struct tune_trial {
  std::string array;  ///< empty: all arrays have the policy
  array_policy policy;
  std::vector<double> milliseconds;  ///< of each step
  double median = 0, spread = 0;     ///< spread: the interquartile range
  std::string rejected;              ///< why the trial does not count; empty if it counts
  bool chosen = false;
};

/// The result of a tuner.
struct tune_result {
  array_policies best;  ///< without the arrays for which automatic is best
  std::vector<tune_trial> trials;
  /// of a step, measured at the end, or in the trial of automatic
  double automatic_milliseconds = 0, best_milliseconds = 0;
  /// Returns the trials as a table for people.
  std::string table() const;
  /// Returns the result as one JSON object, without the notes of the policies. Values of a clock that are not finite
  /// are null.
  std::string json() const;
  /// Writes json() to a file, for tools/tuning_picture.py, which draws the trials.
  /// @param path its path
  /// @throws invalid_argument if the file cannot be written
  void save_json(const std::string& path) const;
};
/// Writes the table.
std::ostream& operator<<(std::ostream& out, const tune_result& r);

namespace detail {
// An array of the tuner, without its element type.
struct tuned_array {
  std::string name;
  std::type_index type;
  allocation_ref owner;
  byte_range bytes;
  void* object;
  const std::byte* (*now)(const void* object);  // address of the object's elements
  void (*exchange)(void* object, void* other);  // swaps two objects of one type
  std::function<void()> reset;                  // makes the object refer to this array again
};
}  // namespace detail

/// Searches the best policies of the arrays that one step of a program uses.
class tuner {
 public:
  /// Makes a tuner without arrays.
  /// @throws invalid_argument for fewer than one repeat, or a negative warm_up or least_gain
  explicit tuner(tune_options how = {});

  /// Adds an array that the step uses. It must outlive the tuner, and its size must not change.
  /// @param a the array
  /// @return this tuner
  /// @throws invalid_argument if the array has no name, no elements, or the name of another array
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
  /// Sets the candidates of one array.
  /// @param array the name of the array
  /// @param policies the candidates
  /// @return this tuner
  /// @throws invalid_argument if the tuner has no array of this name
  tuner& candidates(const std::string& array, std::vector<array_policy> policies);
  /// Returns the candidates that are tried by default.
  static std::vector<array_policy> usual_candidates();

  /// Runs the step on this thread, some hundred times for a few arrays. The step must do the same each time that the
  /// arrays, and what options.before resets, hold the same. It may swap arrays of the tuner with each other. Blocks:
  /// each step is timed until all devices are idle. Afterwards the arrays have their previous contents, pages and
  /// policies; use_policies() applies the result. This also holds after an exception, except for an array that the step
  /// has freed. Policies that change the resulting bytes, compared with `explicit`, are rejected. Rethrows exceptions
  /// of the step and of the options' functions.
  /// @param step the step
  /// @return the best policies and all trials
  /// @throws invalid_argument if there are no arrays, if the results of the step vary, or if it replaces or resizes an
  ///   array
  /// @throws not_supported if unified memory does not move
  /// @note Needs memory of the CPU for a copy of all arrays.
  tune_result run(detail::function_ref<void()> step);

 private:
  void add(detail::tuned_array a);
  tune_options how_;
  std::vector<detail::tuned_array> arrays_;
  std::map<std::string, std::vector<array_policy>> own_candidates_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
