// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "state/file_calls.h"
#include "state/names.h"
#include "trace/event.h"
#include "trace/type_table.h"

namespace strata::state {

// Where an event tells the address of a socket.
struct AddressFields {
  trace::FieldRef family;
  trace::FieldRef port;
  trace::FieldRef v4;
  trace::FieldRef v6;

  AddressFields() = default;
  explicit AddressFields(const trace::EventType& type);
  std::string text(const trace::Event& event) const;  // "10.0.0.1:80"; empty: not told
};

// Where the events of a call's entry tell its arguments.
struct FileCallFields {
  const trace::EventType* type = nullptr;
  const FileCall* call = nullptr;  // null: it has nothing to do with descriptors
  trace::FieldRef fd, other, flags, command, value, family, text;
  AddressFields address;
  bool only_fd = false;  // nothing else matters of it

  FileCallFields(const trace::EventType& type, std::string_view syscall);
};

// A call that was entered, with what its arguments were. Of one that has to do with `fd` alone, as
// most have, the others are whatever they were before.
struct EnteredFileCall {
  const FileCall* call = nullptr;  // null: nothing to do with descriptors
  int32_t fd = -1;
  int32_t other = -1;
  int64_t flags = 0;
  int64_t command = -1;
  int64_t value = 0;
  int64_t family = -1;
  std::string text = {};  // a path, or a peer's address

  bool closes_on_exec() const;
  // Of the file that it makes.
  FileKind kind() const;
};

// Reads calls that have to do with descriptors out of their events. Where a call's arguments are is
// found once for each type of event and call.
class FileCallReader {
 public:
  // `call` is overwritten, its text's memory used again.
  void read(const trace::Event& event, NameId syscall, const Names& names, EnteredFileCall& call);

  // What only the event of a call's return tells: both descriptors of a pair, below 0 where it does
  // not; the peer's address.
  std::pair<int32_t, int32_t> returned_pair(const trace::Event& event);
  std::string returned_address(const trace::Event& event);

 private:
  struct ReturnFields {
    trace::FieldRef pair;
    AddressFields address;
  };
  const ReturnFields& returned(const trace::EventType& type);

  std::vector<std::unique_ptr<FileCallFields>> fields_;  // by the call's name
  trace::TypeTable<ReturnFields> returns_;
};

}  // namespace strata::state
