// SPDX-License-Identifier: Apache-2.0
//
// Whatever is read as a table is written as one that reads the same, is packed and unpacked as it
// was, and adds up.
#include <cstdlib>

#include "period/history.h"
#include "period/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  using namespace strata::period;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<Table> sum;
  TableLines lines(text, "fuzz");
  for (Result<std::optional<Table>> next = lines.next(); next && *next; next = lines.next()) {
    Table& table = **next;
    TextBuffer out;
    put_json(table, out);
    const Result<Table> again = table_from_json(out.view());
    if (!again || *again != table) std::abort();
    History history({Nanoseconds{1'000'000'000}, 1 << 20});
    history.add(table);
    if (history.at(0) != table) std::abort();
    if (!sum)
      sum = std::move(table);
    else if (!sum->append(table) && sum->end == table.begin)
      std::abort();
  }
  return 0;
}
