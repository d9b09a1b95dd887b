// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/new_file.h"
#include "base/result.h"
#include "base/text_buffer.h"

namespace strata {

// Text on its way to standard output or to a file, in large pieces. Whoever writes puts lines into
// text() and calls drain() after each.
class Output {
 public:
  static constexpr size_t kPiece = 256 * 1024;

  // To a descriptor that somebody else closes.
  explicit Output(int descriptor, std::string name = "standard output");
  // To a file that appears when it is whole; or directly to what is no regular file (/dev/null, a
  // pipe).
  static Result<Output> create(const std::string& path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  TextBuffer& text() { return text_; }
  // False: nothing more needs to be written, since whoever reads has gone or writing failed.
  bool drain() {
    if (text_.size() < kPiece) [[likely]]
      return true;
    return flush();
  }
  bool flush();

  // Writes what is left and makes the file appear. A reader that has gone is no error: `head` has
  // seen enough.
  Status finish();
  bool closed_early() const { return closed_early_; }

 private:
  std::string name_;
  int descriptor_;
  bool owns_descriptor_ = false;
  std::optional<NewFile> file_;  // then there is no descriptor
  TextBuffer text_;
  bool closed_early_ = false;
  Status status_;
};

}  // namespace strata
