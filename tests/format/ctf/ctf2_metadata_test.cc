// SPDX-License-Identifier: Apache-2.0
//
// The metadata of CTF 2, by the rules of CTF2-SPEC-2.0.
#include <gtest/gtest.h>

#include <algorithm>

#include "field_shape.h"
#include "format/ctf/metadata.h"

namespace strata::ctf {
namespace {

// Fragments, with ' for " so that tests can be read.
std::string sequence(const std::vector<std::string>& fragments) {
  std::string text = "\x1e{\"type\": \"preamble\", \"version\": 2}\n";
  for (const std::string& fragment : fragments) text += "\x1e" + fragment + "\n";
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

Result<Description> parsed(const std::vector<std::string>& fragments) {
  return parse_ctf2(sequence(fragments), "metadata");
}

std::string refused(const std::vector<std::string>& fragments) {
  Result<Description> description = parsed(fragments);
  return description ? "not refused" : description.error().cause;
}

constexpr const char* kStream = "{'type': 'data-stream-class'}";

std::string members(const std::vector<std::pair<std::string, std::string>>& all) {
  std::string text = "{'type': 'structure', 'member-classes': [";
  for (const auto& [name, type] : all)
    text += (text.ends_with('[') ? "" : ", ") +
            ("{'name': '" + name + "', 'field-class': " + type + "}");
  return text + "]}";
}

// The payload of an event with these fields; behind aliases, if any.
std::string payload(const std::vector<std::pair<std::string, std::string>>& fields,
                    std::vector<std::string> aliases = {}) {
  aliases.push_back(kStream);
  aliases.push_back("{'type': 'event-record-class', 'payload-field-class': " + members(fields) +
                    "}");
  Result<Description> description = parsed(aliases);
  if (!description) return description.error().cause;
  return shape(description->streams[0].events[0].payload);
}

std::string fixed(const std::string& kind, int length, const std::string& more = "") {
  return "{'type': 'fixed-length-" + kind + "', 'length': " + std::to_string(length) +
         ", 'byte-order': 'little-endian'" + (more.empty() ? "" : ", ") + more + "}";
}
const std::string kByte = fixed("unsigned-integer", 8, "'alignment': 8");

TEST(Ctf2Fields, BitsAreUnalignedUnlessTheySay) {
  EXPECT_EQ(
      payload({{"a", fixed("unsigned-integer", 32)},
               {"b", fixed("signed-integer", 5, "'alignment': 16, 'preferred-display-base': 8")},
               {"c", fixed("boolean", 8)},
               {"d", fixed("bit-array", 3)},
               {"e", fixed("floating-point-number", 64, "'alignment': 8")}}),
      "{a:u32,b:s5@16 o,c:bool8,d:u3 x,e:f64@8}@16");
}

TEST(Ctf2Fields, BitsMayLieAgainstTheByteOrder) {
  EXPECT_EQ(payload({{"a", fixed("unsigned-integer", 8, "'bit-order': 'last-to-first'")},
                     {"b", fixed("unsigned-integer", 8, "'bit-order': 'first-to-last'")}}),
            "{a:u8reversed,b:u8}@1");
}

TEST(Ctf2Fields, VariableLengthIntegersLieOnBytes) {
  EXPECT_EQ(
      payload({{"a", "{'type': 'variable-length-unsigned-integer'}"},
               {"b", "{'type': 'variable-length-signed-integer', 'mappings': {'x': [[-3, 4]]}}"}}),
      "{a:uleb@8,b:sleb@8 enum{x=-3..4}}@8");
}

TEST(Ctf2Fields, MappingsNameValuesAndFlagsNameBits) {
  EXPECT_EQ(
      payload(
          {{"a", fixed("unsigned-integer", 64,
                       "'mappings': {'x': [[1, 1], [3, 18446744073709551615]], 'y': [[2, 2]]}")},
           {"b", fixed("bit-map", 8, "'flags': {'x': [[0, 3]], 'y': [[7, 7]]}")}}),
      "{a:u64 enum{x=1,3..18446744073709551615,y=2},b:u8 x bits{x=0..3,y=7}}@1");
}

TEST(Ctf2Fields, StringsHaveEncodingsAndLengths) {
  EXPECT_EQ(payload({{"n", kByte},
                     {"a", "{'type': 'null-terminated-string', 'encoding': 'utf-16le'}"},
                     {"b", "{'type': 'static-length-string', 'length': 12}"},
                     {"c",
                      "{'type': 'dynamic-length-string', 'encoding': 'utf-32be',"
                      " 'length-field-location': {'path': ['n']}}"}}),
            "{n:u8@8,a:utf-16le text,b:text[12],c:utf-32be text[payload:n]}@8");
}

TEST(Ctf2Fields, BlobsHaveMediaTypesAndLengths) {
  EXPECT_EQ(
      payload({{"n", kByte},
               {"a", "{'type': 'static-length-blob', 'length': 12, 'media-type': 'image/png'}"},
               {"b",
                "{'type': 'dynamic-length-blob', 'length-field-location':"
                " {'origin': 'event-record-payload', 'path': ['n']}}"}}),
      "{n:u8@8,a:blob[12] image/png,b:blob[payload:n]}@8");
}

TEST(Ctf2Fields, ArraysAndStructuresHaveAtLeastTheirPartsAlignment) {
  EXPECT_EQ(payload({{"n", kByte},
                     {"a",
                      "{'type': 'static-length-array', 'length': 3, 'minimum-alignment': 64,"
                      " 'element-field-class': " +
                          kByte + "}"},
                     {"b",
                      "{'type': 'dynamic-length-array', 'length-field-location': {'path': ['n']},"
                      " 'element-field-class': {'type': 'structure', 'minimum-alignment': 4}}"}}),
            "{n:u8@8,a:[3]@64u8@8,b:[payload:n]{}@4}@64");
}

TEST(Ctf2Fields, AVariantIsChosenByRanges) {
  EXPECT_EQ(payload({{"t", fixed("signed-integer", 8)},
                     {"v",
                      "{'type': 'variant', 'selector-field-location': {'path': ['t']}, 'options': ["
                      "{'name': 'a', 'selector-field-ranges': [[-5, -1], [7, 7]], 'field-class': " +
                          kByte + "}, {'selector-field-ranges': [[0, 6]], 'field-class': " +
                          fixed("floating-point-number", 32) + "}]}"}}),
            "{t:s8,v:<payload:t>(a=-5..-1,7:u8@8|=0..6:f32)}@1");
}

TEST(Ctf2Fields, AnOptionalIsThereByABooleanOrByRanges) {
  EXPECT_EQ(payload({{"is", fixed("boolean", 8)},
                     {"n", fixed("unsigned-integer", 8)},
                     {"a",
                      "{'type': 'optional', 'selector-field-location': {'path': ['is']},"
                      " 'field-class': " +
                          kByte + "}"},
                     {"b",
                      "{'type': 'optional', 'selector-field-location': {'path': ['n']},"
                      " 'selector-field-ranges': [[1, 4]], 'field-class': " +
                          kByte + "}"}}),
            "{is:bool8,n:u8,a:?<payload:is>u8@8,b:?<payload:n>1..4:u8@8}@1");
}

TEST(Ctf2Fields, ANullInAPathLeadsOutOfAStructure) {
  const std::string text = "{'type': 'dynamic-length-string', 'length-field-location': {'path': ";
  EXPECT_EQ(
      payload({{"n", kByte},
               {"s", members({{"n", kByte},
                              {"a", text + "['n']}}"},
                              {"b", text + "[null, 'n']}}"},
                              {"u", members({{"c", text + "[null, null, 's', 'n']}}"}})}})}}),
      "{n:u8@8,s:{n:u8@8,a:text[payload:s.n],b:text[payload:n],u:{c:text[payload:s.n]}@8}@8}@8");
}

TEST(Ctf2Fields, AliasesStandForFieldClasses) {
  EXPECT_EQ(payload({{"a", "'byte'"}, {"b", "'again'"}},
                    {"{'type': 'field-class-alias', 'name': 'byte', 'field-class': " + kByte + "}",
                     "{'type': 'field-class-alias', 'name': 'again', 'field-class': 'byte'}"}),
            "{a:u8@8,b:u8@8}@8");
}

TEST(Ctf2Fields, AliasesCannotDescribeMoreThanThereIsMemory) {
  std::vector<std::string> aliases = {
      "{'type': 'field-class-alias', 'name': 'a0', 'field-class': " + kByte + "}"};
  for (int i = 1; i < 40; ++i) {
    const std::string before = "'a" + std::to_string(i - 1) + "'";
    aliases.push_back("{'type': 'field-class-alias', 'name': 'a" + std::to_string(i) +
                      "', 'field-class': " + members({{"x", before}, {"y", before}}) + "}");
  }
  EXPECT_NE(payload({{"x", "'a39'"}}, aliases).find("too many fields"), std::string::npos);
  EXPECT_NE(
      payload({{"x", "'self'"}}, {"{'type': 'field-class-alias', 'name': 'self', 'field-class': " +
                                  members({{"x", "'self'"}}) + "}"})
          .find("nested too deeply"),
      std::string::npos);
}

struct Wrong {
  std::string type;
  const char* cause;
};
class WrongFieldClass : public testing::TestWithParam<Wrong> {};

TEST_P(WrongFieldClass, IsRefusedWithItsPlace) {
  EXPECT_EQ(payload({{"n", kByte}, {"x", GetParam().type}}),
            "fragment 3, payload-field-class.member-classes[1].field-class" +
                std::string(GetParam().cause));
}

INSTANTIATE_TEST_SUITE_P(
    Ctf2Fields, WrongFieldClass,
    testing::Values(
        Wrong{"12", ": expected an object"},
        Wrong{"'none'", ": there is no field class alias \"none\""},
        Wrong{"{}", ": there is no \"type\""},
        Wrong{"{'type': 'fixed-length-string'}",
              ".type: \"fixed-length-string\" is no type of a field class"},
        Wrong{"{'type': 'fixed-length-boolean'}", ": there is no \"length\""},
        Wrong{fixed("boolean", 0), ".length: expected 1 to 64 bits"},
        Wrong{fixed("boolean", -1), ".length: expected an integer that is not negative"},
        Wrong{fixed("floating-point-number", 24), ".length: expected 16, 32, 64 or 128 bits"},
        Wrong{fixed("boolean", 8, "'alignment': 3"), ".alignment: expected a power of two"},
        Wrong{fixed("boolean", 8, "'alignment': 1.5"),
              ".alignment: expected an integer that is not negative"},
        Wrong{fixed("boolean", 8, "'bit-order': 'x'"),
              ".bit-order: expected first-to-last or last-to-first"},
        Wrong{fixed("unsigned-integer", 8, "'mappings': {'a': [[2, 1]]}"),
              ".mappings.a[0]: the range ends before it begins"},
        Wrong{fixed("unsigned-integer", 8, "'mappings': {'a': [[-1, 1]]}"),
              ".mappings.a[0]: the range is beyond what the integer can be"},
        Wrong{fixed("unsigned-integer", 8, "'mappings': {'a': [3]}"),
              ".mappings.a[0]: expected two integers"},
        Wrong{fixed("unsigned-integer", 8, "'extensions': {'us': {'ours': 1}}"),
              ".extensions: the extension \"ours\" of \"us\" is not known here"},
        Wrong{fixed("bit-map", 8), ": there is no \"flags\""},
        Wrong{"{'type': 'null-terminated-string', 'encoding': 'latin-1'}",
              ".encoding: expected utf-8, utf-16be, utf-16le, utf-32be or utf-32le"},
        Wrong{"{'type': 'dynamic-length-string'}", ": there is no \"length-field-location\""},
        Wrong{"{'type': 'dynamic-length-string', 'length-field-location': {'path': ['x']}}",
              ".length-field-location: there is no integer before this field at that path"},
        Wrong{"{'type': 'dynamic-length-string', 'length-field-location': {'path': []}}",
              ".length-field-location.path: expected a path that ends in the name of a field"},
        Wrong{"{'type': 'dynamic-length-string', 'length-field-location': {'path': [null, 'n']}}",
              ".length-field-location.path: the path leads out of its scope"},
        Wrong{
            "{'type': 'dynamic-length-string', 'length-field-location': {'origin': 'here', 'path': "
            "['n']}}",
            ".length-field-location.origin: \"here\" is no origin"},
        Wrong{"{'type': 'optional', 'selector-field-location': {'path': ['n']}, 'field-class': {}}",
              ".selector-field-location: the field there must be a boolean"},
        Wrong{"{'type': 'structure', 'member-classes': [{'name': 'a', 'field-class': "
              "{'type': 'structure'}}, {'name': 'a'}]}",
              ".member-classes[1]: there are two members \"a\""}));

TEST(Ctf2Metadata, ATraceIsAllThatItsFragmentsSay) {
  const Result<Description> it = parsed(
      {"{'type': 'trace-class', 'namespace': 'n', 'name': 'the trace', 'uid': 'u',"
       " 'environment': {'pid': -4, 'host': 'h'}, 'packet-header-field-class': " +
           members({{"m",
                     "{'type': 'fixed-length-unsigned-integer', 'length': 32, 'byte-order':"
                     " 'big-endian', 'roles': ['packet-magic-number']}"},
                    {"u",
                     "{'type': 'static-length-blob', 'length': 16, 'roles':"
                     " ['metadata-stream-uuid']}"},
                    {"s", fixed("unsigned-integer", 8, "'roles': ['data-stream-class-id']")},
                    {"i", fixed("unsigned-integer", 8, "'roles': ['data-stream-id']")}}) +
           "}",
       "{'type': 'clock-class', 'id': 'c', 'name': 'mono', 'namespace': 'ns', 'uid': 'boot',"
       " 'frequency': 1000, 'precision': 3, 'description': 'd', 'origin': 'unix-epoch',"
       " 'offset-from-origin': {'seconds': -5, 'cycles': 999}}",
       "{'type': 'clock-class', 'id': 'd', 'frequency': 1, 'origin':"
       " {'namespace': 'a', 'name': 'b', 'uid': 'c'}}",
       "{'type': 'data-stream-class', 'id': 3, 'name': 's', 'default-clock-class-id': 'c',"
       " 'packet-context-field-class': " +
           members({{"a", fixed("unsigned-integer", 8, "'roles': ['packet-total-length']")},
                    {"b", fixed("unsigned-integer", 8, "'roles': ['packet-content-length']")},
                    {"c", fixed("unsigned-integer", 8, "'roles': ['default-clock-timestamp']")},
                    {"d", fixed("unsigned-integer", 8,
                                "'roles': ['packet-end-default-clock-timestamp']")},
                    {"e", fixed("unsigned-integer", 8,
                                "'roles': ['discarded-event-record-counter-snapshot']")},
                    {"f", fixed("unsigned-integer", 8, "'roles': ['packet-sequence-number']")},
                    {"g", fixed("unsigned-integer", 8, "'roles': ['event-record-class-id']")}}) +
           ", 'event-record-header-field-class': " +
           members({{"a", fixed("unsigned-integer", 8, "'roles': ['event-record-class-id']")},
                    {"b", fixed("unsigned-integer", 8, "'roles': ['default-clock-timestamp']")}}) +
           ", 'event-record-common-context-field-class': " + members({{"n", kByte}}) + "}",
       "{'type': 'event-record-class', 'id': 9, 'data-stream-class-id': 3, 'name': 'e',"
       " 'namespace': 'x', 'attributes': {'lttng.org,2009': {'log-level': 'debug:line',"
       " 'emf-uri': 'http://x'}}, 'specific-context-field-class': " +
           members({{"m", kByte}}) + ", 'payload-field-class': " +
           members({{"s",
                     "{'type': 'dynamic-length-string', 'length-field-location':"
                     " {'origin': 'event-record-common-context', 'path': ['n']}}"},
                    {"t",
                     "{'type': 'dynamic-length-string', 'length-field-location':"
                     " {'origin': 'event-record-specific-context', 'path': ['m']}}"}}) +
           "}"});
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->version, 2u);
  EXPECT_EQ(it->order, ByteOrder::Big);
  EXPECT_EQ(it->name, "the trace");
  EXPECT_EQ(std::get<int64_t>(*it->find_environment("pid")), -4);
  EXPECT_EQ(std::get<std::string>(*it->find_environment("host")), "h");
  EXPECT_EQ(shape(it->packet_header),
            "{m:u32be =Magic,u:blob[16] =Uuid,s:u8 =StreamClass,i:u8 =Stream}@8");
  ASSERT_EQ(it->clocks.size(), 2u);
  const Clock& clock = it->clocks[0];
  EXPECT_EQ(clock.name, "mono");
  EXPECT_EQ(clock.nspace, "ns");
  EXPECT_EQ(clock.uid, "boot");
  EXPECT_EQ(clock.frequency, 1000u);
  EXPECT_EQ(clock.precision, uint64_t{3});
  EXPECT_EQ(clock.offset_seconds, -5);
  EXPECT_EQ(clock.offset_cycles, 999u);
  EXPECT_TRUE(clock.since_epoch);
  EXPECT_FALSE(it->clocks[1].since_epoch);
  EXPECT_EQ(it->clocks[1].origin, "a\nb\nc");
  const StreamClass& stream = it->streams.at(0);
  EXPECT_EQ(stream.id, 3u);
  EXPECT_EQ(stream.clock, size_t{0});
  EXPECT_EQ(shape(stream.packet_context),
            "{a:u8 =Total,b:u8 =Content,c:u8 =Timestamp clock,d:u8 =End clock,e:u8 =Discarded,"
            "f:u8 =Sequence,g:u8}@1");
  EXPECT_EQ(shape(stream.event_header), "{a:u8 =Event,b:u8 =Timestamp clock}@1");
  const EventClass& event = stream.events.at(0);
  EXPECT_EQ(event.id, 9u);
  EXPECT_EQ(event.name, "e");
  EXPECT_EQ(event.nspace, "x");
  EXPECT_EQ(event.log_level, int64_t{13});
  EXPECT_EQ(event.emf_uri, "http://x");
  EXPECT_EQ(shape(event.payload), "{s:text[common:n],t:text[context:m]}@8");
}

TEST(Ctf2Metadata, ThePreambleHoldsTheUuid) {
  const Result<Description> it = parse_ctf2(
      "\x1e{\"type\": \"preamble\", \"version\": 2,"
      " \"uuid\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]}\x1e{\"type\":"
      " \"data-stream-class\"}",
      "metadata");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->uuid, std::string("\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xff", 16));
}

TEST(Ctf2Metadata, FragmentsThatAreWrongAreNamed) {
  EXPECT_EQ(refused({"{'type': 'preamble', 'version': 2}"}),
            "fragment 2: a preamble must come first, and once");
  EXPECT_EQ(refused({"{'type': 'data-stream-class', 'default-clock-class-id': 'c'}"}),
            "fragment 2, default-clock-class-id: there is no clock class \"c\" before");
  EXPECT_EQ(refused({"{'type': 'event-record-class'}"}),
            "fragment 2: there is no data stream class 0 before");
  EXPECT_EQ(refused({kStream, kStream}), "fragment 3: there are two data stream classes 0");
  EXPECT_EQ(refused({kStream, "{'type': 'event-record-class'}", "{'type': 'event-record-class'}"}),
            "fragment 4: there are two event record classes 0 in the data stream class 0");
  EXPECT_EQ(refused({kStream, "{'type': 'data-stream-class', 'id': 1}"}),
            "there are several data stream classes, but packets do not say theirs");
  EXPECT_EQ(refused({"{'type': 'clock-class', 'id': 'c'}"}),
            "fragment 2: there is no \"frequency\"");
  EXPECT_EQ(refused({"{'type': 'clock-class', 'id': 'c', 'frequency': 10,"
                     " 'offset-from-origin': {'cycles': 10}}"}),
            "fragment 2, offset-from-origin.cycles: expected fewer cycles than a second has");
  EXPECT_EQ(refused({"{'type': 'frame-class'}"}),
            "fragment 2, type: \"frame-class\" is no type of a fragment");
  EXPECT_EQ(refused({}), "none of the 1 fragments is a data stream class");
  EXPECT_EQ(refused({"[1]"}), "fragment 2: expected a JSON object");
  EXPECT_NE(refused({"{'type': }"}).find("fragment 2: parse error at line 1, column 10"),
            std::string::npos);
  EXPECT_EQ(refused({std::string(1000, '[')}), "fragment 2: the JSON text is nested too deeply");
}

TEST(Ctf2Metadata, AnExtensionThatIsDeclaredMustBeKnown) {
  const Result<Description> it = parse_ctf2(
      "\x1e{\"type\": \"preamble\", \"version\": 2, \"extensions\": {\"us\": {\"ours\": {}}}}",
      "metadata");
  ASSERT_FALSE(it);
  EXPECT_EQ(it.error().cause,
            "fragment 1, extensions: the extension \"ours\" of \"us\" is not known here");
}

TEST(Ctf2Metadata, TimesNeedADefaultClock) {
  EXPECT_EQ(
      refused(
          {"{'type': 'data-stream-class', 'event-record-header-field-class': " +
           members({{"t", fixed("unsigned-integer", 8, "'roles': ['default-clock-timestamp']")}}) +
           "}"}),
      "fragment 2: there are times of a default clock, but no \"default-clock-class-id\"");
}

}  // namespace
}  // namespace strata::ctf
