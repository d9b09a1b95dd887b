// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/ctf2_json.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace strata::ctf::ctf2 {
namespace {

constexpr int kDeepestJson = 300;  // a field is three levels below the one that holds it
constexpr uint64_t kGreatestAlignment = uint64_t{1} << 31;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        in_string = false;
      }
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '{' || text[i] == '[') {
      if (++depth > kDeepestJson) return true;
    } else if (text[i] == '}' || text[i] == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

bool is_integer(const Json& value) { return value.is_number_integer(); }

int64_t as_bits(const Json& integer) {
  return integer.is_number_unsigned() ? static_cast<int64_t>(integer.get<uint64_t>())
                                      : integer.get<int64_t>();
}

std::optional<Json> Fragment::parse(std::string_view text) {
  if (is_too_deep(text)) {
    fail("the JSON text is nested too deeply");
    return std::nullopt;
  }
  try {
    Json value = Json::parse(text);
    if (value.is_object()) return value;
    fail("expected a JSON object");
  } catch (const Json::exception& problem) {  // of the parser, or about characters
    std::string_view cause = problem.what();
    if (size_t end = cause.find("] "); end != std::string_view::npos) cause.remove_prefix(end + 2);
    fail(cause);
  }
  return std::nullopt;
}

bool Fragment::fail(std::string_view cause) {
  if (error_) return false;
  std::string where = fmt::format("fragment {}", number_);
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (i == 0) {
      where += ", ";
    } else if (!keys_[i].starts_with('[')) {
      where += '.';
    }
    where += keys_[i];
  }
  error_ = Error{path_, std::nullopt, where + ": " + std::string(cause)};
  return false;
}

Fragment::At::At(Fragment& fragment, size_t index) : fragment_(fragment) {
  fragment_.keys_.push_back(fmt::format("[{}]", index));
}

const Json* Fragment::find(const Json& object, std::string_view key, Need need) {
  if (!object.is_object()) {
    fail("expected an object");
    return nullptr;
  }
  auto found = object.find(key);
  if (found != object.end()) return &*found;
  if (need == Need::Required) fail(fmt::format("there is no \"{}\"", key));
  return nullptr;
}

bool Fragment::take(const Json& object, std::string_view key, std::string& to, Need need) {
  const Json* value = find(object, key, need);
  if (!value) return !failed();
  At at(*this, key);
  if (!value->is_string()) return fail("expected a string");
  to = value->get_ref<const std::string&>();
  return true;
}

bool Fragment::take(const Json& object, std::string_view key, std::optional<uint64_t>& to,
                    Need need) {
  const Json* value = find(object, key, need);
  if (!value) return !failed();
  At at(*this, key);
  if (!value->is_number_unsigned()) return fail("expected an integer that is not negative");
  to = value->get<uint64_t>();
  return true;
}

bool Fragment::take(const Json& object, std::string_view key, uint64_t& to, Need need) {
  std::optional<uint64_t> value;
  if (!take(object, key, value, need)) return false;
  to = value.value_or(to);
  return true;
}

bool Fragment::take(const Json& object, std::string_view key, int64_t& to) {
  const Json* value = find(object, key);
  if (!value) return !failed();
  At at(*this, key);
  const bool fits = is_integer(*value) &&
                    (!value->is_number_unsigned() || value->get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits) return fail("expected an integer");
  to = value->get<int64_t>();
  return true;
}

bool Fragment::take_alignment(const Json& object, std::string_view key, uint32_t& to) {
  std::optional<uint64_t> value;
  if (!take(object, key, value)) return false;
  if (!value) return true;
  At at(*this, key);
  if (!std::has_single_bit(*value) || *value > kGreatestAlignment)
    return fail("expected a power of two");
  to = static_cast<uint32_t>(*value);
  return true;
}

bool Fragment::has_no_extensions(const Json& object) {
  const Json* extensions = find(object, "extensions");
  if (!extensions) return !failed();
  At at(*this, "extensions");
  if (!extensions->is_object()) return fail("expected an object");
  for (const auto& [nspace, names] : extensions->items()) {
    if (names.is_object() && !names.empty())
      return fail(fmt::format("the extension \"{}\" of \"{}\" is not known here",
                              names.items().begin().key(), nspace));
    return fail(fmt::format("an extension of \"{}\" is not known here", nspace));
  }
  return true;
}

}  // namespace strata::ctf::ctf2
