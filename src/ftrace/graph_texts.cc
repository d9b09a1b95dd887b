// SPDX-License-Identifier: Apache-2.0
#include "ftrace/graph_texts.h"

#include <algorithm>

namespace strata::ftrace {
namespace {

using trace::Event;
using trace::EventType;
using trace::FieldRef;

constexpr size_t kIndent = 2;

uint64_t read(const Event& event, FieldRef ref) {
  return static_cast<uint64_t>(event.integer(ref).value_or(0));
}

void put_indent(TextBuffer& out, uint64_t depth) {
  // Depths beyond a signed number's range count as none.
  const auto columns = static_cast<int32_t>(depth * kIndent);
  if (columns > 0) out.put(std::min(static_cast<size_t>(columns), TextProgram::kMaxText), ' ');
}

// What took long is marked.
void put_mark(TextBuffer& out, uint64_t nanoseconds) {
  const char mark = nanoseconds > 1'000'000'000 ? '$'
                    : nanoseconds > 1'000'000   ? '#'
                    : nanoseconds > 100'000     ? '!'
                    : nanoseconds > 10'000      ? '+'
                                                : ' ';
  out.put(mark);
  out.put(' ');
}

// "12.345 us  |  ", in seven columns where it fits.
void put_duration(TextBuffer& out, uint64_t nanoseconds) {
  constexpr size_t kColumns = 7;
  const size_t begin = out.size();
  out.put_decimal(nanoseconds / 1000);
  if (out.size() - begin < kColumns) {
    out.put('.');
    out.put_decimal(nanoseconds % 1000, 3, '0');
  }
  const size_t used = out.size() - begin;
  out.put(" us ");
  if (used < kColumns) out.put(kColumns - used, ' ');
  out.put("|  ");
}

void put_function(TextBuffer& out, const KernelNames& names, uint64_t address) {
  put_symbol(out, names, address, "");
}

struct GraphFields {
  explicit GraphFields(const EventType& type)
      : function(number_field(type, "func")),
        depth(number_field(type, "depth")),
        calltime(number_field(type, "calltime")),
        rettime(number_field(type, "rettime")) {}

  uint64_t duration(const Event& event) const {
    return read(event, rettime) - read(event, calltime);
  }

  FieldRef function;
  FieldRef depth;
  FieldRef calltime;
  FieldRef rettime;
};

class EntryText : public SpecialText {
 public:
  EntryText(const EventType& type, const KernelNames& names) : fields_(type), names_(names) {}
  bool complete() const { return fields_.function && fields_.depth; }

  void print(const Event& event, TextBuffer& out) override {
    out.put("             |  ");
    put_indent(out, read(event, fields_.depth));
    put_function(out, names_, read(event, fields_.function));
    out.put("() {");
  }

 private:
  GraphFields fields_;
  const KernelNames& names_;
};

class ExitText : public SpecialText {
 public:
  explicit ExitText(const EventType& type) : fields_(type) {}
  bool complete() const { return fields_.depth && fields_.calltime && fields_.rettime; }

  void print(const Event& event, TextBuffer& out) override {
    const uint64_t duration = fields_.duration(event);
    put_mark(out, duration);
    put_duration(out, duration);
    put_indent(out, read(event, fields_.depth));
    out.put('}');
  }

 private:
  GraphFields fields_;
};

}  // namespace

std::unique_ptr<SpecialText> graph_text(const EventType& type, const KernelNames& names) {
  if (type.system != "ftrace") return nullptr;
  if (type.name == "funcgraph_entry") {
    auto text = std::make_unique<EntryText>(type, names);
    if (text->complete()) return text;
  }
  if (type.name == "funcgraph_exit") {
    auto text = std::make_unique<ExitText>(type);
    if (text->complete()) return text;
  }
  return nullptr;
}

bool is_leaf(const Event& entry, const Event& next) {
  if (entry.type->system != "ftrace" || entry.type->name != "funcgraph_entry" ||
      next.type->system != "ftrace" || next.type->name != "funcgraph_exit")
    return false;
  const GraphFields call(*entry.type);
  const GraphFields back(*next.type);
  if (!call.function || !call.depth || !back.function || !back.calltime || !back.rettime)
    return false;
  return entry.tid() == next.tid() && read(entry, call.function) == read(next, back.function);
}

void print_leaf(const Event& entry, const Event& exit, const KernelNames& names, TextBuffer& out) {
  const GraphFields call(*entry.type);
  const GraphFields back(*exit.type);
  const uint64_t duration = back.duration(exit);
  put_mark(out, duration);
  put_duration(out, duration);
  put_indent(out, read(entry, call.depth));
  put_function(out, names, read(entry, call.function));
  out.put("();");
}

}  // namespace strata::ftrace
