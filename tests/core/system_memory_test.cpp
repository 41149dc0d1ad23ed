// Memory available to a process: the limits of its control groups, in file trees as on Linux.
#include "accounting/system_memory.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace fr = ferry;
namespace fs = std::filesystem;

namespace system_memory {
namespace {

std::size_t limit_of(const std::vector<std::pair<std::string, std::string>>& files) {
  const fs::path root = fs::temp_directory_path() / ("ferry_control_groups_" + std::to_string(::getpid()));
  for (const auto& [name, text] : files) {
    const fs::path file = root.string() + name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  const std::size_t limit = fr::detail::control_group_limit(root.string());
  fs::remove_all(root);
  return limit;
}

const std::string groups = "/sys/fs/cgroup", own = "/proc/self/cgroup";

}  // namespace
}  // namespace system_memory

BOOST_AUTO_TEST_SUITE(system_memory)

BOOST_AUTO_TEST_CASE(version_2_reads_the_own_group_and_those_above) {
  BOOST_TEST(limit_of({{own, "0::/user.slice/job.scope"}, {groups + "/user.slice/job.scope/memory.max", "1000"}}) ==
             1000u);
  BOOST_TEST(limit_of({{own, "0::/user.slice/job.scope"},
                       {groups + "/user.slice/job.scope/memory.max", "max"},
                       {groups + "/user.slice/memory.max", "3000"}}) == 3000u);
  BOOST_TEST(limit_of({{own, "0::/user.slice/job.scope"},
                       {groups + "/user.slice/job.scope/memory.max", "2000"},
                       {groups + "/user.slice/other.scope/memory.max", "5"},
                       {groups + "/user.slice/memory.max", "1500"}}) == 1500u);
  BOOST_TEST(limit_of({{own, "0::/"}, {groups + "/memory.max", "700"}}) == 700u);
  // The host's path, inside a container.
  BOOST_TEST(limit_of({{own, "0::/kubepods/pod1/box"}, {groups + "/memory.max", "800"}}) == 800u);
}

BOOST_AUTO_TEST_CASE(version_1_and_both) {
  BOOST_TEST(limit_of({{own, "9:name=systemd:/a\n8:cpu,memory:/slurm/job_1\n7:memory2:/b"},
                       {groups + "/memory/slurm/job_1/memory.limit_in_bytes", "4096"},
                       {groups + "/memory/b/memory.limit_in_bytes", "1"},
                       {groups + "/memory/memory.limit_in_bytes", "9223372036854771712"}}) == 4096u);
  BOOST_TEST(limit_of({{own, "4:memory:/box\n0::/job"},
                       {groups + "/memory/box/memory.limit_in_bytes", "6000"},
                       {groups + "/unified/job/memory.max", "5000"}}) == 5000u);
}

BOOST_AUTO_TEST_CASE(no_limit) {
  BOOST_TEST(limit_of({}) == SIZE_MAX);
  BOOST_TEST(limit_of({{own, "nonsense\n0::/a"}, {groups + "/a/memory.max", "max"}}) == SIZE_MAX);
}

BOOST_AUTO_TEST_SUITE_END()
