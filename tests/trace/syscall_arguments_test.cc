// SPDX-License-Identifier: Apache-2.0
#include "trace/syscall_arguments.h"

#include <gtest/gtest.h>

#include "trace/event_type.h"

namespace strata::trace {
namespace {

EventType type_of(std::string system, const std::vector<std::string>& names) {
  EventType type;
  type.system = std::move(system);
  uint32_t offset = 0;
  for (const std::string& name : names) {
    type.fields.push_back({name, "", offset, 8, 8});
    offset += 8;
  }
  return type;
}

TEST(SyscallArguments, AreAtTheirPlaceBehindTheNumber) {
  const EventType type = type_of("syscalls", {"common_pid", "__syscall_nr", "x", "y"});
  EXPECT_EQ(syscall_argument(type, 0, {"fd"}).offset, 16u);
  EXPECT_EQ(syscall_argument(type, 1, {"fd"}).offset, 24u);
  EXPECT_FALSE(syscall_argument(type, 2, {"fd"})) << "there is none";
  EXPECT_FALSE(syscall_argument(type_of("syscalls", {"common_pid"}), 0, {"fd"}));
}

TEST(SyscallArguments, AreFieldsOfOneOfTheirNames) {
  const EventType type = type_of("", {"count", "fildes"});
  EXPECT_EQ(syscall_argument(type, 0, {"fd", "fildes"}).offset, 8u);
  EXPECT_FALSE(syscall_argument(type, 0, {"fd"}));
}

TEST(SyscallArguments, AreElementsOfAnArrayOfAll) {
  EventType type = type_of("raw_syscalls", {"common_pid", "id"});
  type.fields.push_back({"args", "unsigned long[6]", 16, 48, 8});
  type.fields.back().kind = ValueKind::Array;
  EXPECT_EQ(syscall_argument(type, 0, {"fd"}).offset, 16u);
  EXPECT_EQ(syscall_argument(type, 5, {"fd"}).offset, 56u);
  EXPECT_FALSE(syscall_argument(type, 6, {"fd"}));
  type.fields.back().element_size = 0;
  EXPECT_FALSE(syscall_argument(type, 0, {"fd"})) << "no such array";
}

TEST(SyscallArguments, ATextIsOneOnlyWhereTheTracerReadIt) {
  EventType type = type_of("syscalls", {"__syscall_nr", "filename", "__filename_val"});
  EXPECT_FALSE(syscall_text(type, {"filename"})) << "a pointer";
  type.fields.back().kind = ValueKind::Text;
  EXPECT_EQ(syscall_text(type, {"filename"}).offset, 16u);
}

}  // namespace
}  // namespace strata::trace
