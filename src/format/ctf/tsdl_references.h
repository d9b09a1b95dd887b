// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "format/ctf/field_budget.h"
#include "format/ctf/tsdl_types.h"

namespace strata::ctf::tsdl {

// A structure or variant that we are within, and which of its fields we are in.
struct Frame {
  const NamedTypes* types;
  size_t index;
  bool is_structure;
};

// Follows the names of a reference through types. A variant may be passed without naming an option:
// then the reference is to a field of each option that has it.
class Reference {
 public:
  // `frames` lead to the field that refers to another one; `names` from where the search begins.
  Reference(const std::vector<Frame>& frames, const std::vector<std::string>& names,
            FieldBudget& budget)
      : frames_(frames), names_(names), budget_(budget) {}

  // In the type of another scope or an earlier field: names from `next` on; `trail` leads to it.
  // False: the budget is spent.
  bool search(const Type& type, size_t next, std::vector<std::string> trail);
  // In the scope that we are in, and only before us.
  bool search_around_us(const Type& root, size_t next);

  bool exists() const { return exists_; }
  // The integers that are meant. None: it is something else, or in some option of a variant.
  std::vector<const IntegerType*> targets() const {
    return is_sure_ ? targets_ : std::vector<const IntegerType*>();
  }
  // The names as they are shown, with those of the options that we are in.
  const std::vector<std::string>& path() const { return path_; }

 private:
  enum class Lies : uint8_t { Before, AroundUs };

  bool look(const Type& type, size_t next, Lies lies, size_t level);
  bool look_into(const NamedTypes& parts, const NamedType& part, size_t next, Lies lies,
                 size_t level);

  const std::vector<Frame>& frames_;
  const std::vector<std::string>& names_;
  FieldBudget& budget_;
  std::vector<std::string> trail_;
  bool exists_ = false;
  bool is_sure_ = true;  // whichever options are chosen, there is an integer
  std::vector<const IntegerType*> targets_;
  std::vector<std::string> path_;
};

}  // namespace strata::ctf::tsdl
