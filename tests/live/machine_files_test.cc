// SPDX-License-Identifier: Apache-2.0
#include "live/machine_files.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

using period::Column;

TEST(MachineFiles, ANumberOfSnmpIsFoundByItsHeading) {
  constexpr std::string_view kText =
      "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
      "Tcp: RtoAlgorithm RtoMin CurrEstab InSegs\nTcp: 1 200 17 5\n";
  EXPECT_EQ(snmp_number(kText, "Tcp:", "CurrEstab"), 17);
  EXPECT_EQ(snmp_number(kText, "Tcp:", "Nothing"), std::nullopt);
  EXPECT_EQ(snmp_number(kText, "Udp:", "CurrEstab"), std::nullopt);
  EXPECT_EQ(snmp_number("Tcp: A CurrEstab\nTcp: 1", "Tcp:", "CurrEstab"), std::nullopt);
}

TEST(MachineFiles, ALineOfADeviceCountsSectorsOf512Bytes) {
  // Documentation/admin-guide/iostats.rst: reads, merged, sectors, ms; the same of writes; in
  // flight, ms with requests, weighted ms.
  const auto row = parse_device(" 254       0 vda 100 5 800 40 200 6 1600 80 3 90 120 0 0 0 0 0 0");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->number, 254u << 20);
  EXPECT_EQ(row->name, "vda");
  EXPECT_EQ(row->values[Column::Requests], 300);
  EXPECT_EQ(row->values[Column::ReadBytes], 800 * 512);
  EXPECT_EQ(row->values[Column::WrittenBytes], 1600 * 512);
  EXPECT_EQ(row->values[Column::InFlight], 3);
  EXPECT_EQ(row->values[Column::Busy], 90'000'000);
  EXPECT_EQ(row->values[Column::Depth], 120'000'000);
  EXPECT_FALSE(parse_device("254 0 vda 1 2"));
  EXPECT_FALSE(parse_device("254 9999999 vda 1 2 3 4 5 6 7 8 9 10 11"));
}

}  // namespace
}  // namespace strata::live
