#if defined(FERRY_HAS_MPI)
#include "mpi_processes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/multigpu/process_error.hpp"
#include "pieces.hpp"
#include "support/team_settings.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {
namespace {

// How long to wait for a process that has ended: its earlier messages may still be in transfer.
constexpr std::chrono::seconds last_words{2};

int to_int(std::size_t n) { return static_cast<int>(n); }

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

}  // namespace

mpi_processes::mpi_processes() : patience_(patience_of_environment()) {
  int flag = 0;
  MPI_Initialized(&flag);
  if (!flag) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    is_ours_ = true;
  }
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  allows_threads_ = level == MPI_THREAD_MULTIPLE;
  // Separate communicators: ferry's messages do not mix with those of the program.
  check(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &notes_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(notes_, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(data_, &rank);
  MPI_Comm_size(data_, &size);
  rank_ = static_cast<std::size_t>(rank), size_ = static_cast<std::size_t>(size);
  left_.resize(size_);
  neighbours_ = find_neighbours();
}

// Returns the name of this machine: FERRY_HOST or, as MPI sees it, the first process on it.
std::string mpi_processes::own_machine() {
  MPI_Comm here = MPI_COMM_NULL;
  int first = to_int(rank_);
  check(MPI_Comm_split_type(data_, MPI_COMM_TYPE_SHARED, first, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
  check(MPI_Bcast(&first, 1, MPI_INT, 0, here), "MPI_Bcast");
  MPI_Comm_free(&here);
  return environment("FERRY_HOST").value_or(concat("that of process ", first));
}

// Returns the processes of this machine, whose ranks need not be consecutive.
std::vector<std::size_t> mpi_processes::find_neighbours() {
  constexpr std::size_t most = 256;
  std::string mine = own_machine();
  mine.resize(most);
  std::string all(most * size_, '\0');
  check(MPI_Allgather(mine.data(), most, MPI_BYTE, all.data(), most, MPI_BYTE, data_), "MPI_Allgather");
  std::vector<std::string> machines;
  for (std::size_t p = 0; p < size_; ++p) machines.push_back(all.substr(p * most, most));
  return processes_beside(rank_, machines);
}

void mpi_processes::check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  throw process_error(concat("MPI: ", what, " failed in process ", rank_, ": ", error_text(code)));
}

void mpi_processes::listen() {
  for (;;) {
    int there = 0;
    MPI_Status from;
    if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, notes_, &there, &from) != MPI_SUCCESS || !there) return;
    note n{};
    MPI_Recv(&n, sizeof n, MPI_BYTE, from.MPI_SOURCE, from.MPI_TAG, notes_, MPI_STATUS_IGNORE);
    if (from.MPI_TAG == static_cast<int>(news::failed)) {
      if (trouble_.empty()) trouble_ = concat("process ", from.MPI_SOURCE, " failed: ", n.text);
    } else {
      left_[static_cast<std::size_t>(from.MPI_SOURCE)] = leaving{clock::now(), n.given};
    }
  }
}

