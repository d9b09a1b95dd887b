// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe_argument.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "kernel/x86_registers.h"

namespace strata::kernel {
namespace {

constexpr size_t kMostArguments = 64;  // the kernel takes 128
constexpr size_t kLongestName = 31;    // what the kernel takes
constexpr unsigned kMostFunctionArguments = 32;
constexpr int kDeepest = 12;  // memory through memory; the kernel's program has 16 steps

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == ','; }

bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value, base);
  return !text.empty() && problem == std::errc() && stopped == end;
}

std::optional<unsigned> small_number(std::string_view text) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (text.empty() || problem != std::errc() || stopped != end) return std::nullopt;
  return value;
}

bool is_width(std::string_view text) {
  return text == "8" || text == "16" || text == "32" || text == "64";
}

bool is_type(std::string_view type) {
  if (type.ends_with(']')) {
    const size_t open = type.find('[');
    if (open == std::string_view::npos) return false;
    const auto count = small_number(type.substr(open + 1, type.size() - open - 2));
    if (!count || *count == 0 || *count > 64) return false;
    type = type.substr(0, open);
  }
  if (type == "string" || type == "ustring" || type == "char" || type == "symbol") return true;
  if (type.empty()) return false;
  if (type[0] == 'u' || type[0] == 's' || type[0] == 'x') return is_width(type.substr(1));
  if (type[0] != 'b') return false;
  const size_t at = type.find('@');
  const size_t slash = type.find('/');
  if (at == std::string_view::npos || slash == std::string_view::npos || slash < at) return false;
  const auto width = small_number(type.substr(1, at - 1));
  const auto offset = small_number(type.substr(at + 1, slash - at - 1));
  const auto size = small_number(type.substr(slash + 1));
  return width && offset && size && is_width(type.substr(slash + 1)) && *width > 0 &&
         *width <= *size && *offset <= *size - *width;
}

class Parser {
 public:
  Parser(std::string_view text, const ProbeView& view) : text_(text), view_(view) {}

  Result<std::vector<ProbeArgument>> run() {
    std::vector<ProbeArgument> arguments;
    for (;;) {
      while (!at_end() && is_blank(text_[at_])) ++at_;
      if (at_end()) return arguments;
      const size_t start = at_;
      if (arguments.size() == kMostArguments) return fail(start, "more than 64 arguments");
      Result<ProbeArgument> argument = next();
      if (!argument) return std::move(argument).error();
      const bool twice =
          std::any_of(arguments.begin(), arguments.end(),
                      [&](const ProbeArgument& other) { return other.name == argument->name; });
      if (twice)
        return fail(start, "there is an argument '" + argument->name +
                               "' already: give it another name, as in 'other=...'");
      arguments.push_back(*std::move(argument));
    }
  }

 private:
  // A value, and what it says of its type and name.
  struct Value {
    std::string fetch;
    std::string type = "x64";
    std::string name;
    bool is_memory = false;
  };

