// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"
#include "trace/learned_names.h"
#include "trace/trace.h"
#include "trace/type_table.h"

namespace strata::trace {

// An event as one JSON object on a line of its own:
//
//     {"ts_ns":2084021443000,"machine":"web1","trace":"trace.dat","cpu":2,"tid":1234,"comm":"bash",
//      "system":"sched","event":"sched_switch","fields":{"prev_comm":"bash","prev_pid":1234,...}}
//
// and "buffer" where it is not the main one, "context" with what its tracer adds to every event,
// "lost" and "lost_unknown" where events were lost just before it; a thread that nobody knows is
// null. Numbers are written in full: a reader that keeps them as doubles loses digits of those
// beyond 2^53. Values are the fields' own, not the text that the tracer makes of them.
class JsonLine {
 public:
  // `trace` and `names` must outlive it. Names longer than 32 bytes are cut. `fields`: only these;
  // none: all of the event's own.
  JsonLine(const Trace& trace, const LearnedNames& names, std::string_view trace_name,
           std::vector<std::string> fields);

  void print(const Event& event, std::string_view buffer, TextBuffer& out);

 private:
  using Tasks = TaskTexts<224>;  // any name of 32 bytes, all of them escaped

  struct NamedField {
    std::string key;  // "prev_comm":
    FieldRef ref;
    const Field* field;
  };
  struct TypeText {
    std::string name;  // ,"system":"sched","event":"sched_switch"
    std::vector<NamedField> context;
    std::vector<NamedField> fields;
  };

  TypeText* add_type(const EventType& type);
  void make_task(Tasks::Text& text, Tid tid) const;
  void put_fields(const Event& event, const std::vector<NamedField>& fields, TextBuffer& out) const;

  const Trace& trace_;
  const LearnedNames& names_;
  std::vector<std::string> chosen_;
  std::string origin_;  // ,"machine":"web1","trace":"trace.dat"
  Tasks tasks_;
  TypeTable<TypeText> types_;
};

}  // namespace strata::trace
