// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>
#include <vector>

#include "top/key_reader.h"

// The first byte says how the others are cut: the keys are the same however they come.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::top;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = 1 + data[0] % 7;

  const auto check = [](const Key& key) {
    if (key.code == KeyCode::Character && !key.control && !key.alt &&
        (key.character < 0x20 || (key.character >= 0x7f && key.character < 0xa0) ||
         key.character > 0x10ffff))
      __builtin_trap();
  };
  std::vector<Key> whole;
  KeyReader reader;
  reader.add(bytes);
  while (std::optional<Key> key = reader.next()) {
    check(*key);
    whole.push_back(*key);
  }
  std::vector<Key> cut;
  KeyReader slow;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    slow.add(bytes.substr(at, piece));
    while (std::optional<Key> key = slow.next()) cut.push_back(*key);
  }
  if (cut != whole) __builtin_trap();
  slow.give_up();
  if (slow.is_waiting()) __builtin_trap();
  return 0;
}
