// SPDX-License-Identifier: Apache-2.0
#include "trace/report_line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "fake_trace.h"

namespace strata::trace {
namespace {

// Expected lines are in the form that trace-cmd 3.1.6 gives on the traces of the corpus.
class ReportLineTest : public testing::Test {
 protected:
  ReportLineTest() {
    trace.types.push_back(sched_switch_type());
    trace.types.push_back(odd_type());
    trace.names.add(Tid(6449), "sleep");
  }
  FakeEvent switch_event(int32_t pid, int64_t time) {
    return {trace.types[0].get(),
            RecordMaker(*trace.types[0], pid)
                .set("prev_comm", "bash")
                .set("prev_pid", pid)
                .set("next_comm", "qemu-system-x86")
                .set("next_pid", 6356)
                .bytes(),
            time};
  }
  std::string line(const FakeEvent& event, uint32_t cpu = 0, std::string_view label = "") {
    return line(event, cpu, label, LineOptions{});
  }
  std::string line(const FakeEvent& event, uint32_t cpu, std::string_view label, LineOptions o) {
    LearnedNames names(trace);
    TextBuffer out;
    ReportLine(trace, names, std::move(o)).print(view(event, cpu), label, out);
    return std::string(out.view());
  }
  FakeTrace trace;
};

TEST_F(ReportLineTest, LooksAsTraceCmdReport) {
  trace.fields_text = "sleep:6449 [120] D ==> qemu-system-x86:6356 [120]";
  EXPECT_EQ(line(switch_event(6449, 2'468'226'107'000)),
            "           sleep-6449  [000]  2468.226107: sched_switch:         "
            "sleep:6449 [120] D ==> qemu-system-x86:6356 [120]\n");
}

TEST_F(ReportLineTest, ColumnsGrowWithWhatIsInThem) {
  trace.names.add(Tid(1234567), "a-name-of-17-char");
  EXPECT_EQ(line(switch_event(1234567, 1'668'619'501'499'999), 1024),
            "a-name-of-17-char-1234567 [1024] 1668619.501500: sched_switch:         "
            "text of the fields\n");
  EXPECT_EQ(line(switch_event(0, 501), 12),
            "          <idle>-0     [012]     0.000001: sched_switch:         "
            "text of the fields\n");
}

TEST_F(ReportLineTest, ALongNameIsNotPadded) {
  FakeTrace other;
  other.types.push_back(make_type(1, "x", "an_event_name_of_26_chars_", {}));
  FakeEvent event{other.types[0].get(), RecordMaker(*other.types[0], 0).bytes(), 0};
  LearnedNames names(other);
  TextBuffer out;
  ReportLine(other, names, {}).print(view(event), "", out);
  EXPECT_EQ(out.view(),
            "          <idle>-0     [000]     0.000000: an_event_name_of_26_chars_: "
            "text of the fields\n");
}

TEST_F(ReportLineTest, ANewlineAtTheEndOfTheFieldsIsDropped) {
  trace.fields_text = "kernel stack\n=> a\n=> b\n";
  EXPECT_TRUE(line(switch_event(0, 0)).ends_with("kernel stack\n=> a\n=> b\n"));
  EXPECT_FALSE(line(switch_event(0, 0)).ends_with("\n\n"));
}

TEST_F(ReportLineTest, LossesComeFirst) {
  FakeEvent event = switch_event(6449, 1000);
  event.lost = 12;
  EXPECT_TRUE(line(event, 3).starts_with("CPU:3 [12 EVENTS DROPPED]\n           sleep-"));
  event.lost = 0;
  event.lost_unknown = true;
  EXPECT_TRUE(line(event, 3).starts_with("CPU:3 [EVENTS DROPPED]\n           sleep-"));
  EXPECT_TRUE(line(event, 3, "a: ").starts_with("a: CPU:3 [EVENTS DROPPED]\na:            sleep-"));
  LineOptions once;
  once.label_once = true;
  EXPECT_TRUE(
      line(event, 3, "a: ", once).starts_with("a: CPU:3 [EVENTS DROPPED]\n           sleep-"));
}

TEST_F(ReportLineTest, AClockThatIsNotTimeIsShownAsItIs) {
  trace.edit_info().in_nanoseconds = false;
  EXPECT_EQ(line(switch_event(0, 123'456)),
            "          <idle>-0     [000]      123456: sched_switch:         text of the fields\n");
}

TEST_F(ReportLineTest, RelativeTimes) {
  LineOptions options;
  options.time = TimeStyle::Relative;
  options.origin = Nanoseconds{1'000'000'000};
  EXPECT_EQ(line(switch_event(0, 3'000'000'007), 0, "", options),
            "          <idle>-0     [000]     2.000000007: sched_switch:         "
            "text of the fields\n");
  EXPECT_NE(line(switch_event(0, 999'999'999), 0, "", options).find("-    0.000000001:"),
            std::string::npos);
}

TEST_F(ReportLineTest, WallTimes) {
  setenv("TZ", "UTC", 1);
  tzset();
  LineOptions options;
  options.time = TimeStyle::Wall;
  options.with_date = true;
  EXPECT_NE(line(switch_event(0, 1'794'747'600'000'000'001), 0, "", options)
                .find("[000] 2026-11-15 13:00:00.000000001: sched_switch:"),
            std::string::npos);
  unsetenv("TZ");
  tzset();
}

TEST_F(ReportLineTest, ChosenFields) {
  LineOptions options;
  options.fields = {"next_comm", "no_such", "prev_pid"};
  EXPECT_TRUE(line(switch_event(6449, 0), 0, "", options)
                  .ends_with("sched_switch:         next_comm=qemu-system-x86 prev_pid=6449\n"));
}

TEST_F(ReportLineTest, NamesAreLearntAfterTheLineThatTellsThem) {
  LearnedNames names(trace);
  ReportLine lines(trace, names, {});
  auto print = [&](const FakeEvent& event) {
    TextBuffer out;
    lines.print(view(event), "", out);
    names.learn(view(event));
    return std::string(out.view().substr(0, 21));
  };
  EXPECT_EQ(print(switch_event(77, 0)), "           <...>-77  ");
  EXPECT_EQ(print(switch_event(77, 0)), "            bash-77  ");
  EXPECT_EQ(print(switch_event(6356, 0)), " qemu-system-x86-6356");
}

TEST_F(ReportLineTest, ManyThreads) {
  LearnedNames names(trace);
  ReportLine lines(trace, names, {});
  for (int round = 0; round < 2; ++round) {
    for (int pid = -3; pid < 5000; ++pid) {
      TextBuffer out;
      lines.print(view(switch_event(pid, 0)), "", out);
      std::string expected = pid == raw(kNoTid) ? "-? " : "-" + std::to_string(pid) + " ";
      ASSERT_NE(out.view().find(expected), std::string::npos) << out.view();
    }
  }
}

}  // namespace
}  // namespace strata::trace