void mpi_processes::tell_all(news what, const std::string& text) noexcept {
  try {
    for (std::size_t p = 0; p < size_; ++p) {
      if (p == rank_) continue;
      note& n = sent_.emplace_back();
      n.given = parts().given(p);
      std::strncpy(n.text, text.c_str(), sizeof n.text - 1);
      MPI_Request request;
      if (MPI_Isend(&n, sizeof n, MPI_BYTE, to_int(p), static_cast<int>(what), notes_, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  } catch (...) {
  }
}

std::string mpi_processes::missing(const std::vector<piece>& pending) {
  std::vector<std::size_t> who;
  for (const piece& p : pending)
    if (p.request != MPI_REQUEST_NULL) who.push_back(p.process);
  std::sort(who.begin(), who.end());
  who.erase(std::unique(who.begin(), who.end()), who.end());
  return name_processes(who);
}

std::vector<processes::departure> mpi_processes::departed() {
  std::lock_guard lock(mutex_);
  listen();
  std::vector<departure> gone;
  for (std::size_t p = 0; p < size_; ++p)
    if (left_[p] && p != rank_) gone.push_back({p, left_[p]->given});
  return gone;
}

// True if a message, awaited since `since`, is from or to a process that ended, and nothing of it can be in transfer.
bool mpi_processes::is_gone(const piece& p, clock::time_point since) const {
  const std::optional<leaving>& left = left_[p.process];
  return p.request != MPI_REQUEST_NULL && left && clock::now() - std::max(left->heard, since) > last_words;
}

// Throws process_error if further waiting is useless.
void mpi_processes::check_well(std::string_view what, const std::vector<piece>& pending, clock::time_point since) {
  listen();
  if (!trouble_.empty()) throw process_error(concat(trouble_, ". Process ", rank_, " was in ", what));
  const auto now = clock::now();
  const std::string in = concat(" in ", what, " for ", missing(pending));
  if (std::any_of(pending.begin(), pending.end(), [&](const piece& p) { return is_gone(p, since); }))
    fail(concat("process ", rank_, " waited", in, ", which ended without taking part"));
  else if (patience_ != clock::duration{} && now - since > patience_)
    fail(concat("process ", rank_, " waited ", std::chrono::duration_cast<std::chrono::seconds>(now - since).count(),
                " s", in, ", which did not take part (FERRY_COLLECTIVE_TIMEOUT sets the limit)"));
  if (!trouble_.empty()) throw process_error(trouble_);
}

// No message may access the memory after its release. Receives can be cancelled, and then complete at once unless a
// message has partly arrived. Sends cannot be cancelled: they continue for at most `longest`, as a receiver may still
// take them.
void mpi_processes::fail(std::vector<piece>& pending) noexcept {
  constexpr std::chrono::seconds longest{1};
  for (piece& p : pending)
    if (p.request != MPI_REQUEST_NULL && !p.sends) MPI_Cancel(&p.request);
  const auto since = clock::now();
  for (piece& p : pending) {
    for (int over = 0; p.request != MPI_REQUEST_NULL && !over && clock::now() - since < longest;
         std::this_thread::yield())
      if (MPI_Test(&p.request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    if (p.request != MPI_REQUEST_NULL) MPI_Request_free(&p.request);
  }
}

void mpi_processes::exchange(std::span<const outgoing> out, std::span<const incoming> in, std::string_view what) {
  std::lock_guard lock(mutex_);
  std::vector<piece> pending;
  check_well(what, pending, clock::now());
  try {
    for (const incoming& m : in)
      each_piece(m.data, m.bytes, [&](std::byte* p, int n) {
        pending.push_back({m.process, MPI_REQUEST_NULL});
        check(MPI_Irecv(p, n, MPI_BYTE, to_int(m.process), m.tag, data_, &pending.back().request), "MPI_Irecv");
      });
    for (const outgoing& m : out)
      each_piece(m.data, m.bytes, [&](const std::byte* p, int n) {
        pending.push_back({m.process, MPI_REQUEST_NULL, true});
        check(MPI_Isend(p, n, MPI_BYTE, to_int(m.process), m.tag, data_, &pending.back().request), "MPI_Isend");
      });
    const auto since = clock::now();
    for (std::size_t round = 1;; ++round) {
      bool all = true;
      for (piece& p : pending) {
        if (p.request == MPI_REQUEST_NULL) continue;
        int done = 0;
        check(MPI_Test(&p.request, &done, MPI_STATUS_IGNORE), "a message");
        all = all && done;
      }
      if (all) return;
      if (round % 64 == 0) check_well(what, pending, since);
      if (round > 4096)
        std::this_thread::sleep_for(std::chrono::microseconds(20));  // late processes may need this core
      else if (round > 256)
        std::this_thread::yield();
    }
  } catch (const process_error& e) {
    fail(plain_what(e));
    fail(pending);
    throw;
  }
}

void mpi_processes::fail(const std::string& why) noexcept {
  std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return;
  try {
    trouble_ = why;
  } catch (...) {
  }
  tell_all(news::failed, why);
}

void mpi_processes::end_all(const std::string& why) noexcept {
  std::fprintf(stderr, "ferry: process %zu ends all: %s\n", rank_, why.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

std::string mpi_processes::trouble() {
  std::lock_guard lock(mutex_);
  listen();
  return trouble_;
}

void mpi_processes::leave() noexcept {
  int over = 0;
  MPI_Finalized(&over);
  if (over) return;
  constexpr std::chrono::seconds grace{3};  // for messages of the other processes
  std::lock_guard lock(mutex_);
  tell_all(news::left, "");
  left_[rank_].emplace();
  auto since = clock::now();
  bool failed = false;
  while (std::any_of(left_.begin(), left_.end(), [](const auto& l) { return !l; })) {
    listen();
    if (!failed && !trouble_.empty()) failed = true, since = clock::now();
    if (failed && clock::now() - since > grace) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!trouble_.empty()) end_all(trouble_);
  if (is_ours_) MPI_Finalize();
}

}  // namespace ferry::inline FERRY_ABI::detail::mpi

namespace ferry::inline FERRY_ABI::detail {
namespace {

mpi::mpi_processes* mpi_world = nullptr;

}  // namespace

processes* processes::world() {
  static const bool made = [] {
    int started = 0;
    MPI_Initialized(&started);
    if (!started && !started_by_a_launcher()) return false;
    mpi_world = new mpi::mpi_processes;  // never destroyed: programs may communicate until they end
    std::atexit([] { mpi_world->leave(); });
    return true;
  }();
  return made ? mpi_world : nullptr;
}

}  // namespace ferry::inline FERRY_ABI::detail
#endif
