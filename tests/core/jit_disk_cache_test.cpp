// Compiled kernels on disk: what is trusted, what is removed, and what several threads and processes see.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <jit/disk_cache.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "jit_fixture.hpp"

namespace jit_disk_cache {
namespace {

namespace fs = std::filesystem;
using ferry::detail::jit::disk_cache;
using jit_test::temporary_folder;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}
void write_file(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}
std::size_t files_in(const fs::path& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++n;
  return n;
}
// Dates a file back by this many seconds.
void age(const fs::path& file, int seconds) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}
constexpr std::size_t plenty = 1 << 20;

// Stores and finds a few keys many times. Returns the number of results that are not what was stored.
int mix_stores_and_finds(const fs::path& folder, int seed) {
  const disk_cache cache(folder, 6000);  // less than all keys need: files are removed meanwhile
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "key " + std::to_string((i * 7 + seed) % 10), code = key + std::string(1000, 'c');
    const auto found = cache.find(key);
    if (found && *found != code) ++wrong;
    if (!found) cache.store(key, code);
  }
  return wrong;
}

}  // namespace
}  // namespace jit_disk_cache

BOOST_AUTO_TEST_SUITE(jit_disk_cache)

BOOST_AUTO_TEST_CASE(code_comes_back_for_its_key) {
  const temporary_folder folder;
  const disk_cache cache(folder.path / "new", plenty);
  BOOST_TEST(!cache.find("key"));
  BOOST_TEST(cache.store("key", std::string("co\0de", 5)));
  BOOST_TEST(cache.store("other key", "other code"));
  BOOST_TEST(cache.find("key").value_or("") == std::string("co\0de", 5));
  BOOST_TEST(disk_cache(folder.path / "new", plenty).find("other key").value_or("") == "other code");
  BOOST_TEST(!cache.find("third key"));
  BOOST_TEST(cache.store("key", "newer code"));
  BOOST_TEST(cache.find("key").value_or("") == "newer code");
  BOOST_TEST(files_in(folder.path / "new") == 2u);
  struct stat about {};
  BOOST_REQUIRE(::stat((folder.path / "new").c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0700u);
  BOOST_REQUIRE(::stat((folder.path / "new" / disk_cache::file_name("key")).c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0600u);
}

BOOST_AUTO_TEST_CASE(without_a_folder_nothing_is_cached) {
  const disk_cache none("", plenty);
  BOOST_TEST((!none.is_on() && !none.store("key", "code") && !none.find("key")));
}

BOOST_AUTO_TEST_CASE(each_damage_is_found) {
  const temporary_folder folder;
  const disk_cache cache(folder.path, plenty);
  const fs::path file = folder.path / disk_cache::file_name("key");
  const std::string code(100, 'c');
  BOOST_REQUIRE(cache.store("key", code));
  const std::string whole = content_of(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {  // truncated anywhere
    write_file(file, whole.substr(0, length));
    BOOST_TEST(!cache.find("key"), "truncated to " << length);
    BOOST_TEST(!fs::exists(file));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {  // a changed byte anywhere
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file(file, changed);
    BOOST_TEST(!cache.find("key"), "changed at " << at);
  }
  write_file(file, whole + "more");
  BOOST_TEST(!cache.find("key"));
  write_file(file, whole);
  BOOST_TEST(cache.find("key").value_or("") == code);
}

// As if two keys had one hash.
BOOST_AUTO_TEST_CASE(a_file_of_another_key_is_left_alone) {
  const temporary_folder folder;
  const disk_cache cache(folder.path, plenty);
  BOOST_REQUIRE(cache.store("key", "code"));
  const fs::path other = folder.path / disk_cache::file_name("other key");
  fs::copy_file(folder.path / disk_cache::file_name("key"), other);
  BOOST_TEST(!cache.find("other key"));
  BOOST_TEST(fs::exists(other));
  BOOST_TEST(cache.find("key").value_or("") == "code");
}

BOOST_AUTO_TEST_CASE(what_others_can_write_is_not_trusted) {
  const temporary_folder folder;
  const fs::path place = folder.path / "cache";
  const disk_cache cache(place, plenty);
  BOOST_REQUIRE(cache.store("key", "code"));
  const fs::path file = place / disk_cache::file_name("key");
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(file, others, fs::perm_options::add);
    BOOST_TEST(!cache.find("key"));
    fs::permissions(file, others, fs::perm_options::remove);
    fs::permissions(place, others, fs::perm_options::add);
    BOOST_TEST(!cache.find("key"));
    BOOST_TEST(!cache.store("new key", "code"));
    fs::permissions(place, others, fs::perm_options::remove);
  }
  BOOST_TEST(cache.find("key").value_or("") == "code");
  if (::geteuid() == 0) {  // the files of another user
    BOOST_REQUIRE(::chown(file.c_str(), 12345, static_cast<gid_t>(-1)) == 0);
    BOOST_TEST(!cache.find("key"));
    BOOST_REQUIRE(::chown(file.c_str(), 0, static_cast<gid_t>(-1)) == 0);
    BOOST_REQUIRE(::chown(place.c_str(), 12345, static_cast<gid_t>(-1)) == 0);
    BOOST_TEST((!cache.find("key") && !cache.store("key", "code")));
    BOOST_REQUIRE(::chown(place.c_str(), 0, static_cast<gid_t>(-1)) == 0);
  }
  fs::rename(file, folder.path / "elsewhere");
  fs::create_symlink(folder.path / "elsewhere", file);
  BOOST_TEST(!cache.find("key"));
  fs::remove(file);
  BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  BOOST_TEST(!cache.find("key"));  // does not wait for a writer
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made) {
  const temporary_folder folder;
  write_file(folder.path / "file", "no folder");
  const disk_cache cache(folder.path / "file" / "cache", plenty);
  BOOST_TEST((!cache.store("key", "code") && !cache.find("key")));
  const disk_cache file(folder.path / "file", plenty);
  BOOST_TEST((!file.store("key", "code") && !file.find("key")));
}

// /dev/full fails every write, as a full disk does. A limit on the size of files does the same for regular ones.
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_nothing_behind) {
  const temporary_folder folder;
  const disk_cache cache(folder.path, plenty);
  BOOST_REQUIRE(cache.store("small", "code"));
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    jit_test::limit_file_size(200);
    const bool stored = cache.store("large", std::string(1000, 'c'));
    ::_exit(stored ? 1 : cache.find("small") ? 0 : 2);
  }
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), "status " << status);
  BOOST_TEST(files_in(folder.path) == 1u);
  BOOST_TEST(!cache.find("large"));
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_go_first) {
  const temporary_folder folder;
  const std::string code(1000, 'c');
  const disk_cache cache(folder.path, 3500);
  const auto file = [&](const char* key) { return folder.path / disk_cache::file_name(key); };
  BOOST_REQUIRE((cache.store("a", code) && cache.store("b", code) && cache.store("c", code)));
  age(file("a"), 300), age(file("b"), 200), age(file("c"), 100);
  BOOST_TEST(cache.find("a").has_value());  // used now
  BOOST_REQUIRE(cache.store("d", code));
  BOOST_TEST((cache.find("a") && !cache.find("b") && cache.find("c") && cache.find("d")));
  BOOST_TEST(!cache.store("larger than the limit", std::string(4000, 'c')));
  BOOST_TEST(files_in(folder.path) == 3u);
}

