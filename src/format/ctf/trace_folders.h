// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace strata::ctf {

// All folders with a file `metadata`, `folder` itself or below it, in the order of their names.
// Bounded in depth and number; links are not followed.
std::vector<std::string> find_trace_folders(const std::string& folder);

// The files of a trace's folder that hold packets: all but `metadata`, hidden ones and folders.
std::vector<std::string> find_stream_files(const std::string& folder);

// What all these paths begin with, as a folder.
std::string common_folder(const std::vector<std::string>& folders);

}  // namespace strata::ctf