  static Error fail(size_t column, std::string cause) {
    return Error{"", column, std::move(cause)};
  }
  bool at_end() const { return at_ >= text_.size(); }
  bool accept(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  template <typename Is>
  std::string_view take(Is is) {
    const size_t start = at_;
    while (!at_end() && is(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<ProbeArgument> next() {
    ProbeArgument argument;
    const size_t start = at_;
    const std::string_view word = take(is_word);
    if (!word.empty() && accept('=')) {
      if (!is_identifier(word)) return fail(start, "a name begins with a letter or '_'");
      if (word.size() > kLongestName) return fail(start, "a name has at most 31 characters");
      argument.name = word;
    } else {
      at_ = start;
    }
    Result<Value> read = value(0);
    if (!read) return std::move(read).error();
    argument.fetch = read->fetch;
    argument.type = read->type;
    if (argument.name.empty()) argument.name = as_identifier(read->name).substr(0, kLongestName);
    if (accept(':')) {
      const size_t type_at = at_;
      argument.type = take([](char c) { return !is_blank(c); });
      if (!is_type(argument.type))
        return fail(type_at,
                    "expected a type: u8, u16, u32, u64, s8 to s64, x8 to x64, char, string or "
                    "bWIDTH@OFFSET/SIZE");
    }
    if (!at_end() && !is_blank(text_[at_]))
      return fail(at_, "expected ':' and a type, a blank, or the end");
    // Texts and arrays are read from memory: what a register or the result of a function holds is
    // where they are.
    const bool points = argument.type.ends_with(']') || argument.type.ends_with("string");
    if (points && !read->is_memory) argument.fetch = "+0(" + argument.fetch + ")";
    return argument;
  }

  Result<Value> value(int depth) {
    if (depth > kDeepest) return fail(at_, "memory within memory more than 12 times over");
    const size_t start = at_;
    if (at_end()) return fail(at_, "expected a value: arg1, retval, %register, +8(arg1), ...");
    switch (text_[at_]) {
      case '+':
      case '-':
        return memory(depth);
      case '%':
        return a_register();
      case '@':
        return address();
      case '\\':
        return constant();
      default:
        break;
    }
    accept('$');
    const std::string_view word = take(is_word);
    if (word.starts_with("arg"))
      if (const auto number = small_number(word.substr(3))) return argument(start, *number);
    if (word == "retval") {
      if (!view_.at_return)
        return fail(start, "'retval' is known only where the function returns: FUNCTION%return");
      return Value{"$retval", "x64", "retval", false};
    }
    if (word == "comm") return Value{"$comm", "string", "comm", true};
    if (word == "stack") return Value{"$stack", "x64", "stack", false};
    if (word.starts_with("stack") && small_number(word.substr(5)))
      return Value{"$" + std::string(word), "x64", std::string(word), false};
    return fail(start,
                "expected a value: arg1, retval, comm, %register, +8(arg1), $stack1, "
                "@address or \\number");
  }

  Result<Value> argument(size_t start, unsigned number) {
    if (number == 0 || number > kMostFunctionArguments)
      return fail(start, "a function's arguments are arg1 to arg32");
    std::string name = "arg" + std::to_string(number);
    if (view_.in_kernel) return Value{"$" + name, "x64", name, false};
    if (view_.at_return)
      return fail(start, "where a function returns its arguments are gone: probe its entry too");
    if (!view_.at_entry)
      return fail(start,
                  "a function's arguments are known only at its first instruction; name a "
                  "register");
    return Value{x86_argument(number), "x64", name, false};
  }

  Result<Value> a_register() {
    const size_t start = at_++;
    const std::string_view word = take(is_word);
    const std::optional<X86Register> found = x86_register(word);
    if (!found) return fail(start, "there is no register '%" + std::string(word) + "'");
    if (found->second_byte)
      return Value{"%" + found->kernel_name, "b8@8/16", std::string(word), false};
    // The kernel's documentation calls a whole register "%ax", and so may a user.
    const int bits = word == found->kernel_name ? 64 : found->bytes * 8;
    return Value{"%" + found->kernel_name, "x" + std::to_string(bits), std::string(word), false};
  }

  Result<Value> memory(int depth) {
    std::string fetch(1, text_[at_++]);
    if (accept('u')) fetch += 'u';
    const size_t number_at = at_;
    const std::string_view distance = take(is_word);
    if (!is_number(distance)) return fail(number_at, "expected a number of bytes");
    fetch += distance;
    const size_t open_at = at_;
    if (!accept('(')) return fail(open_at, "expected '(' and what points to the memory");
    Result<Value> inner = value(depth + 1);
    if (!inner) return inner;
    if (!accept(')'))
      return fail(at_, "expected ')' for the '(' in column " + std::to_string(open_at + 1));
    return Value{fetch + "(" + inner->fetch + ")", "x64", inner->name + "_" + std::string(distance),
                 true};
  }

  Result<Value> address() {
    const size_t start = at_++;
    const std::string_view where = take([](char c) { return is_word(c) || c == '+' || c == '-'; });
    if (!view_.in_kernel && !is_number(where))
      return fail(start, "expected an address, or '+' and an offset in the file");
    if (where.empty()) return fail(start, "expected an address or a variable of the kernel");
    return Value{"@" + std::string(where), "x64", "at_" + std::string(where), true};
  }

  Result<Value> constant() {
    const size_t start = at_++;
    const std::string_view number = take([](char c) { return is_word(c) || c == '-'; });
    if (!is_number(number)) return fail(start + 1, "expected a number");
    return Value{"\\" + std::string(number), "s64", "constant", false};
  }

  std::string_view text_;
  ProbeView view_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<ProbeArgument>> parse_probe_arguments(std::string_view text,
                                                         const ProbeView& view) {
  return Parser(text, view).run();
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), is_word);
}

std::string as_identifier(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (!is_word(c)) c = '_';
  if (name.empty() || is_digit(name[0])) name.insert(0, 1, '_');
  return name;
}

}  // namespace strata::kernel
