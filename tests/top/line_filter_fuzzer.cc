// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "shown_tables.h"
#include "top/file_sheets.h"
#include "top/latency_sheets.h"
#include "top/line_filter.h"
#include "top/task_sheet.h"
#include "top/vm_sheets.h"

// A word or a condition, on every kind of list.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  using namespace strata::top;
  static const period::Table table = second_of_machine(0);
  static UserNames users(false);
  const period::Machine& machine = table.machines[0];
  const Scale scale{kSecond};
  const auto filter = LineFilter::parse({reinterpret_cast<const char*>(data), size});
  if (!filter) {
    if (filter.error().offset && *filter.error().offset > size) __builtin_trap();
    return 0;
  }
  const auto look = [&](const Sheet& sheet) {
    bool any = false;
    for (size_t line = 0; line < sheet.size(); ++line)
      any |= filter->matches(sheet, line, scale, machine);
    if (any && !filter->unknown_name(sheet) && !filter->holds(sheet, scale, machine))
      __builtin_trap();
  };
  look(TaskSheet(machine, TaskLines::Threads, users));
  look(FileSheet(machine));
  look(VmSheet(machine));
  look(LatencySheet(machine));
  return 0;
}
