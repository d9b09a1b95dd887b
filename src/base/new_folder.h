// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace strata {

// A folder that is being filled. Whatever ends the program before keep(), an error or a signal, it
// goes, with all that is in it and with the folders above it that were made for it.
class NewFolder {
 public:
  // One that is there must be empty.
  static Result<NewFolder> create(const std::string& path);

  NewFolder(NewFolder&& other) noexcept;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder();

  // It is whole.
  void keep();

 private:
  explicit NewFolder(std::string made) : made_(std::move(made)) {}

  std::string made_;  // the outermost folder that was not there; empty: kept
};

}  // namespace strata
