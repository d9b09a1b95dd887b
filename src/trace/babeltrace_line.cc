// SPDX-License-Identifier: Apache-2.0
#include "trace/babeltrace_line.h"

#include <algorithm>
#include <cstring>

namespace strata::trace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// "[hh:mm:ss.nnnnnnnnn] (+s.nnnnnnnnn) "
constexpr size_t kTimeRoom = 96;

char* write_text(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// " (+0.000001695) ", or what stands there for the first event.
char* write_step(char* at, std::optional<Nanoseconds> before, Nanoseconds now) {
  if (!before)
    return write_text(at,
                      "(+?.?????????"
                      ") ");
  at = write_text(at, "(+");
  const auto step = static_cast<uint64_t>(std::max<int64_t>(now.count - before->count, 0));
  at = write_decimal(at, step / kSecond);
  *at++ = '.';
  at = write_padded(at, step % kSecond, 9);
  return write_text(at, ") ");
}

}  // namespace

BabeltraceLine::BabeltraceLine(const Trace& trace, Before& before)
    : trace_(trace), before_(before), timed_(trace.info().clock.is_time) {
  const auto property = [&](std::string_view name) {
    const auto& all = trace.info().properties;
    const auto it = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
    return it == all.end() ? std::string() : it->second;
  };
  origin_ = trace.info().machine;
  if (const std::string process = property("process"); !process.empty())
    origin_ += (origin_.empty() ? "" : ":") + process;
  if (const std::string id = property("process id"); !id.empty())
    origin_ += (origin_.empty() ? "(" : ":(") + id + ")";
  if (!origin_.empty()) origin_ += ' ';
}

void BabeltraceLine::print(const Event& event, TextBuffer& out) {
  const std::string* name = names_.find(event.type);
  if (name == nullptr) {
    const EventType& type = *event.type;
    name =
        names_.add(&type, (type.system.empty() ? type.name : type.system + ":" + type.name) + ": ");
  }
  char* at = out.room(kTimeRoom + origin_.size() + name->size());
  if (timed_) {
    *at++ = '[';
    at = wall_.write(at, event.time);
    at = write_text(at, "] ");
    at = write_step(at, before_.time, event.time);
    before_.time = event.time;
  }
  at = write_text(at, origin_);
  at = write_text(at, *name);
  out.advance_to(at);
  const size_t before_packet = out.size();
  trace_.print_packet(event, out);
  if (out.size() > before_packet) out.put(std::string_view(", "));
  trace_.print_fields(event, out);
  out.put('\n');
}

}  // namespace strata::trace
