// SPDX-License-Identifier: Apache-2.0
//
// Types of TSDL, as the payload of an event. The rules are those of the CTF 1.8.3 specification.
#include <gtest/gtest.h>

#include "field_shape.h"
#include "format/ctf/metadata.h"

namespace strata::ctf {
namespace {

std::string metadata(const std::string& fields, const std::string& before,
                     const std::string& order) {
  return "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = " + order + "; };\n" + before +
         "\nevent { name = e; fields := struct {\n" + fields + "\n}; };\n";
}

std::string payload(const std::string& fields, const std::string& before = "",
                    const std::string& order = "le") {
  Result<Description> description = parse_tsdl(metadata(fields, before, order), "metadata");
  if (!description) return description.error().cause;
  return shape(description->streams.at(0).events.at(0).payload);
}

TEST(TsdlFields, AnIntegerIsAlignedToBytesWhereItHasWholeOnes) {
  EXPECT_EQ(payload("integer { size = 32; } a; integer { size = 27; } b;"), "{a:u32@8,b:u27}@8");
  EXPECT_EQ(payload("integer { size = 8; align = 32; } a;"), "{a:u8@32}@32");
}

TEST(TsdlFields, IntegersHaveSignBaseAndByteOrder) {
  EXPECT_EQ(payload("integer { size = 16; signed = true; base = x; } a;"
                    "integer { size = 16; signed = 1; base = 8; byte_order = be; } b;"
                    "integer { size = 16; signed = FALSE; base = binary; byte_order = network; } c;"
                    "integer { size = 16; byte_order = native; base = decimal; } d;"),
            "{a:s16@8 x,b:s16be@8 o,c:u16be@8 b,d:u16@8}@8");
  EXPECT_EQ(
      payload("integer { size = 16; byte_order = native; } d; integer { size = 4; } e;", "", "be"),
      "{d:u16be@8,e:u4be}@8");
}

TEST(TsdlFields, UnknownAttributesArePassedOver) {
  EXPECT_EQ(payload("integer { size = 8; colour = red.dark; shape = \"round\"; } a;"),
            "{a:u8@8}@8");
}

TEST(TsdlFields, NumbersAreDecimalOctalHexadecimalOrBinaryWithSuffixes) {
  EXPECT_EQ(payload("integer { size = 0x10; } a; integer { size = 020; } b; integer { size = 16ULL;"
                    " } c; integer { size = +16u; } d; integer { size = 0b10000; } e;"),
            "{a:u16@8,b:u16@8,c:u16@8,d:u16@8,e:u16@8}@8");
}

TEST(TsdlFields, FloatsAreThoseOfIeee754) {
  EXPECT_EQ(payload("floating_point { exp_dig = 8; mant_dig = 24; align = 32; } a;"
                    "floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; } b;"),
            "{a:f32@32,b:f64be@8}@32");
}

TEST(TsdlFields, ArraysOfCharactersAreStrings) {
  const std::string types =
      "typealias integer { size = 8; encoding = UTF8; } := char_t;"
      "typealias integer { size = 16; } := uint16_t;";
  EXPECT_EQ(payload("char_t a[16]; uint16_t n; char_t b[n]; char_t c;", types),
            "{a:text[16],n:u16@8,b:text[payload:n],c:u8@8}@8");
  EXPECT_EQ(payload("string s; string { encoding = ASCII; } t;"), "{s:text,t:text}@8");
  EXPECT_EQ(payload("integer { size = 8; align = 1; encoding = UTF8; } a[2];"), "{a:[2]u8}@1");
}

TEST(TsdlFields, OfTwoDimensionsTheFirstIsTheOuter) {
  EXPECT_EQ(payload("integer { size = 4; } a[2][3];"), "{a:[2][3]u4}@1");
}

TEST(TsdlFields, AnEmptyArrayAlignsAllTheSame) {
  EXPECT_EQ(payload("integer { size = 8; align = 16; } b[0];"), "{b:[0]u8@16}@16");
}

TEST(TsdlFields, AnArrayMayBeAsLongAsTheEnvironmentSays) {
  EXPECT_EQ(payload("string a[env.count];", "env { count = 3; };"), "{a:[3]text}@8");
  EXPECT_EQ(payload("string a[env.count];", "env { count = \"3\"; };"),
            "line 5, column 10: 'env.count' is no length");
}

TEST(TsdlFields, NamesOfTypesAreThoseOfC) {
  const std::string types =
      "typealias integer { size = 64; } := unsigned long long;"
      "typealias integer { size = 64; } := void *;"
      "typedef integer { size = 8; } byte, four[4];"
      "typealias byte := const_byte;";
  EXPECT_EQ(payload("unsigned long long a; long unsigned long b; void *p; const byte c; four d;"
                    " const_byte e, f[2];",
                    types),
            "{a:u64@8,b:u64@8,p:u64@8 x,c:u8@8,d:[4]u8@8,e:u8@8,f:[2]u8@8}@8");
}

TEST(TsdlFields, AnInnerNameHidesAnOuterOne) {
  EXPECT_EQ(payload("struct { typedef integer { size = 16; } t; t x; } a; t b;",
                    "typedef integer { size = 8; } t;"),
            "{a:{x:u16@8}@8,b:u8@8}@8");
}

TEST(TsdlFields, AStructureIsAlignedAsItsMembersOrMore) {
  EXPECT_EQ(payload("struct s a; struct { integer { size = 8; align = 16; } x; } align(4) b;",
                    "struct s { integer { size = 3; } x; } align(32);"),
            "{a:{x:u3}@32,b:{x:u8@16}@16}@32");
}

TEST(TsdlFields, AnEnumerationCountsOnFromTheLastValue) {
  EXPECT_EQ(
      payload("enum : integer { size = 8; } { a, b = 5, c, d = 10 ... 20, e, \"f g\", a = 30 } "
              "x;"),
      "{x:u8@8 enum{a=0,30,b=5,c=6,d=10..20,e=21,f g=22}}@8");
  EXPECT_EQ(payload("enum : integer { size = 8; signed = true; } { a = -2, b, c = -1 ... 1 } x;"),
            "{x:s8@8 enum{a=-2,b=-1,c=-1..1}}@8");
  EXPECT_EQ(payload("enum e { a, b } x; enum e y;", "typealias integer { size = 4; } := int;"),
            "{x:u4 enum{a=0,b=1},y:u4 enum{a=0,b=1}}@1");
}

constexpr const char* kTag = "enum : integer { size = 8; } { one, two = 2 ... 4 } tag;";

TEST(TsdlFields, AVariantIsChosenByTheNamesOfItsOptions) {
  EXPECT_EQ(
      payload(std::string(kTag) + "variant <tag> { string one; struct { string s; } two; } v;"),
      "{tag:u8@8 enum{one=0,two=2..4},v:<payload:tag>(one=0:text|two=2..4:{s:text}@8)}@8");
}

TEST(TsdlFields, AVariantHasNoAlignment) {
  EXPECT_EQ(payload("enum : integer { size = 1; } { a } t;"
                    "variant <t> { integer { size = 8; align = 32; } a; } v;"),
            "{t:u1 enum{a=0},v:<payload:t>(a=0:u8@32)}@1");
}

TEST(TsdlFields, ANamedVariantGetsItsTagWhereItIsUsed) {
  EXPECT_EQ(payload(std::string(kTag) + "variant v <tag> x;", "variant v { string one; };"),
            "{tag:u8@8 enum{one=0,two=2..4},x:<payload:tag>(one=0:text)}@8");
  EXPECT_EQ(payload(std::string(kTag) + "variant v x;", "variant v { string one; };"),
            "line 5, column 57: the variant says no field that chooses");
}

TEST(TsdlFields, AnOptionAndItsNameMayDifferInAnUnderscore) {
  EXPECT_EQ(payload("enum : integer { size = 8; } { _string, x } t;"
                    "variant <t> { string _string; string _x; } v;"),
            "{t:u8@8 enum{_string=0,x=1},v:<payload:t>(string=0:text|x=1:text)}@8");
}

TEST(TsdlFields, OneLeadingUnderscoreIsDroppedUnlessNamesClash) {
  EXPECT_EQ(payload("integer { size = 8; } __n; string _a[__n]; string _;"),
            "{_n:u8@8,a:[payload:_n]text,_:text}@8");
  EXPECT_EQ(payload("string x; string _x;"), "{x:text,_x:text}@8");
}

TEST(TsdlFields, ANameIsLookedForOutwards) {
  EXPECT_EQ(payload("integer { size = 8; } n; struct { struct { string x[n]; } b; } a;"),
            "{n:u8@8,a:{b:{x:[payload:n]text}@8}@8}@8");
  EXPECT_EQ(payload("integer { size = 8; } n; struct { integer { size = 4; } n; string x[n]; } a;"),
            "{n:u8@8,a:{n:u4,x:[payload:a.n]text}@8}@8");
  EXPECT_EQ(payload("struct { integer { size = 8; } n; } a; string x[a.n];"),
            "{a:{n:u8@8}@8,x:[payload:a.n]text}@8");
}

TEST(TsdlFields, WithinAnArrayTheSameElementIsMeant) {
  EXPECT_EQ(payload("struct { integer { size = 8; } n; string x[n]; } a[3];"),
            "{a:[3]{n:u8@8,x:[payload:a.n]text}@8}@8");
  EXPECT_EQ(payload("struct { integer { size = 8; } n; } a[3]; string x[a.n];"),
            "line 5, column 52: there is no field 'a.n' before this one");
}

TEST(TsdlFields, ALengthMayLieInEveryOptionOfAVariant) {
  EXPECT_EQ(payload(std::string(kTag) +
                    "variant <tag> { integer { size = 8; } one; integer { size = 16; } two; } n;"
                    "string x[n];"),
            "{tag:u8@8 enum{one=0,two=2..4},n:<payload:tag>(one=0:u8@8|two=2..4:u16@8),"
            "x:[payload:n]text}@8");
  EXPECT_EQ(payload(std::string(kTag) +
                    "variant <tag> { integer { size = 8; } one; string two; } n; string x[n];"),
            "line 5, column 126: a length must be an unsigned integer; 'n' is none");
}

TEST(TsdlFields, APathMayBeginInAnEarlierScope) {
  Result<Description> description = parse_tsdl(
      "typealias integer { size = 8; } := u8;"
      "trace { byte_order = le; packet.header := struct { u8 a; }; };"
      "stream { packet.context := struct { u8 b[trace.packet.header.a]; };"
      " event.header := struct { u8 id; u8 c[stream.packet.context.b]; }; };",
      "metadata");
  ASSERT_FALSE(description);  // an array is no length
  description = parse_tsdl(
      "typealias integer { size = 8; } := u8;"
      "trace { byte_order = le; packet.header := struct { u8 a; }; };"
      "stream { packet.context := struct { u8 n; u8 b[trace.packet.header.a]; };"
      " event.header := struct { u8 id; u8 c[stream.packet.context.n]; };"
      " event.context := struct { u8 m; u8 d[stream.event.header.id]; }; };"
      "event { id = 1; context := struct { u8 e[stream.event.context.m]; u8 k; };"
      " fields := struct { u8 f[event.context.k]; u8 l; u8 g[event.fields.l]; }; };",
      "metadata");
  ASSERT_TRUE(description) << description.error().text();
  const StreamClass& stream = description->streams[0];
  EXPECT_EQ(shape(stream.packet_context), "{n:u8@8,b:[packet-header:a]u8@8}@8");
  EXPECT_EQ(shape(stream.event_header), "{id:u8@8 =Event,c:[packet:n]u8@8}@8");
  EXPECT_EQ(shape(stream.common_context), "{m:u8@8,d:[header:id]u8@8}@8");
  EXPECT_EQ(shape(stream.events[0].specific_context), "{e:[common:m]u8@8,k:u8@8}@8");
  EXPECT_EQ(shape(stream.events[0].payload), "{f:[context:k]u8@8,l:u8@8,g:[payload:l]u8@8}@8");
}

struct Wrong {
  const char* fields;
  const char* cause;
};
class WrongField : public testing::TestWithParam<Wrong> {};

TEST_P(WrongField, IsRefusedWithItsPlace) {
  EXPECT_EQ(payload(GetParam().fields), GetParam().cause);
}

INSTANTIATE_TEST_SUITE_P(
    TsdlFields, WrongField,
    testing::Values(
        Wrong{"integer { size = 0; } a;", "line 5, column 18: expected a size: 1 to 64 bits"},
        Wrong{"integer { size = 65; } a;", "line 5, column 18: expected a size: 1 to 64 bits"},
        Wrong{"integer { align = 8; } a;", "line 5, column 1: the integer has no size"},
        Wrong{"integer { size = 8; size = 8; } a;", "line 5, column 21: 'size' is said twice"},
        Wrong{"integer { size = 8; align = 3; } a;",
              "line 5, column 29: expected an alignment: a power of two"},
        Wrong{"integer { size = 8; align = 0; } a;",
              "line 5, column 29: expected an alignment: a power of two"},
        Wrong{"integer { size = 8; align = 4294967296; } a;",
              "line 5, column 29: expected an alignment: a power of two"},
        Wrong{"integer { size = 8; base = 7; } a;",
              "line 5, column 28: expected a base: 2, 8, 10, 16 or one of their names"},
        Wrong{"integer { size = 8; map = clock.none.value; } a;",
              "line 5, column 27: there is no clock of this name"},
        Wrong{"integer { size = 18446744073709551616; } a;",
              "line 5, column 18: '18446744073709551616' does not fit in 64 bits"},
        Wrong{"floating_point { exp_dig = 8; mant_dig = 53; } a;",
              "line 5, column 1: expected exp_dig and mant_dig of an IEEE 754 number of 16, 32, "
              "64 or 128 bits"},
        Wrong{"enum : integer { size = 8; } { a = 5 ... 4 } x;",
              "line 5, column 32: the range of 'a' ends before it begins"},
        Wrong{"enum { a } x;",
              "line 5, column 1: the enumeration says no type, and there is no 'int' here"},
        Wrong{"nothing a;", "line 5, column 1: there is no type 'nothing' here"},
        Wrong{"struct s a;", "line 5, column 1: there is no 'struct s' here"},
        Wrong{"struct s { struct s x; } a;", "line 5, column 12: there is no 'struct s' here"},
        Wrong{"string a; string a;", "line 5, column 8: there are two fields 'a'"},
        Wrong{"string a[-1];",
              "line 5, column 10: expected a length: a number, or the name of a field"},
        Wrong{"string a[n]; integer { size = 8; } n;",
              "line 5, column 10: there is no field 'n' before this one"},
        Wrong{"integer { size = 8; signed = true; } n; string a[n];",
              "line 5, column 50: a length must be an unsigned integer; 'n' is none"},
        Wrong{"integer { size = 8; } t; variant <t> { string a; } v;",
              "line 5, column 35: what chooses must be an enumeration; 't' is none"},
        Wrong{"string a : 3;", "line 5, column 10: bit fields of C are no part of the language"}));

TEST(TsdlFields, TypesWithinTypesEndSomewhere) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "struct { ";
  EXPECT_NE(payload(deep).find("types are nested too deeply"), std::string::npos);
  std::string named = "struct s0 { string x; };";
  for (int i = 1; i < 100; ++i)
    named += "struct s" + std::to_string(i) + " { struct s" + std::to_string(i - 1) + " x; };";
  EXPECT_NE(payload("struct s99 x;", named).find("types are nested too deeply"), std::string::npos);
}

TEST(TsdlFields, AFewLinesCannotDescribeMoreThanThereIsMemory) {
  std::string named = "struct s0 { string x; };";
  for (int i = 1; i < 50; ++i) {
    const std::string before = "struct s" + std::to_string(i - 1);
    named += "struct s" + std::to_string(i) + " { " + before + " x; " + before + " y; };";
  }
  EXPECT_NE(payload("struct s49 x;", named).find("too many fields"), std::string::npos);
}

}  // namespace
}  // namespace strata::ctf
