// SPDX-License-Identifier: Apache-2.0
#include "ftrace/function_texts.h"

#include <algorithm>

#include "ftrace/address_text.h"
#include "ftrace/text_program.h"

namespace strata::ftrace {

using trace::Event;
using trace::EventType;
using trace::FieldRef;

void put_symbol(TextBuffer& out, const KernelNames& names, uint64_t address,
                std::string_view prefix) {
  if (const auto found = names.symbols.find(address)) return out.put(found->name);
  out.put(prefix);
  out.put_hex(address);
}

FieldRef number_field(const EventType& type, std::string_view name) {
  const trace::Field* field = type.find(name);
  if (!field || field < type.fields.data() + type.common_fields) return {};
  if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8) return {};
  return FieldRef(*field, type.order).plain();
}

size_t CallDepths::enter(CpuId cpu, std::string_view caller, std::string_view function) {
  std::vector<std::string_view>& stack = stacks_[cpu];
  const auto place = [&](size_t depth, std::string_view name) {
    if (name.empty()) return;
    if (depth < stack.size())
      stack[depth] = name;
    else
      stack.push_back(name);
  };
  const auto found = std::find(stack.begin(), stack.end(), caller);
  const auto depth = found == stack.end() ? 0 : static_cast<size_t>(found - stack.begin());
  if (found == stack.end()) place(0, caller);
  place(depth + 1, function);
  return depth;
}

namespace {

uint64_t read(const Event& event, FieldRef ref) {
  return static_cast<uint64_t>(event.integer(ref).value_or(0));
}

class FunctionText : public SpecialText {
 public:
  FunctionText(const EventType& type, const KernelNames& names, CallDepths& depths)
      : ip_(number_field(type, "ip")),
        parent_ip_(number_field(type, "parent_ip")),
        names_(names),
        depths_(depths) {}

  bool complete() const { return ip_ && parent_ip_; }

  void print(const Event& event, TextBuffer& out) override {
    constexpr size_t kIndent = 3;
    const uint64_t ip = read(event, ip_);
    const auto function = names_.symbols.find(ip);
    const auto caller = names_.symbols.find(read(event, parent_ip_));
    if (caller) {
      const size_t depth =
          depths_.enter(event.cpu, caller->name, function ? function->name : std::string_view());
      out.put(std::min(kIndent * depth, TextProgram::kMaxText), ' ');
    }
    if (function) return out.put(function->name);
    out.put("0x");
    out.put_hex(ip);
  }

 private:
  FieldRef ip_;
  FieldRef parent_ip_;
  const KernelNames& names_;
  CallDepths& depths_;
};

// One call standing for many: how many, and when the last was.
class RepeatsText : public SpecialText {
 public:
  RepeatsText(const EventType& type, const KernelNames& names, CallDepths& depths)
      : function_(type, names, depths),
        count_(number_field(type, "count")),
        top_delta_(number_field(type, "top_delta_ts")),
        bottom_delta_(number_field(type, "bottom_delta_ts")) {}

  bool complete() const { return function_.complete() && count_ && top_delta_ && bottom_delta_; }

  void print(const Event& event, TextBuffer& out) override {
    function_.print(event, out);
    out.put(" (count: ");
    out.put_decimal(static_cast<int64_t>(read(event, count_)));
    out.put("  last_ts: ");
    const uint64_t delta = read(event, top_delta_) << 32 | read(event, bottom_delta_);
    const uint64_t microseconds = (static_cast<uint64_t>(event.time.count) - delta + 500) / 1000;
    out.put_decimal(microseconds / 1'000'000, 5, ' ');
    out.put('.');
    out.put_decimal(microseconds % 1'000'000, 6, '0');
    out.put(')');
  }

 private:
  FunctionText function_;
  FieldRef count_;
  FieldRef top_delta_;
  FieldRef bottom_delta_;
};

class StackText : public SpecialText {
 public:
  StackText(const EventType& type, const KernelNames& names) : names_(names) {
    if (const trace::Field* caller = type.find("caller")) {
      offset_ = caller->offset;
      complete_ = true;
    }
  }

  bool complete() const { return complete_; }

  void print(const Event& event, TextBuffer& out) override {
    const bool wide = names_.target.long_size == 8;
    const size_t step = wide ? 8 : 4;
    const bool swap = event.type->order != kNativeOrder;
    out.put("<stack trace >\n");
    for (size_t at = offset_; at + step <= event.record.size(); at += step) {
      const std::byte* here = event.record.data() + at;
      const uint64_t address = wide ? load<uint64_t>(here, swap) : load<uint32_t>(here, swap);
      if (static_cast<uint32_t>(address) == UINT32_MAX) break;  // the list's end
      out.put("=> ");
      if (const auto found = names_.symbols.find(address)) {
        out.put(found->name);
        out.put(" (");
        out.put_hex(address);
        out.put(')');
      } else {
        out.put_hex(address);
      }
      out.put('\n');
    }
  }

 private:
  const KernelNames& names_;
  size_t offset_ = 0;
  bool complete_ = false;
};

class RawDataText : public SpecialText {
 public:
  RawDataText(const EventType& type, const KernelNames& names)
      : id_(number_field(type, "id")), names_(names) {
    if (const trace::Field* buf = type.find("buf")) {
      offset_ = buf->offset;
      complete_ = static_cast<bool>(id_);
    }
  }

  bool complete() const { return complete_; }

  void print(const Event& event, TextBuffer& out) override {
    out.put("# ");
    out.put_hex(read(event, id_));
    // trace-cmd goes by the recorded machine's longs and shows the reader's: where those are
    // longer, bytes come twice.
    const size_t step = names_.target.long_size == 8 ? 8 : 4;
    for (size_t at = offset_; at < event.record.size(); at += step) {
      const size_t end = std::min(at + sizeof(int64_t), event.record.size());
      for (size_t i = at; i < end; ++i) {
        out.put(' ');
        out.advance_to(write_hex_byte(out.room(2), static_cast<uint8_t>(event.record[i])));
      }
    }
  }

 private:
  FieldRef id_;
  const KernelNames& names_;
  size_t offset_ = 0;
  bool complete_ = false;
};

template <typename Text, typename... Arguments>
std::unique_ptr<SpecialText> if_complete(Arguments&&... arguments) {
  auto text = std::make_unique<Text>(std::forward<Arguments>(arguments)...);
  if (!text->complete()) return nullptr;
  return text;
}

}  // namespace

std::unique_ptr<SpecialText> function_text(const EventType& type, const KernelNames& names,
                                           CallDepths& depths) {
  if (type.system != "ftrace") return nullptr;
  if (type.name == "function") return if_complete<FunctionText>(type, names, depths);
  if (type.name == "func_repeats") return if_complete<RepeatsText>(type, names, depths);
  if (type.name == "kernel_stack") return if_complete<StackText>(type, names);
  if (type.name == "raw_data") return if_complete<RawDataText>(type, names);
  return nullptr;
}

}  // namespace strata::ftrace
