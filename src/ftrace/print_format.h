// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ftrace/format_file.h"
#include "trace/event_type.h"

namespace strata::ftrace {

// An argument of a print format, as a tree.
struct Expression {
  enum class Kind : uint8_t {
    Nothing,             // what a unary operator has on its left
    Atom,                // a number, a string, a name: `text`
    Field,               // REC->name
    Flags,               // __print_flags(left, text, choices)
    Symbolic,            // __print_symbolic(left, choices)
    Hex,                 // __print_hex(left, right)
    HexString,           // __print_hex_str(left, right): the same without spaces
    Array,               // __print_array(left, right, third)
    Cast,                // (text)left
    DynamicString,       // __get_str(field)
    DynamicArray,        // __get_dynamic_array(field)
    DynamicArrayLength,  // __get_dynamic_array_len(field)
    Bitmask,             // __get_bitmask(field)
    CpuList,             // __get_cpumask(field)
    Operation,           // left text right; `?` has a `:` on its right; `[` is an index
    Function,            // text(arguments), one that a plugin of libtraceevent brings
  };
  // A value of __print_flags and __print_symbolic, with its name.
  struct Choice {
    int64_t value;
    std::string name;
  };

  Kind kind = Kind::Nothing;
  bool quoted = false;  // an atom that was a string
  int priority = 0;     // of an operator, while the tree grows
  std::string text;
  Expression* left = nullptr;
  Expression* right = nullptr;
  Expression* third = nullptr;
  const trace::Field* field = nullptr;  // null where the event has none of that name
  std::vector<Choice> choices;
  std::vector<Expression*> arguments;
};

// A print format, parsed: `"prev_comm=%s ...", REC->prev_comm, ...`
struct PrintFormat {
  std::string format;
  std::vector<const Expression*> arguments;
  std::deque<Expression> expressions;  // owns the trees; its elements never move
  bool complete = true;  // false: something follows that is no argument, and is ignored
};

// Parses the print format of `type`, which must outlive the result.
//
// The language looks like C, but what an event's text is has been defined by libtraceevent, which
// binds operators its own way: a parenthesis on the right of an operator does not keep that
// operator's looser-binding ones together, what follows `c` in `a ? b : c` applies to all of it,
// and so on. The trees built here are those trees, so that the texts are those texts. What it
// refuses is refused here.
Result<PrintFormat> parse_print_format(const trace::EventType& type, Target target);

// The same for a text of our own in place of the type's own format. It knows two functions more.
Result<PrintFormat> parse_print_format(const trace::EventType& type, Target target,
                                       std::string_view text);

constexpr std::string_view kCallSite = "strata_call_site";            // "(name+0x10) " or nothing
constexpr std::string_view kTimerFunction = "strata_timer_function";  // "name/0x0"

// The number that an atom stands for: decimal, octal or hexadecimal up to the first other
// character.
uint64_t atom_value(std::string_view text);

// What a cast to the type `name` leaves of a value: it narrows to the types with a known width, and
// leaves all else alone, signs too.
uint64_t cast_mask(std::string_view name);

}  // namespace strata::ftrace
