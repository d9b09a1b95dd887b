// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_references.h"

#include <utility>

namespace strata::ctf::tsdl {

bool Reference::search(const Type& type, size_t next, std::vector<std::string> trail) {
  trail_ = std::move(trail);
  return look(type, next, Lies::Before, 0);
}

bool Reference::search_around_us(const Type& root, size_t next) {
  trail_.clear();
  return look(root, next, Lies::AroundUs, 0);
}

bool Reference::look(const Type& type, size_t next, Lies lies, size_t level) {
  if (!budget_.spend()) return false;
  const bool is_target = next == names_.size();
  exists_ = exists_ || is_target;
  if (const auto* array = std::get_if<ArrayType>(&type.what)) {
    // Of an array that we are not in, no element is the one that is meant.
    return lies == Lies::Before || look(*array->element, next, lies, level);
  }
  if (const auto* integer = std::get_if<IntegerType>(&type.what)) {
    if (!is_target || lies != Lies::Before) return true;
    if (targets_.empty()) path_ = trail_;
    targets_.push_back(integer);
    return true;
  }
  if (const auto* structure = std::get_if<StructType>(&type.what)) {
    const NamedType* member = is_target ? nullptr : structure->members->find(names_[next]);
    return !member || look_into(*structure->members, *member, next + 1, lies, level);
  }
  const auto* variant = std::get_if<VariantType>(&type.what);
  if (!variant) return true;
  const NamedTypes& options = *variant->options;
  if (const NamedType* option = is_target ? nullptr : options.find(names_[next]))
    return look_into(options, *option, next + 1, lies, level);
  if (lies == Lies::AroundUs) {
    if (level >= frames_.size()) return true;
    return look_into(options, options.list[frames_[level].index], next, lies, level);
  }
  for (const NamedType& option : options.list) {
    const size_t before = targets_.size();
    if (!look(*option.type, next, lies, level)) return false;
    is_sure_ = is_sure_ && targets_.size() > before;
  }
  return true;
}

bool Reference::look_into(const NamedTypes& parts, const NamedType& part, size_t next, Lies lies,
                          size_t level) {
  if (lies == Lies::AroundUs) {
    if (level >= frames_.size()) return true;
    const Frame& frame = frames_[level];
    const auto index = static_cast<size_t>(&part - parts.list.data());
    // Behind us, or in an option that is not there when ours is.
    if (index > frame.index || (index < frame.index && !frame.is_structure)) return true;
    if (index < frame.index) lies = Lies::Before;
  }
  trail_.push_back(part.shown);
  const bool ok = look(*part.type, next, lies, level + 1);
  trail_.pop_back();
  return ok;
}

}  // namespace strata::ctf::tsdl
