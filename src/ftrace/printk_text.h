// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ftrace/fields_text.h"
#include "ftrace/special_text.h"

namespace strata::ftrace {

// The text of ftrace:bprint, what trace_printk() wrote: the record names a format by its address in
// the kernel and holds its arguments, packed. A format is taken apart at its first event.
class PrintkText : public SpecialText {
 public:
  // Null for other types, and where a field is missing.
  static std::unique_ptr<PrintkText> of(const trace::EventType& type, const KernelNames& names);

  void print(const trace::Event& event, TextBuffer& out) override;

 private:
  // How arguments lie in the record, one after the other.
  struct Slot {
    enum class Kind : uint8_t { Number, Text, NumberOrText };
    Kind kind;
    uint8_t bytes;  // of a number, aligned to 4
    bool first;     // of its conversion: only before those is the record's end looked at
  };
  struct Argument {
    bool is_text = false;
    uint64_t number = 0;
    std::string_view text;
  };
  // A part of the text: a literal, then a conversion of the next arguments.
  struct Piece {
    enum class Kind : uint8_t { Nothing, Integer, String, Symbol, SymbolOffset, Address, Pointer };
    std::string literal;
    Kind kind = Kind::Nothing;
    bool star = false;
    Conversion conversion;
    std::string tail;     // its letters, shown where its argument is missing
    std::string invalid;  // of an Address: what is shown, since the record holds none
  };
  struct Format {
    std::vector<Slot> slots;
    std::vector<Piece> pieces;
  };

  PrintkText(const trace::EventType& type, const KernelNames& names);

  const Format& format_at(uint64_t address);
  Format take_apart(std::string_view text) const;
  static std::vector<Slot> slots_of(std::string_view text, uint8_t long_size);
  static std::vector<Piece> pieces_of(std::string_view text);
  void read_arguments(const Format& format, Bytes record, bool swap);
  // False where an argument is missing.
  bool print_piece(const Piece& piece, size_t& next, TextBuffer& out) const;
  void print_pointer(const Piece& piece, const Argument& argument, TextBuffer& out) const;

  const KernelNames& names_;
  trace::FieldRef ip_;
  trace::FieldRef fmt_;
  size_t buf_ = 0;
  std::unordered_map<uint64_t, Format> formats_;
  Format unknown_;
  std::vector<Argument> arguments_;
  FieldsText fields_;
  bool failed_ = false;  // an event whose arguments do not match makes all later ones fields
};

}  // namespace strata::ftrace
