// SPDX-License-Identifier: Apache-2.0
#include "trace/task_names.h"

#include <gtest/gtest.h>

#include "fake_trace.h"

namespace strata::trace {
namespace {

TEST(TaskNames, TheIdleTaskAndThoseNeverHeardOf) {
  const TaskNames names;
  EXPECT_EQ(names.find(Tid{0}), "<idle>");
  EXPECT_EQ(names.find(Tid{42}), "<...>");
  EXPECT_EQ(names.find(Tid{-1}), "<...>");
  EXPECT_FALSE(names.knows(Tid{42}));
}

TEST(TaskNames, TheFirstNameStays) {
  TaskNames names;
  names.add(Tid{42}, "bash");
  names.add(Tid{42}, "ls");
  EXPECT_EQ(names.find(Tid{42}), "bash");
  EXPECT_TRUE(names.knows(Tid{42}));
  EXPECT_EQ(names.all().size(), 1u);
}

TEST(TaskNames, ASwitchTellsTwo) {
  const auto type = sched_switch_type();
  const FakeEvent event{type.get(),
                        RecordMaker(*type, 7)
                            .set("prev_comm", "make")
                            .set("prev_pid", 7)
                            .set("next_comm", "sixteen chars ok")
                            .set("next_pid", 8)
                            .bytes(),
                        0};
  TaskNames names;
  names.learn(view(event));
  EXPECT_EQ(names.find(Tid{7}), "make");
  EXPECT_EQ(names.find(Tid{8}), "sixteen chars ok") << "the kernel cuts at 16, NUL or not";
}

TEST(TaskNames, AWakeUpTellsOne) {
  const auto type =
      make_type(316, "sched", "sched_wakeup",
                {{"comm", "char[16]", 8, 16, 1, Location::InPlace, ValueKind::Text, true},
                 {"pid", "pid_t", 24, 4, 4, Location::InPlace, ValueKind::Integer, true}});
  TaskNames names;
  const FakeEvent event{type.get(),
                        RecordMaker(*type, 7).set("comm", "kworker/0:1").set("pid", 9).bytes(), 0};
  names.learn(view(event));
  EXPECT_EQ(names.find(Tid{9}), "kworker/0:1");
  EXPECT_FALSE(names.knows(Tid{7})) << "the waker's name is not told";
}

TEST(TaskNames, ARecordThatIsCutOffTellsWhatItHolds) {
  const auto type = sched_switch_type();
  auto bytes = RecordMaker(*type, 7)
                   .set("prev_comm", "make")
                   .set("prev_pid", 7)
                   .set("next_comm", "sh")
                   .set("next_pid", 8)
                   .bytes();
  for (size_t length = bytes.size(); length-- > 0;) {
    bytes.resize(length);
    bytes.shrink_to_fit();
    TaskNames names;
    names.learn(view({type.get(), bytes, 0}));
    EXPECT_FALSE(names.knows(Tid{8}) && length < 60);
  }
}

TEST(TaskNames, OtherEventsTellNothing) {
  const auto type = sys_enter_openat_type();
  TaskNames names;
  names.learn(view({type.get(), RecordMaker(*type, 7).bytes(), 0}));
  EXPECT_TRUE(names.all().empty());
}

}  // namespace
}  // namespace strata::trace
