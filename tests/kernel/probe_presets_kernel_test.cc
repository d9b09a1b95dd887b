// SPDX-License-Identifier: Apache-2.0
//
// The preset for QEMU on a real one: its firmware reads the first sector of a disk, which ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kernel/probe_presets.h"
#include "probed_instance.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using test::field;

constexpr const char* kQemu = "/usr/bin/qemu-system-x86_64";

class QemuPreset : public testing::Test {
 protected:
  void SetUp() override {
    Result<Tracefs> tracefs = Tracefs::find();
    if (!tracefs) GTEST_SKIP() << tracefs.error().text();
    if (!tracefs->has("uprobe_events")) GTEST_SKIP() << "this kernel has no uprobes";
    if (access(kQemu, X_OK) != 0) GTEST_SKIP() << "no " << kQemu << " here";
    tracefs_.emplace(*std::move(tracefs));
    probes_.emplace(*tracefs_, "preset-test-" + std::to_string(getpid()));
    const Status status = add_preset(*probes_, "qemu", {kQemu});
    ASSERT_TRUE(status) << status.error().text();
  }

  // A machine that boots from a disk by virtio: mov $1, %al; out %al, $0xf4, which is the device
  // that ends QEMU with status 2 x 1 + 1.
  int run_qemu(const std::string& accelerator) const {
    std::vector<uint8_t> disk(1 << 20);  // with less the firmware takes it for none
    const std::array<uint8_t, 5> code{0xb0, 0x01, 0xe6, 0xf4, 0xf4};
    std::copy(code.begin(), code.end(), disk.begin());
    disk[510] = 0x55;
    disk[511] = 0xaa;
    const std::string path = folder_.write("disk", std::as_bytes(std::span(disk)));
    return test::run({"timeout", "40", kQemu, "-accel", accelerator, "-nodefaults", "-display",
                      "none", "-m", "32", "-device", "isa-debug-exit,iobase=0xf4,iosize=1",
                      "-drive", "if=virtio,format=raw,file=" + path})
        .status;
  }

  test::TemporaryFolder folder_;
  std::optional<Tracefs> tracefs_;
  std::optional<DynamicProbes> probes_;
};

TEST_F(QemuPreset, DebiansQemuHasAllOfIt) {
  for (const std::string& remark : probes_->remarks()) ADD_FAILURE() << remark;
  EXPECT_EQ(probes_->events().size(), probe_presets().front().probes.size());
}

TEST_F(QemuPreset, ShowsQueuesAndBlockIo) {
  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes_->events());
  ASSERT_EQ(run_qemu("tcg"), 3);
  EXPECT_EQ(instance.lost(), 0u);

  const std::vector<std::string> reads = instance.events("blk_aio_preadv");
  ASSERT_GT(reads.size(), 0u);
  EXPECT_TRUE(std::any_of(reads.begin(), reads.end(), [](const std::string& read) {
    return field(read, "offset") == "0";
  })) << "the first sector";
  const std::vector<std::string> layers = instance.events("bdrv_co_preadv");
  EXPECT_TRUE(std::any_of(layers.begin(), layers.end(), [](const std::string& read) {
    return field(read, "offset") == "0" && field(read, "bytes") == "512";
  }));
  const size_t given_back = instance.events("virtqueue_push").size();
  EXPECT_GT(given_back, 0u);
  EXPECT_GE(instance.events("virtqueue_pop").size(), given_back);
  EXPECT_GT(instance.events("virtio_notify").size() + instance.events("virtio_notify_irqfd").size(),
            0u);
}

TEST_F(QemuPreset, BracketsEveryRunOfTheGuest) {
  if (access("/dev/kvm", R_OK | W_OK) != 0) GTEST_SKIP() << "no /dev/kvm here";
  test::ProbedInstance instance(*tracefs_);
  std::vector<EventChoice> events = probes_->events();
  // The others only take room in the ring.
  std::erase_if(events,
                [](const EventChoice& event) { return !event.name.starts_with("kvm_run"); });
  ASSERT_EQ(events.size(), 2u);
  events.push_back({"kvm", "kvm_userspace_exit", ""});
  instance.enable(events);
  if (run_qemu("kvm") != 3) GTEST_SKIP() << "KVM does not run a guest here";

  size_t runs = 0, kernel = 0;
  bool inside = false;
  for (const std::string& event : instance.events()) {
    if (event.starts_with("kvm_run_enter: ")) {
      EXPECT_FALSE(inside);
      EXPECT_EQ(field(event, "type"), "0xae80");
      inside = true;
      ++runs;
    } else if (event.starts_with("kvm_run_exit: ")) {
      EXPECT_TRUE(inside);
      inside = false;
    } else if (event.starts_with("kvm_userspace_exit: ")) {
      EXPECT_TRUE(inside);
      ++kernel;
    }
  }
  printf("%zu times KVM_RUN, %zu times the kernel left the guest for user space\n", runs, kernel);
  EXPECT_GT(runs, 100u);
  EXPECT_EQ(instance.lost(), 0u);
  EXPECT_EQ(runs, kernel);
}

}  // namespace
}  // namespace strata::kernel
