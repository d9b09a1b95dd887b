// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata {

// Of `names`, the few that somebody who wrote `word` may have meant, nearest first: a letter or two
// apart, or with the word within them. For messages.
std::vector<std::string> near_names(std::string_view word,
                                    const std::vector<std::string_view>& names);

// " (did you mean 'a', 'b' or 'c'?)"; empty where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace strata
