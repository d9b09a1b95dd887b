// SPDX-License-Identifier: Apache-2.0
#include "clock/tsc.h"

#include <gmock/gmock.h>

namespace strata::clock {
namespace {

using testing::HasSubstr;

TscCheck good() {
  TscCheck check;
  check.available = check.constant = check.nonstop = check.monotonic = true;
  check.clocksource = "tsc";
  return check;
}

TEST(Tsc, IsTrustedWhenEverythingHolds) {
  TscCheck check = good();
  judge(check);
  EXPECT_TRUE(check.trusted()) << check.reason;
}

TEST(Tsc, EveryFailureHasItsReason) {
  const auto reason = [](auto spoil) {
    TscCheck check = good();
    spoil(check);
    judge(check);
    EXPECT_FALSE(check.trusted());
    return check.reason;
  };
  EXPECT_THAT(reason([](TscCheck& c) { c.available = false; }), HasSubstr("no time stamp counter"));
  EXPECT_THAT(reason([](TscCheck& c) { c.constant = false; }), HasSubstr("constant_tsc"));
  EXPECT_THAT(reason([](TscCheck& c) { c.nonstop = false; }), HasSubstr("nonstop_tsc"));
  EXPECT_THAT(reason([](TscCheck& c) { c.clocksource = "hpet"; }), HasSubstr("hpet"));
  EXPECT_THAT(reason([](TscCheck& c) { c.clocksource = "kvm-clock"; }), HasSubstr("hypervisor"));
  EXPECT_THAT(reason([](TscCheck& c) { c.clocksource = ""; }), HasSubstr("does not tell"));
  EXPECT_THAT(reason([](TscCheck& c) { c.monotonic = false; }), HasSubstr("backwards"));
}

TEST(Tsc, FlagsAreWholeWordsOfTheFirstCpu) {
  TscCheck check;
  read_flags("processor\t: 0\nflags\t\t: fpu constant_tsc tsc nonstop_tsc\nbugs\t: x\n", check);
  EXPECT_TRUE(check.constant);
  EXPECT_TRUE(check.nonstop);
  read_flags("flags\t\t: fpu constant_tsc_known nonstop_tscx\n", check);
  EXPECT_FALSE(check.constant);
  EXPECT_FALSE(check.nonstop);
  for (const char* text : {"", "flags", "flags:", "flags\t\t:   ", "model name: constant_tsc"}) {
    read_flags(text, check);
    EXPECT_FALSE(check.constant) << text;
  }
}

}  // namespace
}  // namespace strata::clock
