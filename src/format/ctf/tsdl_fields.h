// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "format/ctf/description.h"
#include "format/ctf/field_budget.h"
#include "format/ctf/tsdl_references.h"
#include "format/ctf/tsdl_types.h"

namespace strata::ctf::tsdl {

// Makes field classes of types, each for its place of use: names of other fields become paths to
// them, options of variants get the values that choose them, arrays of characters become strings.
class FieldMaker {
 public:
  FieldMaker(FieldBudget& budget, const std::string& path) : budget_(budget), path_(path) {}

  // The types of the scopes, as far as there are any: fields of earlier ones can be referred to.
  // Setting one clears those behind it.
  void set_scope(Scope scope, TypePtr type);
  // The field class of a scope that was set; null: failed, or there is none (error() tells).
  FieldClassPtr make(Scope scope);

  const std::optional<Error>& error() const { return error_; }
  // The clocks whose readings the fields made since the last take are.
  std::set<size_t> take_clocks() { return std::exchange(clocks_, {}); }

 private:
  struct Target {
    FieldPath path;
    std::vector<const IntegerType*> integers;
  };

  bool fail(Place place, std::string_view cause);
  FieldClassPtr make_type(const Type& type);
  bool make_array(const ArrayType& array, FieldClass& to);
  bool make_structure(const StructType& structure, FieldClass& to);
  bool make_variant(const VariantType& variant, FieldClass& to);
  bool set_choices(const IntegerType& tag, Variant& to);
  // Fails where there is no such field before this one, or only after too long a search.
  bool find(const Path& path, Place place, Target& to);

  FieldBudget& budget_;
  const std::string& path_;
  std::array<TypePtr, 6> scopes_;
  Scope scope_ = Scope::PacketHeader;
  std::vector<Frame> frames_;
  std::set<size_t> clocks_;
  std::optional<Error> error_;
};

}  // namespace strata::ctf::tsdl
