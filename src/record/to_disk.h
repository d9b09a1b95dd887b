// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace strata::record {

// What was written to the folder's own files since then is on the disk, and so are their names.
// Gives how many files there were to do that for. One that is gone meanwhile is none of them.
size_t changed_files_to_disk(const std::string& folder, std::filesystem::file_time_type since);

}  // namespace strata::record
