// Limits of CPU time that control groups set.
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "ferry/core/detail/support/cpu_quota.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"

namespace cpu_quotas {
namespace {

using ferry::detail::cpu_quota;

// A folder that stands for /, with the control group of the process.
class made_up_root {
 public:
  explicit made_up_root(const std::string& groups)
      : folder_(std::filesystem::temp_directory_path() / ("ferry_cpu_quota_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    write("proc/self/cgroup", groups);
  }
  ~made_up_root() { std::filesystem::remove_all(folder_); }
  made_up_root& write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
    return *this;
  }
  std::size_t quota() const { return cpu_quota(folder_.string()); }

 private:
  std::filesystem::path folder_;
};

}  // namespace
}  // namespace cpu_quotas

using namespace cpu_quotas;

BOOST_AUTO_TEST_SUITE(cpu_quotas)

BOOST_AUTO_TEST_CASE(version_2_takes_the_smallest_limit_of_the_groups_around) {
  made_up_root root("0::/job/step\n");
  BOOST_TEST(root.quota() == 0u);
  root.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  BOOST_TEST(root.quota() == 0u);
  root.write("sys/fs/cgroup/job/step/cpu.max", "800000 100000\n");
  BOOST_TEST(root.quota() == 8u);
  root.write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  BOOST_TEST(root.quota() == 3u);  // two cores and a half
  root.write("sys/fs/cgroup/job/cpu.max", "1000 100000\n");
  BOOST_TEST(root.quota() == 1u);
}

// Docker without a namespace of groups: the process has the group's name outside of the container.
BOOST_AUTO_TEST_CASE(a_container_has_its_limit_at_the_mount_point) {
  made_up_root root("0::/docker/0123456789\n");
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  BOOST_TEST(root.quota() == 2u);
}

BOOST_AUTO_TEST_CASE(version_1_has_a_folder_of_the_controller) {
  made_up_root root("9:memory:/\n4:cpu,cpuacct:/slurm/job7\n0::/\n");
  root.write("sys/fs/cgroup/memory/cpu.cfs_quota_us", "100000\n")
      .write("sys/fs/cgroup/memory/cpu.cfs_period_us", "100000");
  BOOST_TEST(root.quota() == 0u);
  root.write("sys/fs/cgroup/cpu,cpuacct/slurm/job7/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/slurm/job7/cpu.cfs_period_us", "100000\n");
  BOOST_TEST(root.quota() == 0u);
  root.write("sys/fs/cgroup/cpu,cpuacct/slurm/job7/cpu.cfs_quota_us", "600000\n");
  BOOST_TEST(root.quota() == 6u);
  root.write("sys/fs/cgroup/cpu/slurm/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/slurm/cpu.cfs_period_us", "20000\n");
  BOOST_TEST(root.quota() == 3u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_no_limit) {
  made_up_root root("no line of groups\n0::\n");
  root.write("sys/fs/cgroup/cpu.max", "many of them\n");
  BOOST_TEST(root.quota() == 0u);
  BOOST_TEST(cpu_quota("/nowhere") == 0u);
}

BOOST_AUTO_TEST_CASE(threads_are_at_most_the_cores_of_the_process) {
  const std::size_t threads = ferry::detail::parallel_threads(), limit = cpu_quota();
  BOOST_TEST(threads >= 1u);
  BOOST_TEST(threads <= ferry::detail::process_cores().size());
  BOOST_TEST((limit == 0 || threads <= limit));
}

BOOST_AUTO_TEST_SUITE_END()
