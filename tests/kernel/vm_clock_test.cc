// SPDX-License-Identifier: Apache-2.0
#include "kernel/vm_clock.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

// A folder as KVM's debugfs is.
struct Debugfs {
  test::TemporaryFolder folder;

  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder.file(file)).parent_path());
    folder.write(file, text);
  }
};

TEST(VmClocks, AreReadForEachVcpu) {
  const Debugfs debugfs;
  debugfs.put("412-12/vcpu0/tsc-offset", "-1234567890123\n");
  debugfs.put("412-12/vcpu0/tsc-scaling-ratio", "4294967296\n");
  debugfs.put("412-12/vcpu0/tsc-scaling-ratio-frac-bits", "32\n");
  debugfs.put("412-12/create_vcpu", "1\n");
  debugfs.put("41-12/vcpu0/tsc-offset", "5\n");
  const std::vector<clock::CounterChange> found = read_vm_clocks(412, debugfs.folder.path());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].vcpu, 0u);
  EXPECT_EQ(found[0].shift,
            (clock::CounterShift{static_cast<uint64_t>(-1234567890123), uint64_t{1} << 32, 32}));
}

TEST(VmClocks, WithoutScalingHaveTheHostsRate) {
  const Debugfs debugfs;
  debugfs.put("412-12/vcpu3/tsc-offset", "7\n");
  EXPECT_THAT(read_vm_clocks(412, debugfs.folder.path()),
              ElementsAre(Field(&clock::CounterChange::shift, clock::CounterShift{7, 1, 0})));
}

TEST(VmClocks, ThatAreNotToldAreNotThere) {
  const Debugfs debugfs;
  debugfs.put("412-12/vcpu0/pid", "99\n");
  debugfs.put("412-12/vcpu1/tsc-offset", "12x\n");
  debugfs.put("412-12/vcpu2/tsc-offset", "12\n");
  debugfs.put("412-12/vcpu2/tsc-scaling-ratio", "0\n");
  debugfs.put("412-12/vcpu2/tsc-scaling-ratio-frac-bits", "48\n");
  EXPECT_THAT(read_vm_clocks(412, debugfs.folder.path()), IsEmpty());
  EXPECT_THAT(read_vm_clocks(412, debugfs.folder.file("absent")), IsEmpty());
}

}  // namespace
}  // namespace strata::kernel
