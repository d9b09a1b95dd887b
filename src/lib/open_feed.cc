// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/mapped_file.h"
#include "lib/feeds.h"

namespace strata::lib {
namespace {

// Every line has when its period begins, before it comes to what was in it.
constexpr std::string_view kFirstName = "\"begin_ns\"";
constexpr size_t kLooked = 4096;

bool has_lines(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return false;  // whoever opens it as a trace says why
  const std::string_view text =
      as_text(file->bytes().first(std::min<size_t>(file->size(), kLooked)));
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find(kFirstName) != std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<period::Feed>> open_feed(const std::vector<std::string>& paths,
                                                Nanoseconds period) {
  const auto lines = std::ranges::find_if(paths, has_lines);
  if (lines == paths.end()) return trace_feed(paths, period);
  if (paths.size() == 1) return line_feed(*lines);
  return Error{*lines, std::nullopt, "holds saved periods, which open one file at a time"};
}

}  // namespace strata::lib
