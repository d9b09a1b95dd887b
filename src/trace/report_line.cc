// SPDX-License-Identifier: Apache-2.0
#include "trace/report_line.h"

#include <algorithm>
#include <cstring>

#include "trace/field_text.h"

namespace strata::trace {
namespace {

constexpr size_t kNameColumns = 20;  // of an event's name
constexpr size_t kCommColumns = 16;
constexpr size_t kLongestComm = 32;
// What a line needs besides its label, the type's name and the fields: the thread, "[cpu]", a time.
constexpr size_t kFixedRoom = 48 + 16 + 48 + 32;
constexpr uint64_t kSecond = 1'000'000'000;

char* write_three(char* at, uint32_t value) {
  at[0] = static_cast<char>('0' + value / 100);
  at[1] = static_cast<char>('0' + value / 10 % 10);
  at[2] = static_cast<char>('0' + value % 10);
  return at + 3;
}

// The two halves do not wait for each other, as the digits of write_padded() do.
char* write_six(char* at, uint32_t value) {
  write_three(at, value / 1000);
  write_three(at + 3, value % 1000);
  return at + 6;
}

// Right-aligned in at least five columns, as trace-cmd's %5llu.
char* write_seconds(char* at, uint64_t seconds) {
  for (uint64_t limit = 10'000; limit > 1 && seconds < limit; limit /= 10) *at++ = ' ';
  return write_decimal(at, seconds);
}

}  // namespace

ReportLine::ReportLine(const Trace& trace, const LearnedNames& names, LineOptions options)
    : trace_(trace),
      names_(names),
      options_(std::move(options)),
      timed_(trace.info().in_nanoseconds),
      wall_(options_.with_date) {}

ReportLine::TypeText* ReportLine::add_type(const EventType& type) {
  TypeText text;
  text.name = " " + type.name + ": ";
  if (type.name.size() < kNameColumns) text.name.append(kNameColumns - type.name.size(), ' ');
  text.name.copy(text.start, kNameStart);
  for (const std::string& name : options_.fields)
    if (FieldRef field = type.ref(name)) text.fields.push_back({name + "=", field});
  return types_.add(&type, std::move(text));
}

// "            bash-1234  [": %16s-%-5d and what follows.
void ReportLine::make_task(Tasks::Text& text, Tid tid) const {
  std::string_view name = names_.names().find(tid).substr(0, kLongestComm);
  text.named = raw(tid) == 0 || names_.names().knows(tid);
  text.version = names_.version();
  char* at = text.text;
  for (size_t i = name.size(); i < kCommColumns; ++i) *at++ = ' ';
  std::memcpy(at, name.data(), name.size());
  at += name.size();
  *at++ = '-';
  char* number = at;
  if (tid == kNoTid) {
    *at++ = '?';
  } else {
    at = write_decimal(at, int64_t{raw(tid)});
  }
  while (at < number + 5) *at++ = ' ';
  *at++ = ' ';
  *at++ = '[';
  text.size = static_cast<uint8_t>(at - text.text);
}

char* ReportLine::write_raw_time(char* at, uint64_t nanoseconds) {
  const uint64_t rounded = nanoseconds + 500;
  uint64_t since = rounded - second_begin_;
  if (since >= kSecond) [[unlikely]] {
    const uint64_t second = rounded / kSecond;
    second_begin_ = second * kSecond;
    since = rounded - second_begin_;
    second_text_[0] = ' ';
    char* end = write_seconds(second_text_ + 1, second);
    *end++ = '.';
    second_size_ = static_cast<unsigned>(end - second_text_);
  }
  std::memcpy(at, second_text_, sizeof second_text_);
  return write_six(at + second_size_, static_cast<uint32_t>(since) / 1000);
}

char* ReportLine::write_time(char* at, const Event& event) {
  const auto time = static_cast<uint64_t>(event.time.count);
  if (options_.time == TimeStyle::Raw && timed_) [[likely]] {
    at = write_raw_time(at, time);
  } else if (options_.time == TimeStyle::Wall) {
    *at++ = ' ';
    at = wall_.write(at, event.time);
  } else if (!timed_) {
    uint64_t shown = time;
    if (options_.time == TimeStyle::Relative) shown -= static_cast<uint64_t>(options_.origin.count);
    char digits[20];
    char* end = write_decimal(digits, shown);
    for (auto size = end - digits; size < 12; ++size) *at++ = ' ';
    std::memcpy(at, digits, sizeof digits);
    at += end - digits;
  } else {
    uint64_t since = time - static_cast<uint64_t>(options_.origin.count);
    *at++ = ' ';
    if (event.time < options_.origin) {  // the clock ran backwards
      *at++ = '-';
      since = 0 - since;
    }
    at = write_seconds(at, since / kSecond);
    *at++ = '.';
    at = write_padded(at, since % kSecond, 9);
  }
  *at++ = ':';
  return at;
}

const ReportLine::TypeText& ReportLine::start(const Event& event, std::string_view label,
                                              TextBuffer& out) {
  if (event.lost != 0 || event.lost_unknown) [[unlikely]] {
    put_losses(event, label, out);
    if (options_.label_once) label = {};
  }
  TypeText* type = types_.find(event.type);
  if (!type) [[unlikely]]
    type = add_type(*event.type);

  char* at = out.room(label.size() + kFixedRoom + type->name.size());
  if (!label.empty()) {
    std::memcpy(at, label.data(), label.size());
    at += label.size();
  }

  const Tid tid = event.tid();
  Tasks::Text& task = tasks_.at(tid);
  if (Tasks::stale(task, names_.version())) [[unlikely]]
    make_task(task, tid);
  std::memcpy(at, task.text, kTaskSize);
  at += task.size;

  const uint32_t cpu = raw(event.cpu);
  at = cpu < 1000 ? write_three(at, cpu) : write_decimal(at, uint64_t{cpu});
  *at++ = ']';
  at = write_time(at, event);

  std::memcpy(at, type->start, kNameStart);
  if (type->name.size() > kNameStart) [[unlikely]]
    std::memcpy(at, type->name.data(), type->name.size());
  out.advance_to(at + type->name.size());
  return *type;
}

void ReportLine::print(const Event& event, std::string_view label, TextBuffer& out) {
  const TypeText& type = start(event, label, out);
  if (options_.fields.empty()) {
    trace_.print_fields(event, out);
    if (out.back() == '\n') out.truncate(out.size() - 1);
  } else {
    put_chosen(event, type, out);
  }
  out.put('\n');
}

void ReportLine::print_pair(const Event& first, const Event& second, std::string_view label,
                            TextBuffer& out) {
  start(first, label, out);
  trace_.print_pair(first, second, out);
  out.put('\n');
}

void ReportLine::put_chosen(const Event& event, const TypeText& type, TextBuffer& out) const {
  bool first = true;
  for (const ChosenField& chosen : type.fields) {
    if (!first) out.put(' ');
    first = false;
    out.put(chosen.prefix);
    put_field_text(event, chosen.field, out);
  }
}

void ReportLine::put_losses(const Event& event, std::string_view label, TextBuffer& out) const {
  auto put = [&](bool counted) {
    out.put(label);
    out.put(std::string_view("CPU:"));
    out.put_decimal(uint64_t{raw(event.cpu)});
    out.put(std::string_view(" ["));
    if (counted) {
      out.put_decimal(event.lost);
      out.put(' ');
    }
    out.put(std::string_view("EVENTS DROPPED]\n"));
  };
  if (event.lost != 0) put(true);
  if (event.lost_unknown) put(false);
}

}  // namespace strata::trace
