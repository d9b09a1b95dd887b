// SPDX-License-Identifier: Apache-2.0
//
// Real programs and libraries, against readelf.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "elf/elf_file.h"
#include "elf/notes.h"
#include "elf/symbols.h"
#include "elf/usdt.h"
#include "support/command.h"

namespace strata::elf {
namespace {

using Line = std::string;

// This program, and those on this machine that have what is read: many symbols, or USDT probes.
std::vector<std::string> binaries() {
  std::vector<std::string> found{std::filesystem::read_symlink("/proc/self/exe")};
  for (const char* path : {"/usr/bin/qemu-system-x86_64", "/lib/x86_64-linux-gnu/libc.so.6",
                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/bin/sh"})
    if (std::filesystem::exists(path)) found.emplace_back(path);
  return found;
}

std::string after(const std::string& text, std::string_view label) {
  const size_t at = text.find(label);
  if (at == std::string::npos) return {};
  return text.substr(at + label.size());
}

class RealBinary : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::has_program("readelf")) GTEST_SKIP() << "no readelf here";
    Result<ElfFile> file = ElfFile::open(GetParam());
    ASSERT_TRUE(file) << file.error().text();
    file_.emplace(*std::move(file));
  }
  std::optional<ElfFile> file_;
};

INSTANTIATE_TEST_SUITE_P(Found, RealBinary, testing::ValuesIn(binaries()), [](const auto& tested) {
  std::string name = std::filesystem::path(tested.param).filename();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
});

TEST_P(RealBinary, HasTheSymbolsThatReadelfShows) {
  Result<std::vector<Symbol>> symbols = read_symbols(*file_);
  ASSERT_TRUE(symbols) << symbols.error().text();
  std::vector<Line> ours;
  for (const Symbol& symbol : *symbols)
    ours.push_back(std::to_string(symbol.address) + " " + std::to_string(symbol.size) + " " +
                   std::string(symbol.name));

  std::vector<Line> theirs;
  for (const std::string& line : test::lines_of(test::run({"readelf", "-sW", GetParam()}).output)) {
    std::istringstream words(line);
    std::string number, address, size, type, bind, visibility, section, name;
    if (!(words >> number >> address >> size >> type >> bind >> visibility >> section >> name))
      continue;
    // Sections have no names of their own; what else is not a number is not in this file.
    if (type == "SECTION" || section.find_first_not_of("0123456789") != std::string::npos) continue;
    theirs.push_back(std::to_string(std::stoull(address, nullptr, 16)) + " " +
                     std::to_string(std::stoull(size, nullptr, 0)) + " " +
                     name.substr(0, name.find('@')));
  }
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  EXPECT_GT(ours.size(), 0u);
  EXPECT_EQ(ours.size(), theirs.size());
  EXPECT_TRUE(ours == theirs);
}

TEST_P(RealBinary, HasTheBuildIdThatReadelfShows) {
  Result<std::string> id = build_id(*file_);
  ASSERT_TRUE(id) << id.error().text();
  std::string theirs;
  for (const std::string& line : test::lines_of(test::run({"readelf", "-nW", GetParam()}).output))
    if (const std::string text = after(line, "Build ID: "); !text.empty()) theirs = text;
  EXPECT_EQ(*id, theirs);
}

TEST_P(RealBinary, HasTheUsdtProbesThatReadelfShows) {
  Result<std::vector<UsdtSite>> sites = usdt_sites(*file_);
  ASSERT_TRUE(sites) << sites.error().text();
  std::vector<UsdtSite> theirs;
  for (const std::string& line : test::lines_of(test::run({"readelf", "-nW", GetParam()}).output)) {
    if (const std::string text = after(line, "Provider: "); !text.empty())
      theirs.push_back({text, "", "", 0, 0});
    if (theirs.empty()) continue;
    if (const std::string text = after(line, "Name: "); !text.empty()) theirs.back().name = text;
    if (const std::string text = after(line, "Location: "); !text.empty()) {
      theirs.back().address = std::stoull(text, nullptr, 16);
      theirs.back().semaphore = std::stoull(after(text, "Semaphore: "), nullptr, 16);
    }
    if (line.find("Arguments: ") != std::string::npos)
      theirs.back().arguments = after(line, "Arguments: ");
  }
  EXPECT_TRUE(*sites == theirs) << sites->size() << " of ours, " << theirs.size() << " of readelf";
}

TEST_P(RealBinary, HasEachSectionWhereItsSegmentLaysIt) {
  // Sections say both their address and their offset; file_offset() knows the segments alone.
  for (const Section& section : file_->sections()) {
    if (section.name != ".text" && section.name != ".data" && section.name != ".rodata") continue;
    EXPECT_EQ(file_->file_offset(section.address), section.offset) << section.name;
  }
}

}  // namespace
}  // namespace strata::elf
