// SPDX-License-Identifier: Apache-2.0
//
// Lengths and choices that depend on a field of several possible places. What the records hold is
// laid out by hand after the CTF 1.8.3 specification (4.1.6, 7.3.2: dynamic scopes) and that of CTF
// 2 (field locations).
#include "format/ctf/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/ctf/ctf_trace.h"
#include "format/ctf/metadata.h"
#include "support/temporary_folder.h"

namespace strata::ctf {
namespace {

using testing::ElementsAre;

// Every event's fields, of a trace with these metadata and this one stream; or why not.
std::vector<std::string> shown(const std::string& metadata, std::string_view stream) {
  const test::TemporaryFolder folder;
  folder.write("metadata", metadata);
  folder.write("stream", stream);
  const auto traces = CtfTrace::open_all(folder.path());
  if (!traces) return {traces.error().cause};
  const CtfTrace& trace = *traces->front();
  std::vector<std::string> lines;
  for (const auto& events : trace.open_streams()) {
    while (events->next() == trace::Step::Event) {
      TextBuffer out;
      trace.print_fields(events->event(), out);
      lines.emplace_back(out.view());
    }
    if (events->problem()) lines.push_back(events->problem()->cause);
  }
  return lines;
}

// An event of these fields, in TSDL.
std::string tsdl(const std::string& fields) {
  return "/* CTF 1.8 */\n"
         "typealias integer { size = 8; align = 8; } := u8;\n"
         "typealias integer { size = 16; align = 8; } := u16;\n"
         "trace { major = 1; minor = 8; byte_order = le; };\n"
         "event { name = e; fields := struct { enum : u8 { one = 1, two = 2 } tag;\n" +
         fields + "\n}; };\n";
}

// The same in CTF 2, with ' for ". Of `tag` 1 and 2 choose.
std::string ctf2(std::string members) {
  for (char& c : members)
    if (c == '\'') c = '"';
  return "\x1e{\"type\": \"preamble\", \"version\": 2}\n"
         "\x1e{\"type\": \"trace-class\"}\n"
         "\x1e{\"type\": \"data-stream-class\"}\n"
         "\x1e{\"type\": \"event-record-class\", \"name\": \"e\", \"payload-field-class\": "
         "{\"type\": \"structure\", \"member-classes\": [" +
         members + "]}}\n";
}

std::string ctf2_number(const std::string& name, int bits) {
  return "{'name': '" + name +
         "', 'field-class': {'type': 'fixed-length-unsigned-integer', "
         "'byte-order': 'little-endian', 'alignment': 8, 'length': " +
         std::to_string(bits) + "}}";
}

std::string ctf2_structure(const std::string& members) {
  return "{'type': 'structure', 'member-classes': [" + members + "]}";
}

std::string ctf2_variant(const std::string& one, const std::string& two) {
  return "{'name': 'v', 'field-class': {'type': 'variant', 'selector-field-location': "
         "{'origin': 'event-record-payload', 'path': ['tag']}, 'options': ["
         "{'selector-field-ranges': [[1, 1]], 'field-class': " +
         one + "}, {'selector-field-ranges': [[2, 2]], 'field-class': " + two + "}]}}";
}

std::string ctf2_text(const std::string& name, const std::string& location) {
  return "{'name': '" + name +
         "', 'field-class': {'type': 'dynamic-length-string', 'length-field-location': {" +
         location + "}}}";
}

TEST(Resolve, TheOptionThatIsInTheRecordGivesTheLength) {
  const std::string fields =
      "variant <tag> { struct { u8 n; } one; struct { u16 m; u16 n; } two; } v; u8 x[v.n];";
  EXPECT_THAT(shown(tsdl(fields), std::string_view("\1\1a\2\0\0\2\0bc", 10)),
              ElementsAre("{ tag = ( \"one\" : container = 1 ), v = { n = 1 }, x = [ [0] = 97 ] }",
                          "{ tag = ( \"two\" : container = 2 ), v = { m = 0, n = 2 }, "
                          "x = [ [0] = 98, [1] = 99 ] }"));
}

// Each option's own length has a slot before the field behind both needs one.
TEST(Resolve, AFieldMayBeReferredToByItsOptionsNameAndWithoutIt) {
  const std::string fields =
      "variant <tag> { struct { u8 n; u8 a[n]; } one; struct { u8 n; u8 b[n]; } two; } v;"
      "u8 x[v.n];";
  EXPECT_THAT(shown(tsdl(fields), "\1\2ABab\2\1Cc"),
              ElementsAre("{ tag = ( \"one\" : container = 1 ), v = { n = 2, a = [ [0] = 65, [1] = "
                          "66 ] }, x = [ [0] = 97, [1] = 98 ] }",
                          "{ tag = ( \"two\" : container = 2 ), v = { n = 1, b = [ [0] = 67 ] }, "
                          "x = [ [0] = 99 ] }"));
}

// "v.one.n" is the option's n. That another option has a field called one, which has an n too, does
// not matter.
TEST(Resolve, AnOptionThatIsNamedIsTheOnlyOneMeant) {
  const std::string fields =
      "variant <tag> { struct { u8 n; } one; struct { struct { u8 n; } one; u8 n; } two; } v;"
      "u8 x[v.n];";
  EXPECT_THAT(shown(tsdl(fields), "\2\5\1a"),
              ElementsAre("{ tag = ( \"two\" : container = 2 ), v = { one = { n = 5 }, n = 1 }, "
                          "x = [ [0] = 97 ] }"));
}

// From within an option, a field of the same name in another one is not in the record.
TEST(Resolve, WithinAnOptionTheOthersAreNotMeant) {
  const std::string fields =
      "variant <tag> { struct { u8 n; u8 a[n]; } one; struct { struct { u8 n; } one; u8 n; } two; }"
      "v;";
  EXPECT_THAT(shown(tsdl(fields), "\1\1A\2\7\3"),
              ElementsAre("{ tag = ( \"one\" : container = 1 ), v = { n = 1, a = [ [0] = 65 ] } }",
                          "{ tag = ( \"two\" : container = 2 ), v = { one = { n = 7 }, n = 3 } }"));
}

TEST(Resolve, AnEventHeadersFieldsCanBeReferredToWhateverTheHeader) {
  const std::string metadata =
      "/* CTF 1.8 */\n"
      "typealias integer { size = 8; align = 8; } := u8;\n"
      "typealias integer { size = 5; align = 1; } := u5;\n"
      "typealias integer { size = 27; align = 1; } := u27;\n"
      "typealias integer { size = 32; align = 8; } := u32;\n"
      "typealias integer { size = 64; align = 8; } := u64;\n"
      "trace { major = 1; minor = 8; byte_order = le; };\n"
      "stream { event.header := struct { enum : u5 { compact = 0 ... 30, extended = 31 } id;\n"
      " variant <id> { struct { u27 timestamp; } compact;\n"
      "  struct { u32 id; u64 timestamp; } extended; } v; } align(8); };\n"
      "event { name = e; id = 2; fields := struct { u8 x[stream.event.header.id]; }; };\n";
  EXPECT_THAT(shown(metadata, std::string_view("\2\0\0\0ab", 6)),
              ElementsAre("{ x = [ [0] = 97, [1] = 98 ] }"));
}

TEST(Resolve, OfCtf2TheOptionThatIsInTheRecordGivesTheLength) {
  const std::string members =
      ctf2_number("tag", 8) + "," +
      ctf2_variant(ctf2_structure(ctf2_number("n", 8) + "," + ctf2_text("a", "'path': ['n']")),
                   ctf2_structure(ctf2_number("n", 16) + "," + ctf2_text("b", "'path': ['n']"))) +
      "," + ctf2_text("x", "'origin': 'event-record-payload', 'path': ['v', 'n']");
  EXPECT_THAT(shown(ctf2(members), std::string_view("\1\2ABab\2\1\0Cc", 11)),
              ElementsAre("{ tag = 1, v = { n = 2, a = \"AB\" }, x = \"ab\" }",
                          "{ tag = 2, v = { n = 1, b = \"C\" }, x = \"c\" }"));
}

// From the payload's start on, through the option that we are in: of the two only ours has been
// read, and the other never will be.
TEST(Resolve, OfCtf2AnOptionThatComesLaterIsNotMeant) {
  const std::string location = "'origin': 'event-record-payload', 'path': ['v', 'n']";
  const std::string members =
      ctf2_number("tag", 8) + "," +
      ctf2_variant(ctf2_structure(ctf2_number("n", 8) + "," + ctf2_text("a", location)),
                   ctf2_structure(ctf2_number("n", 16) + "," + ctf2_text("b", location)));
  EXPECT_THAT(shown(ctf2(members), std::string_view("\1\2AB\2\1\0C", 8)),
              ElementsAre("{ tag = 1, v = { n = 2, a = \"AB\" } }",
                          "{ tag = 2, v = { n = 1, b = \"C\" } }"));
}

// A path of CTF 2 goes through a variant without naming its options.
TEST(Resolve, OfCtf2AnOptionsNameIsNoPartOfThePath) {
  const std::string variant =
      "{'name': 'v', 'field-class': {'type': 'variant', 'selector-field-location': "
      "{'path': ['tag']}, 'options': ["
      "{'name': 's', 'selector-field-ranges': [[1, 1]], 'field-class': " +
      ctf2_structure(ctf2_number("n", 8)) +
      "}, {'selector-field-ranges': [[2, 2]], 'field-class': " +
      ctf2_structure("{'name': 's', 'field-class': " + ctf2_structure(ctf2_number("n", 8)) + "}") +
      "}]}}";
  const std::string members =
      ctf2_number("tag", 8) + "," + variant + "," + ctf2_text("x", "'path': ['v', 's', 'n']");
  EXPECT_THAT(shown(ctf2(members), "\2\1a"),
              ElementsAre("{ tag = 2, v = { s = { n = 1 } }, x = \"a\" }"));
}

}  // namespace
}  // namespace strata::ctf
