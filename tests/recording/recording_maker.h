// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "recording/description.h"

namespace strata::test {

// A recording without parts, of which only this is known.
inline void make_recording(const std::string& folder, int64_t begin_ns, int64_t end_ns,
                           const std::string& change) {
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  recording::Session session;
  session.name = "flight";
  session.begin_ns = begin_ns;
  session.end_ns = end_ns;
  session.changes.push_back({end_ns, change});
  recording::Description description;
  description.sessions.push_back(session);
  ASSERT_TRUE(recording::write_description(folder, description));
}

}  // namespace strata::test
