// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::guest {

// The process in which an agent has something recorded, `strata agent --recorder`: a session as any
// other, with the same code, whose pages go into pipes. It knows nothing of links and keys, and
// whatever ends it, or the agent, nothing of it stays in the kernel.
//
// The first line on its standard input is a RecorderOrder; the input's end asks it to end. On its
// standard output it tells RecorderNews.
//
// Gives the exit status.
int run_recorder();

}  // namespace strata::guest
