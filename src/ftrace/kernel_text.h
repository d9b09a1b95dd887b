// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ftrace/format_file.h"

namespace strata::ftrace {

// The texts of a kernel that its events refer to, as tracefs and /proc give them. Views into the
// trace that holds them.
struct KernelText {
  Target target;
  std::string_view header_page;
  std::string_view kallsyms;        // "ffffffff81000000 T _stext\n" ...
  std::string_view printk_formats;  // "0xffffffff82345678 : \"format %d\\n\"\n" ...
  std::string_view release;
};

// Addresses to names. Parsed at the first question: most readers never ask.
class Symbols {
 public:
  explicit Symbols(std::string_view kallsyms) : text_(kallsyms) {}

  struct Found {
    std::string_view name;
    std::string_view module;  // empty: the kernel itself
    uint64_t start;
  };
  // The symbol that `address` lies in: the last one at or before it. The last of all has no known
  // end, so only its very start is in it.
  std::optional<Found> find(uint64_t address) const;

  std::optional<uint64_t> address_of(std::string_view name) const;

 private:
  struct Entry {
    uint64_t address;
    std::string_view name;
    std::string_view module;
  };
  // The same address is asked for again and again: answers are kept where its bits say.
  struct Answer {
    uint64_t address = 0;
    bool known = false;
    std::optional<Found> found;
  };
  static constexpr size_t kAnswers = 1024;

  void parse() const;
  std::optional<Found> search(uint64_t address) const;

  std::string_view text_;
  mutable bool parsed_ = false;
  mutable std::vector<Entry> entries_;
  mutable std::vector<Answer> answers_;
};

// Addresses of trace_printk() formats and of constant strings in the kernel, to their text: without
// the quotes and the line's end, escapes as they are. Parsed at the first question.
class PrintkFormats {
 public:
  explicit PrintkFormats(std::string_view text) : text_(text) {}
  std::optional<std::string_view> find(uint64_t address) const;

 private:
  void parse() const;

  std::string_view text_;
  mutable bool parsed_ = false;
  mutable std::map<uint64_t, std::string_view> formats_;
};

}  // namespace strata::ftrace
