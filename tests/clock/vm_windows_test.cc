// SPDX-License-Identifier: Apache-2.0
#include "clock/vm_windows.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

namespace strata::clock {
namespace {

using testing::HasSubstr;

constexpr int64_t kAhead = 3'700'000'000;  // the host's clock
constexpr Tid kVcpu{11};

// A guest that is woken up now and then, works a while with short exits, and sleeps again; its
// clock is `ppm` fast.
struct Machine {
  HostWindows host;
  GuestMoments guest;

  Machine(double ppm, double sleep_us, int rounds, uint32_t seed = 1) {
    std::mt19937 random(seed);
    const auto wait = [&](double mean_us) {
      return 500 + static_cast<int64_t>(1000 *
                                        std::exponential_distribution<double>(1 / mean_us)(random));
    };
    int64_t now = 1'000'000'000;
    for (int i = 0; i < rounds; ++i) {
      now += wait(sleep_us);
      host.injections.push_back(now);
      for (int exits = 1 + static_cast<int>(random() % 5); exits > 0; --exits) {
        VmWindow window{now, now};
        for (int events = static_cast<int>(random() % 6); events > 0; --events) {
          window.exit += wait(8);
          moments.push_back(window.exit);
        }
        window.exit += wait(8);
        host.vcpus[kVcpu].push_back(window);
        now = window.exit + wait(3);
      }
    }
    // Another guest's, at other times.
    for (const VmWindow& window : host.vcpus[kVcpu])
      host.vcpus[Tid{12}].push_back({window.entry + 777'777, window.exit + 777'777});
    std::vector<int64_t>& told = guest.cpus[CpuId{0}];
    for (const int64_t moment : moments) {
      const int64_t time =
          moment - kAhead + static_cast<int64_t>(static_cast<double>(moment) * ppm / 1e6);
      if (!told.empty() && time - told.back() > 500'000 && guest.awakenings.size() < 512)
        guest.awakenings.push_back(time);
      told.push_back(time);
    }
  }
  std::vector<int64_t> moments;  // of the guest, by the host's clock
};

TEST(VmWindows, TellTheClocksApartWithABoundThatHolds) {
  for (const double ppm : {0.0, 3.0, -20.0}) {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      const Machine machine(ppm, 2'000, 2'000, seed);
      const Result<WindowFit> fit = match_windows(machine.host, machine.guest, Towards::Host);
      ASSERT_TRUE(fit) << fit.error().text();
      const std::vector<Stretch>* stretches = &fit->stretches;
      ASSERT_EQ(stretches->size(), 1u);
      EXPECT_LT(stretches->front().bound, 5'000u);
      const std::vector<int64_t>& told = machine.guest.cpus.at(CpuId{0});
      for (size_t i = 0; i < told.size(); ++i) {
        const long double found =
            stretches->front().line.at.y + stretches->front().line.rise(told[i]);
        ASSERT_LE(std::fabs(found - machine.moments[i]), stretches->front().bound)
            << "ppm " << ppm << ", seed " << seed;
      }
    }
  }
}

TEST(VmWindows, LeadFromTheHostToTheGuestToo) {
  const Machine machine(0, 2'000, 1'000);
  const Result<WindowFit> fit = match_windows(machine.host, machine.guest, Towards::Guest);
  ASSERT_TRUE(fit) << fit.error().text();
  const std::vector<Stretch>* stretches = &fit->stretches;
  const Line& line = stretches->front().line;
  const int64_t moment = machine.moments[machine.moments.size() / 2];
  EXPECT_LE(std::fabs(line.at.y + line.rise(moment) - (moment - kAhead)), stretches->front().bound);
}

TEST(VmWindows, OfAnotherMachineAreRefused) {
  const Machine one(0, 2'000, 1'000, 1);
  const Machine other(0, 2'000, 1'000, 99);
  const Result<WindowFit> fit = match_windows(one.host, other.guest, Towards::Host);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().cause, HasSubstr("not this host's"));
}

TEST(VmWindows, OfAGuestThatHardlyEverExitsTellNothing) {
  Machine machine(0, 2'000, 1'000);
  const VmWindow all{machine.moments.front() - 10'000'000'000,
                     machine.moments.back() + 10'000'000'000};
  machine.host.vcpus = {{kVcpu, {all}}};
  const Result<WindowFit> fit = match_windows(machine.host, machine.guest, Towards::Host);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().cause, HasSubstr("however the clocks are apart"));
}

TEST(VmWindows, NeedInterruptsAndAnIdleGuest) {
  Machine machine(0, 2'000, 100);
  HostWindows quiet = machine.host;
  quiet.injections.clear();
  EXPECT_FALSE(match_windows(quiet, machine.guest, Towards::Host));
  GuestMoments busy = machine.guest;
  busy.awakenings.clear();
  EXPECT_FALSE(match_windows(machine.host, busy, Towards::Host));
  EXPECT_FALSE(match_windows({}, machine.guest, Towards::Host));
}

}  // namespace
}  // namespace strata::clock
