// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

namespace strata {

Bytes ByteReader::take(uint64_t size) {
  if (failed_ || remaining() < size) {
    failed_ = true;
    return {};
  }
  Bytes taken = bytes_.subspan(position_, size);
  position_ += size;
  return taken;
}

std::string_view ByteReader::string() {
  if (failed_ || remaining() == 0) {
    failed_ = true;
    return {};
  }
  std::string_view rest = as_text(bytes_.subspan(position_));
  size_t length = rest.find('\0');
  if (length == std::string_view::npos) {
    failed_ = true;
    return {};
  }
  position_ += length + 1;
  return rest.substr(0, length);
}

void ByteReader::seek(uint64_t position) {
  if (position > bytes_.size())
    failed_ = true;
  else
    position_ = position;
}

Error ByteReader::truncated(const std::string& file, std::string_view what) const {
  return {file, file_offset(), "the file ends within " + std::string(what)};
}

}  // namespace strata
