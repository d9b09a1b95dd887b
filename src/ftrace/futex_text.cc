// SPDX-License-Identifier: Apache-2.0
#include "ftrace/futex_text.h"

#include <array>

#include "ftrace/number_text.h"

namespace strata::ftrace {
namespace {

using trace::Event;
using trace::EventType;
using trace::FieldRef;

// How an argument is shown, if at all.
enum class Show : uint8_t { No, Count, Value };

// futex(2): what `val` is, whether `utime` is a timeout or a second count, and which of the other
// two arguments are used.
struct Operation {
  std::string_view name;
  Show val = Show::No;
  bool timeout = false;
  bool val2 = false;
  bool uaddr2 = false;
  bool val3 = false;
};
constexpr std::array<Operation, 13> kOperations{{
    {.name = "WAIT", .val = Show::Value, .timeout = true},
    {.name = "WAKE", .val = Show::Count},
    {.name = "FD", .val = Show::Count},
    {.name = "REQUEUE", .val = Show::Count, .val2 = true, .uaddr2 = true},
    {.name = "CMP_REQUEUE", .val = Show::Count, .val2 = true, .uaddr2 = true, .val3 = true},
    {.name = "WAKE_OP", .val = Show::Count, .val2 = true, .uaddr2 = true, .val3 = true},
    {.name = "LOCK_PI", .timeout = true},
    {.name = "UNLOCK_PI"},
    {.name = "TRYLOCK_PI"},
    {.name = "WAIT_BITSET", .val = Show::Value, .timeout = true, .val3 = true},
    {.name = "WAKE_BITSET", .val = Show::Count, .val3 = true},
    {.name = "WAIT_REQUEUE_PI", .val = Show::Value, .timeout = true, .uaddr2 = true, .val3 = true},
    {.name = "CMP_REQUEUE_PI", .val = Show::Count, .val2 = true, .uaddr2 = true, .val3 = true},
}};
constexpr uint64_t kPrivate = 128;
constexpr uint64_t kClockRealtime = 256;

class FutexText : public SpecialText {
 public:
  FutexText(const EventType& type, const KernelNames& names, TextProgram own)
      : uaddr_(number_field(type, "uaddr")),
        op_(number_field(type, "op")),
        val_(number_field(type, "val")),
        utime_(number_field(type, "utime")),
        uaddr2_(number_field(type, "uaddr2")),
        val3_(number_field(type, "val3")),
        names_(names),
        own_(std::move(own)) {}

  bool complete() const { return uaddr_ && op_ && val_ && utime_ && uaddr2_ && val3_; }

  void print(const Event& event, TextBuffer& out) override {
    const uint64_t op = read(event, op_);
    const uint64_t command = op & ~(kPrivate | kClockRealtime);
    if (command >= kOperations.size()) return own_.run(event.record, out, names_);
    const Operation& operation = kOperations[command];
    out.put("op=FUTEX_");
    out.put(operation.name);
    if (op & kPrivate) out.put("|FUTEX_PRIVATE_FLAG");
    if (op & kClockRealtime) out.put("|FUTEX_CLOCK_REALTIME");
    put_value(out, " uaddr=0x", read(event, uaddr_));
    if (operation.val == Show::Value) put_value(out, " val=0x", read(event, val_));
    if (operation.val == Show::Count) put_count(out, " val=", read(event, val_));
    if (operation.timeout) put_value(out, " utime=0x", read(event, utime_));
    if (operation.val2) put_count(out, " val2=", read(event, utime_));
    if (operation.uaddr2) put_value(out, " uaddr2=0x", read(event, uaddr2_));
    if (operation.val3) put_value(out, " val3=0x", read(event, val3_));
  }

 private:
  static uint64_t read(const Event& event, FieldRef ref) {
    return static_cast<uint64_t>(event.integer(ref).value_or(0));
  }
  static void put_value(TextBuffer& out, std::string_view name, uint64_t value) {
    constexpr Conversion kEightDigits{.letter = 'x', .bytes = 8, .zeros = true, .width = 8};
    out.put(name);
    out.advance_to(
        write_integer(out.room(integer_room(kEightDigits, -1)), kEightDigits, value, -1));
  }
  static void put_count(TextBuffer& out, std::string_view name, uint64_t value) {
    out.put(name);
    out.put_decimal(value);
  }

  FieldRef uaddr_;
  FieldRef op_;
  FieldRef val_;
  FieldRef utime_;
  FieldRef uaddr2_;
  FieldRef val3_;
  const KernelNames& names_;
  TextProgram own_;
};

}  // namespace

std::unique_ptr<SpecialText> futex_text(const EventType& type, const KernelNames& names,
                                        TextProgram own) {
  if (type.system != "syscalls" || type.name != "sys_enter_futex") return nullptr;
  auto text = std::make_unique<FutexText>(type, names, std::move(own));
  if (!text->complete()) return nullptr;
  return text;
}

}  // namespace strata::ftrace
