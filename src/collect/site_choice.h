// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collect/site_file.h"

namespace strata::collect {

// Those that one of the globs takes: "PROVIDER:NAME", or a PROVIDER alone for all of its own.
std::vector<FileSite> choose_sites(std::span<const FileSite> sites,
                                   std::span<const std::string> globs);

}  // namespace strata::collect
