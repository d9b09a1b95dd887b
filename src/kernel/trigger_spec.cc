// SPDX-License-Identifier: Apache-2.0
#include "kernel/trigger_spec.h"

#include "base/time_text.h"

namespace strata::kernel {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kLatency = "latency";

// The text from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { skip_blanks(); }

  size_t position() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  // What there is before one of these, or the end.
  std::string_view until(std::string_view ends) {
    const std::string_view word = rest().substr(0, rest().find_first_of(ends));
    at_ += word.size();
    skip_blanks();
    return word;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    skip_blanks();
    return true;
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  std::string_view text_;
  size_t at_ = 0;
};

Error wrong(const Reader& reader, std::string cause) {
  return {"", reader.position(), std::move(cause)};
}

Result<TriggerSpec> parse_latency(Reader reader, TriggerSpec spec) {
  reader.take("(");
  spec.event = reader.until(" \t,)");
  if (spec.event.empty()) return wrong(reader, "here the event belongs that begins it");
  if (!reader.take(",")) return wrong(reader, "here ',' and the event belong that ends it");
  spec.exit = reader.until(" \t,)");
  if (spec.exit.empty()) return wrong(reader, "here the event belongs that ends it");
  if (!reader.take(")")) return wrong(reader, "here ')' belongs");
  if (!reader.take(">")) return wrong(reader, "here '>' and a time belong, as in > 50ms");
  const Result<Nanoseconds> time = parse_duration(reader.rest());
  if (!time) return wrong(reader, time.error().cause);
  spec.longer_than = *time;
  return spec;
}

}  // namespace

Result<TriggerSpec> parse_trigger(std::string_view text) {
  Reader reader(text);
  TriggerSpec spec;
  spec.text = text;
  const std::string_view event = reader.until(" \t(");
  if (event == kLatency && reader.rest().starts_with('(')) return parse_latency(reader, spec);
  if (event.empty()) return wrong(reader, "here an event belongs: [SYSTEM:]EVENT");
  spec.event = event;
  spec.filter = reader.rest();
  return spec;
}

}  // namespace strata::kernel
