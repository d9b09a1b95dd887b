// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace strata::collect {

// How many words can be waited for at once.
inline constexpr size_t kMostAlarms = 128;

// Waits until one of these words (futexes that other processes may share), each of which was 1, is
// another number and its owner wakes us, or the time is over. Where the kernel cannot wait for
// several (before Linux 5.16), it returns after a part of the time.
void wait_for_any(std::span<const uint32_t* const> words, std::chrono::milliseconds time);

}  // namespace strata::collect
