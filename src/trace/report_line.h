// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"
#include "base/time_text.h"
#include "trace/learned_names.h"
#include "trace/trace.h"
#include "trace/type_table.h"

namespace strata::trace {

// How events of a trace are shown as lines of text.
struct LineOptions {
  TimeStyle time = TimeStyle::Raw;
  Nanoseconds origin;               // of relative times
  bool with_date = false;           // of wall times
  std::vector<std::string> fields;  // only these, as name=value; none: as the tracer shows them
  bool label_once = false;          // not again behind a line about losses, as trace-cmd has it
};

// An event as `trace-cmd report` (3.1.6) prints it:
//
//               bash-1234  [002]  2084.021443: sched_switch:         bash:1234 [120] S ==> ...
//
// preceded by "CPU:2 [12 EVENTS DROPPED]" where some were lost. What does not change between events
// (a thread's column, a type's name with its padding, the seconds) is made once and copied.
class ReportLine {
 public:
  // `trace` and `names` must outlive it. Names longer than 32 characters are cut.
  ReportLine(const Trace& trace, const LearnedNames& names, LineOptions options);

  // `label` comes first: which trace or buffer it is, where several are shown.
  void print(const Event& event, std::string_view label, TextBuffer& out);
  // Two events on one line: Trace::is_pair().
  void print_pair(const Event& first, const Event& second, std::string_view label, TextBuffer& out);

 private:
  static constexpr size_t kTaskSize = 48;
  static constexpr size_t kNameStart = 32;
  using Tasks = TaskTexts<kTaskSize>;

  struct ChosenField {
    std::string prefix;  // "name="
    FieldRef field;
  };
  struct TypeText {
    std::string name;             // " sched_switch:         "
    char start[kNameStart] = {};  // its first characters; nearly always all of them
    std::vector<ChosenField> fields;
  };

  // All up to the fields.
  const TypeText& start(const Event& event, std::string_view label, TextBuffer& out);
  TypeText* add_type(const EventType& type);
  void make_task(Tasks::Text& text, Tid tid) const;
  char* write_time(char* at, const Event& event);
  char* write_raw_time(char* at, uint64_t nanoseconds);
  void put_losses(const Event& event, std::string_view label, TextBuffer& out) const;
  void put_chosen(const Event& event, const TypeText& type, TextBuffer& out) const;

  const Trace& trace_;
  const LearnedNames& names_;
  LineOptions options_;
  bool timed_;
  Tasks tasks_;
  TypeTable<TypeText> types_;
  WallClock wall_;
  uint64_t second_begin_ = 0;  // of the second whose text is kept
  char second_text_[32] = "     0.";
  unsigned second_size_ = 7;
};

}  // namespace strata::trace
