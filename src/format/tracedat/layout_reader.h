// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "format/tracedat/layout.h"

namespace strata::tracedat {

// What the two versions share: the bodies that hold a kernel's descriptions, and how a file is put
// together from them. Each step returns nothing, or what is wrong.
class LayoutReader {
 public:
  LayoutReader(const MappedFile& file, Layout& layout) : file_(file), layout_(layout) {}

  // After the prefix.
  std::optional<Error> read_version_6(ByteReader& in);
  std::optional<Error> read_version_7(ByteReader& in);

 private:
  std::optional<Error> header_info(ByteReader& in);
  std::optional<Error> ftrace_events(ByteReader& in);
  std::optional<Error> event_formats(ByteReader& in);
  std::optional<Error> kallsyms(ByteReader& in);
  std::optional<Error> printk(ByteReader& in);
  std::optional<Error> cmdlines(ByteReader& in);

  // Version 6.
  std::optional<Error> options_6(ByteReader& in);
  std::optional<Error> buffer_6(ByteReader& in, std::string name);
  // Version 7.
  struct Section {
    OptionId id{};
    bool compressed = false;
    Bytes body;
    uint64_t body_offset = 0;
  };
  Result<Section> section(uint64_t offset);
  std::optional<Error> options_7(uint64_t offset);
  std::optional<Error> described_section(const Option& option);
  std::optional<Error> buffer_7(const Option& option);

  Error fail(uint64_t offset, std::string cause) const {
    return {file_.path(), offset, std::move(cause)};
  }
  void note(Error error) { layout_.problems.push_back(std::move(error)); }
  ByteReader reader_at(uint64_t offset) const;

  const MappedFile& file_;
  Layout& layout_;
};

}  // namespace strata::tracedat
