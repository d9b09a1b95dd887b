// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace strata::test {

// The folder of real traces: $STRATA_CORPUS, or else ../shared/corpus beside this checkout. Nothing
// where there is none: GTEST_SKIP() << kNoCorpus.
inline std::optional<std::string> corpus() {
  const char* told = std::getenv("STRATA_CORPUS");
  const std::string folder = told ? told : STRATA_SOURCE_DIR "/../shared/corpus";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

constexpr const char* kNoCorpus = "no real traces here; STRATA_CORPUS would say where they are";

}  // namespace strata::test
