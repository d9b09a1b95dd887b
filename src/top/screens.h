// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "period/feed.h"
#include "top/key.h"
#include "top/list.h"
#include "top/sheet.h"

namespace strata::top {

enum class Screen : uint8_t { Cpu, Perf, Io, Vm, Latency, Files, Tree, Count_ };
constexpr auto kScreens = static_cast<size_t>(Screen::Count_);

std::string_view name_of(Screen screen);   // "cpu", as in --screens
std::string_view label_of(Screen screen);  // "CPU", on screen
KeyCode key_of(Screen screen);
std::optional<Screen> screen_called(std::string_view name);
// What it shows of a machine.
period::Groups groups_of(Screen screen);
// Its list, as it is at first.
List list_of(Screen screen);
bool is_of_tasks(Screen screen);

}  // namespace strata::top
