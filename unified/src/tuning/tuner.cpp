#include "ferry/unified/tuner.hpp"

#include <algorithm>
#include <chrono>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"
#include "policies/program_name.hpp"
#include "tuning/tuned_arrays.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

using way = array_policy::way;

array_policy explicit_policy() {
  array_policy p;
  p.moves = way::explicitly;
  return p;
}

double steady_milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the quantile of sorted values, interpolated linearly between two of them.
double quantile(const std::vector<double>& sorted, double of) {
  const double at = of * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void summarize(tune_trial& t) {
  std::vector<double> sorted = t.milliseconds;
  std::sort(sorted.begin(), sorted.end());
  t.median = quantile(sorted, 0.5);
  t.spread = quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

// One search: the arrays, the best policy of each so far, and the time of a step with these policies.
class search {
 public:
  search(const tune_options& how, const std::vector<tuned_array>& arrays, detail::function_ref<void()> step,
         std::size_t trials)
      : how_(how),
        step_(step),
        arrays_(arrays),
        held_(arrays),
        trials_(trials),
        best_(arrays.size()) {}

  tune_result run(const std::function<const std::vector<array_policy>&(const std::string&)>& candidates) {
    const std::vector<array_policy> untouched(arrays_.size(), explicit_policy()), automatic(arrays_.size());
    const tune_trial by_hand = measure({}, explicit_policy(), untouched);
    reference_ = last_;
    need_repeatable(untouched);
    automatic_ = measure({}, array_policy{}, automatic);
    // If automatic itself changes the results, it is no candidate for any array.
    best_ = automatic_.rejected.empty() ? automatic : untouched;
    now_ = automatic_.rejected.empty() ? automatic_ : by_hand;
    const std::vector<array_policy> usual = best_;
    for (std::size_t i = 0; i < arrays_.size(); ++i) choose(i, candidates(arrays_[i].name));
    confirm(usual);
    held_.put_back();
    result_.best.program = program_identity::now().name;
    result_.best.version = program_identity::now().version;
    return std::move(result_);
  }

 private:
  // Policies can only be compared if two runs from the same start, under the same policies, have the same results.
  void need_repeatable(const std::vector<array_policy>& untouched) {
    held_.begin(untouched);
    steps(nullptr);
    const std::string what = held_.difference(reference_, last_);
    if (!what.empty())
      throw invalid_argument(
          "tuner: two runs of the step from the same start, with explicit migration, end with other "
          "results: " +
          what +
          ". What the step changes besides the arrays of the tuner must be set back in "
          "tune_options::before, and sums must not depend on the order of threads");
  }

  // Runs the steps of one trial, from the initial state of the arrays.
  void steps(tune_trial* into) {
    if (how_.before) how_.before();
    held_.wait();
    for (int i = 0; i < how_.warm_up; ++i) step_();
    held_.wait();
    for (int i = 0; i < how_.repeats; ++i) {
      const double start = how_.clock();
      step_();
      held_.wait();
      if (into) into->milliseconds.push_back(how_.clock() - start);
    }
    last_ = held_.result();
  }

  void report_progress(const std::string& array, const array_policy& p) {
    if (how_.progress) how_.progress({std::min(begun_, trials_), trials_, array, p, now_.median});
    ++begun_;
  }

  tune_trial& measure(const std::string& array, const array_policy& p, const std::vector<array_policy>& all) {
    report_progress(array, p);
    tune_trial t;
    t.array = array;
    t.policy = p;
    try {
      held_.begin(all);
    } catch (const device_error&) {
      throw;
    } catch (const error& e) {
      t.rejected = concat("is not available here: ", plain_what(e));
      return result_.trials.emplace_back(std::move(t));
    }
    steps(&t);
    summarize(t);
    if (!reference_.empty()) {
      t.rejected = held_.difference(reference_, last_);
      if (!t.rejected.empty()) t.rejected = "changes results: " + t.rejected;
    }
    return result_.trials.emplace_back(std::move(t));
  }

  bool beats(const tune_trial& t, const tune_trial& other) const {
    return t.rejected.empty() &&
           other.median - t.median > std::max({t.spread, other.spread, how_.least_gain * other.median});
  }

  // Tries the candidates of one array. The others have their best policies so far.
  void choose(std::size_t i, const std::vector<array_policy>& candidates) {
    const tune_trial before = now_;
    std::optional<std::size_t> winner;
    array_policy chosen = best_[i];
    for (const array_policy& p : candidates) {
      if (p == best_[i]) continue;
      std::vector<array_policy> all = best_;
      all[i] = p;
      const tune_trial& t = measure(arrays_[i].name, p, all);
      if (!beats(t, before) || t.median >= now_.median) continue;
      now_ = t, chosen = p, winner = result_.trials.size() - 1;
    }
    best_[i] = chosen;
    if (winner) result_.trials[*winner].chosen = true;
  }

  // Measures the initial and the best policies once more, one after the other. Drops a choice that won by chance, or
  // because other work slowed a trial.
  void confirm(const std::vector<array_policy>& usual) {
    tune_trial start, end;
    report_progress({}, array_policy{});
    held_.begin(usual);
    steps(&start);
    summarize(start);
    end = start;
    if (best_ != usual) {
      end.milliseconds.clear();
      held_.begin(best_);
      steps(&end);
      summarize(end);
      if (!held_.difference(reference_, last_).empty() || !beats(end, start)) {
        best_ = usual;
        end = start;
        for (tune_trial& t : result_.trials)
          if (std::exchange(t.chosen, false)) t.rejected = "did not hold when measured again";
      }
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (best_[i] != array_policy{}) result_.best.of[arrays_[i].name] = best_[i];
    const bool is_usual = automatic_.rejected.empty();
    result_.automatic_milliseconds = is_usual ? start.median : automatic_.median;
    result_.best_milliseconds = end.median;
    result_.best.notes = {"a step took " + short_text(end.median, 4) + " ms" +
                          (is_usual ? ", " + short_text(start.median, 4) + " ms without policies"
                                    : "; without policies it was rejected")};
  }

  const tune_options& how_;
  const detail::function_ref<void()> step_;
  const std::vector<tuned_array>& arrays_;
  tuned_arrays held_;
  const std::size_t trials_;
  std::size_t begun_ = 0;
  std::vector<array_policy> best_;
  tune_trial now_;        // with best_
  tune_trial automatic_;  // all arrays automatic
  tuned_arrays::prints reference_, last_;
  tune_result result_;
};

}  // namespace

tuner::tuner(tune_options how) : how_(std::move(how)) {
  if (how_.repeats < 1 || how_.warm_up < 0 || !(how_.least_gain >= 0))
    throw invalid_argument(
        "tuner: a trial needs at least one step that counts, and neither warm_up nor least_gain below 0");
  if (!how_.clock) how_.clock = steady_milliseconds;
  if (how_.candidates.empty()) how_.candidates = usual_candidates();
}

void tuner::add(detail::tuned_array a) {
  if (a.bytes.begin == a.bytes.end) throw invalid_argument("tuner: an array without elements has nothing to tune");
  if (a.name.empty())
    throw invalid_argument(
        "tuner: an array without a name cannot be found again by FERRY_TUNE: give it one, u.name(\"u\")");
  for (const tuned_array& b : arrays_)
    if (b.name == a.name)
      throw invalid_argument("tuner: array '" + a.name + "' was added before, or two arrays have that name");
  arrays_.push_back(std::move(a));
}

tuner& tuner::candidates(const std::string& array, std::vector<array_policy> policies) {
  const auto has_it = [&](const tuned_array& a) { return a.name == array; };
  if (std::none_of(arrays_.begin(), arrays_.end(), has_it)) {
    std::string names;
    for (const tuned_array& a : arrays_) names += (names.empty() ? "" : ", ") + a.name;
    throw invalid_argument("tuner: there is no array '" + array + "' to tune" +
                           (names.empty() ? ": none was added" : "; there are " + names));
  }
  own_candidates_[array] = std::move(policies);
  return *this;
}

std::vector<array_policy> tuner::usual_candidates() {
  const std::span<const device> devices = runtime::current().devices();
  array_policy everywhere;
  for (const device d : devices) everywhere.accessed_by.push_back({d.index()});
  std::vector<array_policy> all{explicit_policy()};
  const auto add = [&](array_policy p, auto change) {
    change(p);
    all.push_back(std::move(p));
  };
  add({}, [](array_policy& p) { p.moves = way::ahead; });
  add({}, [](array_policy& p) { p.read_mostly = true; });
  all.push_back(everywhere);
  add(everywhere, [](array_policy& p) { p.preferred = memory_location{}; });
  for (std::size_t d = 0; d < std::min<std::size_t>(devices.size(), 8); ++d)
    add({}, [d](array_policy& p) {
      p.preferred = memory_location{static_cast<int>(d)};
      p.accessed_by = {memory_location{}};
    });
  add({}, [](array_policy& p) { p.smallest_to_device = p.smallest_to_cpu = 0; });
  add({}, [](array_policy& p) { p.page = std::size_t{64} << 10; });
  add({}, [](array_policy& p) { p.piece = std::size_t{2} << 20; });
  add({}, [](array_policy& p) { p.piece = std::size_t{32} << 20; });
  return all;
}

tune_result tuner::run(detail::function_ref<void()> step) {
  refuse_inside_capture("run a tuner");
  if (arrays_.empty()) throw invalid_argument("tuner: no arrays: add() the unified arrays that the step uses");
  if (!runtime::current().migrates_unified())
    throw not_supported("tuner: unified memory stays where it is on this machine: no policy changes anything");
  const auto candidates = [&](const std::string& name) -> const std::vector<array_policy>& {
    const auto own = own_candidates_.find(name);
    return own == own_candidates_.end() ? how_.candidates : own->second;
  };
  std::size_t trials = 3;
  for (const tuned_array& a : arrays_) {
    if (a.owner.is_freed()) throw use_after_free("tuner: array '" + a.name + "' was freed after it was added");
    trials += candidates(a.name).size();
  }
  const migration_phase named("tuning");
  return search(how_, arrays_, step, trials).run(candidates);
}

}  // namespace ferry::inline FERRY_ABI
