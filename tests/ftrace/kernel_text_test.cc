// SPDX-License-Identifier: Apache-2.0
#include "ftrace/kernel_text.h"

#include <gtest/gtest.h>

namespace strata::ftrace {
namespace {

TEST(Symbols, AnAddressIsInTheLastSymbolBeforeIt) {
  const Symbols symbols(
      "ffffffff81000200 T later\n"
      "ffffffff81000100 t earlier\t[module]\n"
      "0000000000000000 A percpu\n"
      "ffffffff81000150 t $a\n"
      "ffffffff81000300 B last\n");
  EXPECT_FALSE(symbols.find(0xffffffff810000ff));
  EXPECT_EQ(symbols.find(0xffffffff81000100)->name, "earlier");
  EXPECT_EQ(symbols.find(0xffffffff810001ff)->name, "earlier");
  EXPECT_EQ(symbols.find(0xffffffff810001ff)->module, "module");
  EXPECT_EQ(symbols.find(0xffffffff810001ff)->start, 0xffffffff81000100);
  EXPECT_EQ(symbols.find(0xffffffff81000200)->name, "later");
  EXPECT_EQ(symbols.find(0xffffffff81000300)->name, "last");
  EXPECT_FALSE(symbols.find(0xffffffff81000301)) << "the last one's end is not known";
  EXPECT_EQ(symbols.address_of("later"), 0xffffffff81000200);
  EXPECT_EQ(symbols.address_of("percpu"), std::nullopt);
}

TEST(Symbols, LinesThatAreNoSymbolsArePassedOver) {
  const Symbols symbols("\n\nxyz\n1000\n2000 T\n3000 T good");
  EXPECT_EQ(symbols.find(0x3000)->name, "good");
  EXPECT_FALSE(symbols.find(0x1000));
  EXPECT_FALSE(Symbols("").find(0));
}

TEST(PrintkFormats, QuotesAndTheLinesEndAreTakenOff) {
  const PrintkFormats formats(
      "0xffffffff82000000 : \"value: %d\\n\"\n"
      "0xffffffff82000010 : \"no end\"\n"
      "ffffffff82000020 : \"\"\n"
      "rubbish\n"
      "0xffffffff82000030 :");
  EXPECT_EQ(formats.find(0xffffffff82000000), "value: %d");
  EXPECT_EQ(formats.find(0xffffffff82000010), "no end");
  EXPECT_EQ(formats.find(0xffffffff82000020), "");
  EXPECT_EQ(formats.find(0xffffffff82000030), "");
  EXPECT_EQ(formats.find(1), std::nullopt);
}

}  // namespace
}  // namespace strata::ftrace
