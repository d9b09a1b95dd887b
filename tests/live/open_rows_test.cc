// SPDX-License-Identifier: Apache-2.0
#include "live/open_rows.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

namespace strata::live {
namespace {

using period::Column;

// Of a process that there is not, so that no path is found.
constexpr int32_t kNobody = INT32_MAX;

OpenFile file(std::string_view name, uint64_t reads, uint64_t bytes) {
  OpenFile open{};
  open.mode = S_IFREG;
  open.reads = reads;
  open.read_bytes = bytes;
  std::memcpy(open.name, name.data(), name.size());
  return open;
}

TEST(OpenRows, TellWhatWentThroughSinceTheLastTime) {
  OpenRows rows;
  const std::vector<OpenKey> keys = {{kNobody, 3, 8, 100}, {kNobody, 4, 8, 200}};
  std::vector<OpenFile> opens = {file("one", 5, 500), file("two", 7, 700)};
  period::Machine first;
  rows.tell(keys, opens, first);
  EXPECT_EQ(first.descriptors.size(), 2);
  opens[1].reads += 2;
  opens[1].read_bytes += 20;
  period::Machine second;
  rows.tell(keys, opens, second);
  ASSERT_EQ(second.descriptors.size(), 1);
  EXPECT_EQ(second.descriptors[0].number, 4);
  EXPECT_EQ(second.descriptors[0].name, "two");
  EXPECT_EQ(second.descriptors[0].values[Column::Reads], 2);
  EXPECT_EQ(second.descriptors[0].values[Column::ReadBytes], 20);
}

TEST(OpenRows, AFileIsTheSumOfItsDescriptors) {
  OpenRows rows;
  const std::vector<OpenKey> keys = {{kNobody, 3, 8, 100}, {kNobody - 1, 9, 8, 100}};
  period::Machine machine;
  rows.tell(keys, std::vector<OpenFile>{file("one", 5, 500), file("one", 7, 700)}, machine);
  ASSERT_EQ(machine.files.size(), 1);
  EXPECT_EQ(machine.files[0].number, 100);
  EXPECT_EQ(machine.files[0].values[Column::ReadBytes], 1200);
}

TEST(OpenRows, WhoIsIdleIsForgottenAndBeginsAnew) {
  OpenRows rows;
  const std::vector<OpenKey> keys = {{kNobody, 3, 8, 100}};
  period::Machine machine;
  rows.tell(keys, std::vector<OpenFile>{file("one", 5, 500)}, machine);
  EXPECT_TRUE(rows.idle_since(1).empty());
  rows.tell(keys, std::vector<OpenFile>{file("one", 5, 500)}, machine);
  ASSERT_EQ(rows.idle_since(1).size(), 1);
  EXPECT_TRUE(rows.idle_since(2).empty());
  rows.forget(rows.idle_since(1));
  period::Machine later;
  rows.tell(keys, std::vector<OpenFile>{file("one", 1, 10)}, later);
  ASSERT_EQ(later.descriptors.size(), 1);
  EXPECT_EQ(later.descriptors[0].values[Column::ReadBytes], 10);
}

TEST(OpenRows, KindsAndNamesAreThoseOfTraces) {
  const OpenKey key = {kNobody, 3, 8, 17};
  OpenFile open = file("", 0, 0);
  open.mode = S_IFIFO;
  EXPECT_EQ(kind_of(open), "pipe");
  EXPECT_EQ(name_of(key, open), "pipe:[17]");
  open.mode = S_IFSOCK;
  open.family = AF_UNIX;
  EXPECT_EQ(kind_of(open), "local-socket");
  EXPECT_EQ(name_of(key, open), "socket:[17]");
  open.family = AF_INET;
  open.port = htons(443);
  ASSERT_EQ(inet_pton(AF_INET, "192.0.2.7", open.address), 1);
  EXPECT_EQ(kind_of(open), "socket");
  EXPECT_EQ(name_of(key, open), "192.0.2.7:443");
  open.family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "2001:db8::1", open.address), 1);
  EXPECT_EQ(name_of(key, open), "[2001:db8::1]:443");
  open = file("[eventfd]", 0, 0);
  EXPECT_EQ(kind_of(open), "event");
  open = file("null", 0, 0);
  open.mode = S_IFCHR;
  EXPECT_EQ(kind_of(open), "device");
}

}  // namespace
}  // namespace strata::live
