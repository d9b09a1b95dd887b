// SPDX-License-Identifier: Apache-2.0
#include "ftrace/fields_text.h"

#include <algorithm>

#include "ftrace/address_text.h"
#include "ftrace/number_text.h"

namespace strata::ftrace {
namespace {

bool shows(char c) { return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r'); }

}  // namespace

FieldsText::FieldsText(const trace::EventType& type, Target target) : order_(type.order) {
  for (size_t i = type.common_fields; i < type.fields.size(); ++i) {
    const FieldNature nature = nature_of(type.fields[i], target);
    fields_.push_back({type.fields[i], nature, nature.text});
  }
}

void FieldsText::print(Bytes record, TextBuffer& out) {
  const size_t limit = out.size() + TextProgram::kMaxText;
  out.put("[FAILED TO PARSE]");
  for (Shown& shown : fields_) {
    if (out.size() > limit) return;
    out.put(' ');
    out.put(shown.field.name);
    out.put('=');
    if (shown.nature.array)
      print_array(shown, record, out);
    else
      print_number(shown, record, out);
  }
}

void FieldsText::print_array(Shown& shown, Bytes record, TextBuffer& out) const {
  const trace::FieldRef ref(shown.field, order_);
  Bytes bytes = read_bytes(record, ref);
  if (shown.text) {
    const std::string_view all = as_text(bytes);
    const std::string_view text = all.substr(0, std::min(all.find('\0'), all.size()));
    if (std::all_of(text.begin(), text.end(), shows)) {
      // It goes on to its NUL, wherever that is.
      if (text.size() < all.size() || bytes.empty()) return out.put(text);
      const std::string_view rest =
          as_text(record.subspan(static_cast<size_t>(bytes.data() - record.data())));
      return out.put(rest.substr(0, std::min(rest.find('\0'), rest.size())));
    }
    shown.text = false;
  }
  out.put("ARRAY[");
  char* text = out.room(4 * bytes.size() + 1);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) {
      *text++ = ',';
      *text++ = ' ';
    }
    text = write_hex_byte(text, static_cast<uint8_t>(bytes[i]));
  }
  *text++ = ']';
  out.advance_to(text);
}

void FieldsText::print_number(const Shown& shown, Bytes record, TextBuffer& out) const {
  const trace::FieldRef ref = trace::FieldRef(shown.field, order_).plain();
  const auto value = static_cast<uint64_t>(read_integer(record, ref).value_or(0));
  Conversion c{.letter = 'd', .bytes = 8};
  if (shown.nature.pointer || (shown.nature.of_long && !shown.field.is_signed)) {
    c = {.letter = 'x', .bytes = 8};
    out.put("0x");
  } else if (!shown.field.is_signed) {
    c.letter = 'u';
  } else if (shown.field.size == 4 && shown.nature.of_long) {
    c = {.letter = 'x', .bytes = 4};
    out.put("0x");
  } else if (shown.field.size == 4 || shown.field.size == 1) {
    c.bytes = static_cast<uint8_t>(shown.field.size);
  } else if (shown.field.size == 2) {
    c.bytes = 2;
    c.width = 2;
  }
  out.advance_to(write_integer(out.room(integer_room(c, -1)), c, value, -1));
}

}  // namespace strata::ftrace
