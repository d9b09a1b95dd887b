// SPDX-License-Identifier: Apache-2.0
#include "collect/program_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;
using testing::ElementsAre;

collect::Site site_of(std::string name, std::vector<collect::SiteField> fields) {
  collect::Site site;
  site.provider = "shop";
  site.name = std::move(name);
  site.fields = std::move(fields);
  return site;
}

collect::SiteField number(std::string name, uint8_t bytes) {
  collect::SiteField field;
  field.name = std::move(name);
  field.bytes = bytes;
  return field;
}

class ProgramTraces : public testing::Test {
 protected:
  TemporaryFolder folder_;
  collect::ProgramTraces traces_{folder_.path(), {}};
};

TEST_F(ProgramTraces, ProgramsOfOneNameHaveTracesOfTheirOwn) {
  const Result<collect::ProgramTrace*> first = traces_.of("/usr/bin/shop", 1);
  const Result<collect::ProgramTrace*> second = traces_.of("/opt/shop", 1);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*traces_.of("/usr/bin/shop", 1), *first);
  EXPECT_THAT(folder_.names(), ElementsAre("app-shop", "app-shop-2"));
}

TEST_F(ProgramTraces, ANameLeadsNowhereElse) {
  ASSERT_TRUE(traces_.of("/tmp/.. /a b\n", 1));
  ASSERT_TRUE(traces_.of("", 1));
  ASSERT_TRUE(traces_.of("/tmp/" + std::string(300, 'x'), 1));
  EXPECT_THAT(folder_.names(),
              ElementsAre("app-a_b_", "app-unknown", "app-" + std::string(64, 'x')));
}

TEST_F(ProgramTraces, OneDeclarationIsOneTypeWhateverModuleItIsOf) {
  collect::ProgramTrace& trace = **traces_.of("shop", 1);
  const collect::EventForm* form = trace.form_of(site_of("order", {number("value", 4)}));
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(trace.form_of(site_of("order", {number("value", 4)})), form);
  EXPECT_NE(trace.form_of(site_of("order", {number("value", 8)})), form);
  EXPECT_TRUE(form->is_fixed);
  EXPECT_EQ(form->size, 4u);
}

TEST_F(ProgramTraces, ASpansFormHasRoomForItsBegin) {
  collect::ProgramTrace& trace = **traces_.of("shop", 1);
  collect::Site span = site_of("nap", {number("us", 4)});
  span.kind = abi::SiteKind::Span;
  const collect::EventForm* form = trace.form_of(span);
  ASSERT_NE(form, nullptr);
  EXPECT_TRUE(form->is_span);
  EXPECT_EQ(form->size, 12u);
}

TEST_F(ProgramTraces, AProcessThatComesAgainHasAnotherStream) {
  collect::ProgramTrace& trace = **traces_.of("shop", 1);
  const collect::EventForm* form = trace.form_of(site_of("order", {number("value", 4)}));
  ASSERT_NE(form, nullptr);
  for (const uint32_t ring : {0u, 1u, 0u}) {
    const Result<ctf::StreamWriter*> stream = trace.add_stream({4711, "shop", "shop"}, ring);
    ASSERT_TRUE(stream);
    EXPECT_TRUE((*stream)->write(form->id, 1, as_bytes(std::string_view("four"))));
  }
  ASSERT_TRUE(traces_.finish());
  for (const char* name : {"4711-ring0", "4711-ring1", "4711-ring0-2"})
    EXPECT_TRUE(std::filesystem::exists(folder_.file("app-shop") + "/" + name)) << name;
}

}  // namespace
}  // namespace strata::test
