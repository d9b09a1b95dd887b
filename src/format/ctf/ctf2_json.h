// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::ctf::ctf2 {

using Json = nlohmann::json;

// One fragment of CTF 2 metadata, and where in it we are: "fragment 3, member-classes[2].name:
// ...". The first failure stays. What reads a property says whether it could; a property that need
// not be there leaves its value as it was.
class Fragment {
 public:
  Fragment(const std::string& path, size_t number) : path_(path), number_(number) {}

  // Null: it is no JSON object.
  std::optional<Json> parse(std::string_view text);

  bool fail(std::string_view cause);
  const Error& error() const { return *error_; }
  bool failed() const { return error_.has_value(); }

  // While it lives, we are below `key`.
  class At {
   public:
    At(Fragment& fragment, std::string_view key) : fragment_(fragment) {
      fragment_.keys_.emplace_back(key);
    }
    At(Fragment& fragment, size_t index);
    ~At() { fragment_.keys_.pop_back(); }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Fragment& fragment_;
  };

  enum class Need : uint8_t { Optional, Required };
  // Null: not there, which is a failure where it is required.
  const Json* find(const Json& object, std::string_view key, Need need = Need::Optional);
  bool take(const Json& object, std::string_view key, std::string& to, Need need = Need::Optional);
  bool take(const Json& object, std::string_view key, std::optional<uint64_t>& to,
            Need need = Need::Optional);
  bool take(const Json& object, std::string_view key, uint64_t& to, Need need);
  bool take(const Json& object, std::string_view key, int64_t& to);
  // A power of two.
  bool take_alignment(const Json& object, std::string_view key, uint32_t& to);
  // No extension is known, so none may change the meaning of what we know.
  bool has_no_extensions(const Json& object);

 private:
  const std::string& path_;
  size_t number_;
  std::vector<std::string> keys_;
  std::optional<Error> error_;
};

bool is_integer(const Json& value);
// Its 64 bits, whether or not they are to be taken as signed.
int64_t as_bits(const Json& integer);

}  // namespace strata::ctf::ctf2
