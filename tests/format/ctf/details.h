// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "format/ctf/description.h"

namespace strata::ctf {

// A trace's classes in the words of Babeltrace's sink.text.details, as far as the traces that it is
// compared with go.
std::string details(const Description& description);

}  // namespace strata::ctf
