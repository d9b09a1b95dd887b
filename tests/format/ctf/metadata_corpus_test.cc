// SPDX-License-Identifier: Apache-2.0
//
// The metadata of traces that others recorded. What they describe is held against what Babeltrace
// says of them (the output of its sink.text.details).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "details.h"
#include "format/ctf/metadata.h"
#include "support/corpus.h"

namespace strata::ctf {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<Description> described(const fs::path& path) {
  const std::string bytes = file_text(path);
  Result<MetadataText> metadata = unpack_metadata(as_bytes(bytes), path);
  if (!metadata) return std::move(metadata).error();
  return parse_metadata(*metadata, path);
}

// Where the metadata themselves are at fault, and which place of them is.
const std::map<std::string, std::string> kFaulty = {
    {"1/fail/fail1", "line 15, column 10: "},
    {"1/fail/fail2", "line 12, column 15: "},
    {"1/fail/integer-range", "line 7, column 10: "},
    {"1/fail/invalid-sequence-length-field-class", "line 23, column 13: "},
    {"1/fail/invalid-variant-selector-field-class", "line 23, column 11: "},
    {"1/fail/lttng-modules-2.0-pre1", "at byte 0: "},
    {"1/fail/metadata-syntax-error", "line 3, column 58: "},
    {"1/fail/packet-based-metadata", "at byte 0: "},
    {"1/fail/smalltrace", "line 6, column 10: "},
    {"1/live/invalid-metadata", "line 12, column 1: "},
    {"2/fail/meta-no-stream-cls", "none of the 2 fragments "},
    {"2/fail/meta-no-trace-cls-no-stream-cls", "none of the 1 fragments "},
};

TEST(MetadataCorpus, AllAreReadBesidesThoseAtFault) {
  const auto corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  const fs::path folder = fs::path(*corpus) / "ctf";
  size_t read = 0, refused = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "metadata") continue;
    Result<Description> description = described(entry.path());
    const std::string name =
        fs::relative(entry.path().parent_path(), folder / "babeltrace-2.1/ctf-traces");
    const auto fault = kFaulty.find(name);
    if (fault == kFaulty.end()) {
      EXPECT_TRUE(description) << description.error().text();
      ++read;
    } else {
      ASSERT_FALSE(description) << name;
      EXPECT_NE(description.error().text().find("metadata: " + fault->second), std::string::npos)
          << description.error().text();
      ++refused;
    }
  }
  EXPECT_GT(read, 100u);
  EXPECT_EQ(refused, kFaulty.size());
}

// What is said of a trace's classes, before its messages; without attributes of CTF 2.
std::string golden(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  size_t in_attributes = 0;
  for (std::string line; std::getline(file, line) && (text.empty() || !line.empty());) {
    if (text.empty() && line != "Trace class:") continue;
    const size_t indent = line.find_first_not_of(' ');
    if (in_attributes != 0 && indent > in_attributes) continue;
    in_attributes = 0;
    if (line.ends_with("User attributes:")) {
      in_attributes = indent;
    } else {
      text += line + "\n";
    }
  }
  return text;
}

struct Known {
  const char* expected;
  const char* trace;
};
class MetadataDetails : public testing::TestWithParam<Known> {};

TEST_P(MetadataDetails, AreBabeltraces) {
  const auto corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  const fs::path folder = fs::path(*corpus) / "ctf/babeltrace-2.1";
  const Result<Description> description =
      described(folder / "ctf-traces" / GetParam().trace / "metadata");
  ASSERT_TRUE(description) << description.error().text();
  const std::string expected =
      golden(folder / "expect" / (std::string("trace-") + GetParam().expected + ".expect"));
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(details(*description), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Traces, MetadataDetails,
    testing::Values(
        Known{"2packets-ctf1-mip0", "1/succeed/2packets"},
        Known{"2packets-ctf2-mip1", "2/succeed/2packets"},
        Known{"array-align-elem", "1/succeed/array-align-elem"},
        Known{"array-align-elem", "2/succeed/array-align-elem"},
        Known{"barectf-event-before-packet-ctf1-mip0", "1/succeed/barectf-event-before-packet"},
        Known{"barectf-event-before-packet-ctf2-mip1", "2/succeed/barectf-event-before-packet"},
        Known{"def-clk-freq-ctf1-mip0", "1/succeed/def-clk-freq"},
        Known{"lttng-tracefile-rotation-ctf1-mip0", "1/succeed/lttng-tracefile-rotation/kernel"},
        Known{"lttng-tracefile-rotation-ctf2-mip1", "2/succeed/lttng-tracefile-rotation/kernel"},
        Known{"session-rotation-ctf1-mip0", "1/succeed/session-rotation/a/1/ust/pid/10352"},
        Known{"session-rotation-ctf2-mip1", "2/succeed/session-rotation/a/1/ust/pid/10352"},
        Known{"smalltrace-mip0", "1/succeed/smalltrace"},
        Known{"smalltrace-mip1", "2/succeed/smalltrace"},
        Known{"struct-array-align-elem", "1/succeed/struct-array-align-elem"},
        Known{"struct-array-align-elem", "2/succeed/struct-array-align-elem"}),
    [](const auto& known) {
      std::string name = known.param.trace;
      for (char& c : name)
        if (!isalnum(c)) c = '_';
      return name;
    });

}  // namespace
}  // namespace strata::ctf
