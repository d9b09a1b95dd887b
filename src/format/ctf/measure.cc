// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/measure.h"

#include "trace/field.h"

namespace strata::ctf {
namespace {

// Arrays in arrays, as deep as anybody nests them.
constexpr size_t kMaxLoops = 16;

}  // namespace

bool Measure::run(Cursor& at, Slots& slots, uint32_t* bases) const {
  const uint64_t begin = at.position() & ~uint64_t{7};
  if (has_choices) std::fill(bases, bases + base_count, trace::kAbsent);
  bases[0] = static_cast<uint32_t>(at.position() - begin);
  uint64_t loops[kMaxLoops];
  size_t depth = 0;
  const auto slot_value = [&](const Step& step) { return slots[static_cast<size_t>(step.slot)]; };

  const size_t end = steps.size();
  for (size_t i = 0; i < end; ++i) {
    const Step& step = steps[i];
    switch (step.kind) {
      case Kind::Skip:
        if (!at.advance(step.bits)) return false;
        break;
      case Kind::Align:
        if (!at.align(static_cast<uint32_t>(step.bits))) return false;
        break;
      case Kind::Mark: {
        const uint64_t offset = at.position() - begin;
        if (offset >= trace::kAbsent) return false;
        bases[step.base] = static_cast<uint32_t>(offset);
        break;
      }
      case Kind::Save: {
        Cursor ahead = at;
        ahead.advance(step.bits);
        slots[static_cast<size_t>(step.slot)] = ahead.integer(*step.integer);
        if (!ahead.ok()) return false;
        break;
      }
      case Kind::Integer:
        at.integer(*step.integer);
        if (!at.ok()) return false;
        break;
      case Kind::Terminated:
        at.terminated(static_cast<unsigned>(step.bits));
        if (!at.ok()) return false;
        break;
      case Kind::Counted: {
        uint64_t bits = 0;
        if (__builtin_mul_overflow(slot_value(step), step.bits, &bits) || !at.advance(bits))
          return false;
        break;
      }
      case Kind::Loop: {
        const uint64_t count = step.slot >= 0 ? slot_value(step) : step.bits;
        // Elements of no size are not worth more rounds than there are bits.
        if (depth == kMaxLoops || count > at.left() + 64) return false;
        if (count == 0)
          i = step.jump - 1;
        else
          loops[depth++] = count;
        break;
      }
      case Kind::EndLoop:
        if (--loops[depth - 1] > 0)
          i = step.jump - 1;
        else
          --depth;
        break;
      case Kind::Choose: {
        const Variant::Choice* choice = choose(*step.variant, slot_value(step));
        if (choice == nullptr) return false;
        i = step.targets[static_cast<size_t>(choice - step.variant->choices.data())] - 1;
        break;
      }
      case Kind::Present:
        if (!is_present(*step.optional, slot_value(step))) i = step.jump - 1;
        break;
      case Kind::Jump:
        i = step.jump - 1;
        break;
    }
  }
  return true;
}

}  // namespace strata::ctf