BOOST_AUTO_TEST_CASE(temporary_files_of_killed_processes) {
  const temporary_folder folder;
  const disk_cache cache(folder.path, plenty);
  const fs::path old = folder.path / (disk_cache::file_name("key") + ".tmp.1.1"),
                 recent = folder.path / (disk_cache::file_name("key") + ".tmp.1.2"),
                 foreign = folder.path / "notes.txt";
  for (const fs::path& f : {old, recent, foreign}) write_file(f, "half");
  age(old, 2 * 3600), age(foreign, 2 * 3600);
  BOOST_REQUIRE(cache.store("key", "code"));
  BOOST_TEST((!fs::exists(old) && fs::exists(recent) && fs::exists(foreign)));
}

BOOST_AUTO_TEST_CASE(threads_and_processes_share_a_folder) {
  const temporary_folder folder;
  std::vector<pid_t> children;
  for (int p = 0; p < 2; ++p) {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) ::_exit(mix_stores_and_finds(folder.path, p));
    children.push_back(child);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { wrong += mix_stores_and_finds(folder.path, 3 * t); });
  for (std::thread& t : threads) t.join();
  for (const pid_t child : children) {
    int status = -1;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), "status " << status);
  }
  BOOST_TEST(wrong == 0);
  std::size_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    BOOST_TEST(entry.path().extension() == ".kernel");
    bytes += entry.file_size();
  }
  BOOST_TEST((bytes > 0 && bytes <= 6000 + 6 * 1100));  // each of six may have added one after the last removal
}

BOOST_AUTO_TEST_SUITE_END()
