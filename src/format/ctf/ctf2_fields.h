// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "format/ctf/ctf2_json.h"
#include "format/ctf/description.h"
#include "format/ctf/field_budget.h"

namespace strata::ctf::ctf2 {

// Field classes that have a name of their own.
using Aliases = std::map<std::string, Json, std::less<>>;

// Makes field classes of their JSON objects, each for its place of use. Locations of other fields
// become paths from their scope, whose fields are there, come before, and are of the right kind.
class FieldReader {
 public:
  FieldReader(const Aliases& aliases, FieldBudget& budget) : aliases_(aliases), budget_(budget) {}

  // The field classes of scopes that come before: their fields can be referred to.
  void set_scope(Scope scope, const FieldClass* fields) {
    scopes_[static_cast<size_t>(scope)] = fields;
  }
  // The scope's fields, which are a structure; null where the object does not have the key.
  bool read(Fragment& fragment, const Json& object, std::string_view key, Scope scope,
            FieldClassPtr& to);
  // Since the last take: whether a field is a time of the stream's default clock.
  bool take_has_times() { return std::exchange(has_times_, false); }

 private:
  using Need = Fragment::Need;

  // A structure of which the fields up to `current` are read.
  struct Frame {
    const Structure* structure;
    std::string current;
    std::vector<std::string> choices;  // by which it was reached from the one outside of it
  };
  enum class Wanted : uint8_t { Length, Integer, Boolean };

  bool read_field(const Json& object, std::string_view key, FieldClassPtr& to);
  bool read_type(const Json& json, FieldClass& to);
  bool read_kind(const Json& json, const std::string& type, FieldClass& to);
  bool read_bits(const Json& json, const std::string& type, FieldClass& to);
  bool read_integer(const Json& json, Integer& to);
  bool read_roles(const Json& json, Integer& to);
  bool read_mappings(const Json& json, std::string_view key, Integer& to);
  bool read_ranges(const Json& json, bool is_signed, std::vector<IntegerRange>& to);
  bool read_text(const Json& json, const std::string& type, FieldClass& to);
  bool read_blob(const Json& json, bool is_dynamic, FieldClass& to);
  bool read_array(const Json& json, bool is_dynamic, FieldClass& to);
  bool read_structure(const Json& json, FieldClass& to);
  bool read_variant(const Json& json, FieldClass& to);
  bool read_optional(const Json& json, FieldClass& to);
  bool read_location(const Json& json, std::string_view key, Wanted wanted, FieldPath& to,
                     bool* is_signed = nullptr);
  bool read_path(const Json& location, FieldPath& to, std::vector<std::string>& names,
                 size_t& depth);
  void find(size_t depth, const std::string* name, const std::string* end,
            std::vector<const Integer*>& to) const;

  const Aliases& aliases_;
  FieldBudget& budget_;
  std::array<const FieldClass*, 6> scopes_{};
  Fragment* fragment_ = nullptr;
  Scope scope_ = Scope::PacketHeader;
  std::vector<Frame> frames_;
  std::vector<std::string> choices_;  // since the innermost structure
  unsigned depth_ = 0;
  bool has_times_ = false;
};

// "event-record-payload"
std::optional<Scope> scope_named(std::string_view origin);

}  // namespace strata::ctf::ctf2
