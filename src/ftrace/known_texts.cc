// SPDX-License-Identifier: Apache-2.0
#include "ftrace/known_texts.h"

#include <algorithm>
#include <array>
#include <string>

#include "ftrace/print_format.h"
#include "ftrace/print_format_compiler.h"

namespace strata::ftrace {
namespace {

using trace::EventType;

std::optional<TextProgram> compiled(const EventType& type, const KernelNames& names,
                                    std::string_view text) {
  const auto format = parse_print_format(type, names.target, text);
  if (!format) return std::nullopt;
  auto program = compile(*format, type, names);
  if (!program) return std::nullopt;
  return std::move(*program);
}

// The field as an argument, where the event has it as a number.
bool has_number(const EventType& type, std::string_view name) {
  const trace::Field* field = type.find(name);
  return field && (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
}

// A format and its arguments, field by field.
class OwnFormat {
 public:
  explicit OwnFormat(const EventType& type) : type_(type) {}

  OwnFormat& add(std::string_view format, std::string_view name) {
    if (!type_.find(name)) complete_ = false;
    return argument(format, "REC->" + std::string(name));
  }
  OwnFormat& add_if_there(std::string_view format, std::string_view name) {
    return has_number(type_, name) ? add(format, name) : *this;
  }
  OwnFormat& argument(std::string_view format, std::string expression) {
    format_ += format;
    arguments_ += ", " + std::move(expression);
    return *this;
  }
  std::optional<std::string> text() const {
    if (!complete_) return std::nullopt;
    return "\"" + format_ + "\"" + arguments_;
  }

 private:
  const EventType& type_;
  std::string format_;
  std::string arguments_;
  bool complete_ = true;
};

// The letters of a task's state, "R" where it is none of the sleeping ones.
std::string state_letters(const std::string& state) {
  return "__print_flags(" + state +
         " & 0xff, \"|\", {-1, \"R\"}, {1, \"S\"}, {2, \"D\"}, {4, \"T\"}, {8, \"t\"}, "
         "{16, \"Z\"}, {32, \"X\"}, {64, \"x\"}, {128, \"W\"})";
}

std::optional<std::string> sched_switch(const EventType& type) {
  OwnFormat format(type);
  format.add("%s:", "prev_comm").add("%lld ", "prev_pid").add("[%d] ", "prev_prio");
  if (!has_number(type, "prev_state")) return std::nullopt;
  format.argument("%s ==> ", state_letters("REC->prev_state"));
  format.add("%s:", "next_comm").add("%lld ", "next_pid").add("[%d]", "next_prio");
  return format.text();
}

std::optional<std::string> sched_wakeup(const EventType& type) {
  return OwnFormat(type)
      .add("%s:", "comm")
      .add("%lld ", "pid")
      .add("[%lld]", "prio")
      .add_if_there(" success=%lld", "success")
      .add_if_there(" CPU:%03llu", "target_cpu")
      .text();
}

OwnFormat timer(const EventType& type, std::string_view first) {
  OwnFormat format(type);
  format.add(first, has_number(type, "timer") ? "timer" : "hrtimer");
  return format;
}

std::optional<std::string> hrtimer_expire_entry(const EventType& type) {
  OwnFormat format = timer(type, "hrtimer=0x%llx now=");
  format.add("%llu", "now");
  if (has_number(type, "function"))
    format.argument(" function=%s", std::string(kTimerFunction) + "(REC->function)");
  return format.text();
}

std::optional<std::string> hrtimer_start(const EventType& type) {
  OwnFormat format = timer(type, "hrtimer=0x%llx");
  if (has_number(type, "function"))
    format.argument(" function=%s", std::string(kTimerFunction) + "(REC->function)");
  return format.add(" expires=%llu", "expires").add(" softexpires=%llu", "softexpires").text();
}

std::optional<std::string> tlb_flush(const EventType& type) {
  OwnFormat format(type);
  format.add("pages=%ld", "pages");
  format.argument(
      " reason=%s",
      "(REC->reason < 4) ? __print_symbolic(REC->reason, {0, \"flush on task switch\"}, "
      "{1, \"remote shootdown\"}, {2, \"local shootdown\"}, "
      "{3, \"local mm shootdown\"}) : \"\"");
  return format.add(" (%lld)", "reason").text();
}

struct Entry {
  std::string_view system;
  std::string_view name;
  std::optional<std::string> (*text)(const EventType& type);
};
constexpr std::array<Entry, 6> kTexts{{{"sched", "sched_switch", sched_switch},
                                       {"sched", "sched_wakeup", sched_wakeup},
                                       {"sched", "sched_wakeup_new", sched_wakeup},
                                       {"timer", "hrtimer_expire_entry", hrtimer_expire_entry},
                                       {"timer", "hrtimer_start", hrtimer_start},
                                       {"tlb", "tlb_flush", tlb_flush}}};

constexpr std::array<std::string_view, 6> kAllocations{
    "kfree",          "kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node",
    "kmem_cache_free"};

}  // namespace

std::optional<KnownText> known_text(const EventType& type, const KernelNames& names) {
  KnownText known;
  for (const Entry& entry : kTexts) {
    if (entry.system != type.system || entry.name != type.name) continue;
    const auto text = entry.text(type);
    if (!text) return std::nullopt;
    auto program = compiled(type, names, *text);
    if (!program) return std::nullopt;
    known.programs.push_back(std::move(*program));
    return known;
  }
  // Who allocated comes first, in brackets; then the print format.
  const bool allocation = std::any_of(kAllocations.begin(), kAllocations.end(),
                                      [&](std::string_view name) { return name == type.name; });
  if (type.system != "kmem" || !allocation || !has_number(type, "call_site")) return std::nullopt;
  const auto format = parse_print_format(type, names.target);
  if (!format) return std::nullopt;
  auto whole = compile(*format, type, names);
  auto site = compiled(type, names, "\"%s\", " + std::string(kCallSite) + "(REC->call_site)");
  if (!whole || !site) return std::nullopt;
  known.programs.push_back(std::move(*site));
  known.programs.push_back(std::move(*whole));
  return known;
}

}  // namespace strata::ftrace
