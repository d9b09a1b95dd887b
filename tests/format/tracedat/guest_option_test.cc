// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/guest_option.h"

#include <gtest/gtest.h>

#include <string>

#include "format/tracedat/trace_dat.h"
#include "support/corpus.h"

namespace strata::tracedat {
namespace {

using namespace std::string_literals;

trace::GuestInfo read(const std::string& option) {
  return read_guest(as_bytes(option), ByteOrder::Little);
}

TEST(GuestOption, TellsTheThreadsOfTheGuestsCpus) {
  const trace::GuestInfo guest = read(
      "web1\0"
      "\x88\x77\x66\x55\x44\x33\x22\x11"
      "\x02\0\0\0"
      "\x01\0\0\0\x0a\x01\0\0"
      "\0\0\0\0\xff\xff\xff\xff"s);
  EXPECT_EQ(guest.name, "web1");
  EXPECT_EQ(guest.trace_id, 0x1122334455667788u);
  EXPECT_EQ(guest.vcpus, (std::vector<Tid>{kNoTid, Tid{266}})) << "-1: not told";
}

TEST(GuestOption, CutShortOrAbsurdGivesWhatIsThere) {
  EXPECT_EQ(read("").name, "");
  EXPECT_EQ(read("web1\0\x01"s).name, "web1");
  const trace::GuestInfo guest = read(
      "w\0"
      "\x01\0\0\0\0\0\0\0"
      "\xff\xff\xff\xff"
      "\xff\xff\xff\x7f\x05\0\0\0"
      "\0\0\0\0\x07\0\0\0"
      "\x01\0\0\0"s);
  EXPECT_EQ(guest.vcpus, std::vector<Tid>{Tid{7}});
}

TEST(GuestOption, OfARealHostNamesItsGuestsTrace) {
  const auto corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  const auto host = TraceDat::open(*corpus + "/dat/pair-host.dat");
  const auto guest = TraceDat::open(*corpus + "/dat/pair-guest.dat");
  ASSERT_TRUE(host && guest);
  ASSERT_EQ((*host)->info().guests.size(), 1u);
  const trace::GuestInfo& told = (*host)->info().guests.front();
  EXPECT_EQ(told.trace_id, (*guest)->info().trace_id);
  EXPECT_EQ((*guest)->info().host_trace_id, (*host)->info().trace_id);
  EXPECT_EQ(told.vcpus, (std::vector<Tid>{kNoTid, kNoTid})) << "over TCP they are not told";
}

}  // namespace
}  // namespace strata::tracedat
