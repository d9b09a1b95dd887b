// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/new_uuid.h"

#include <sys/random.h>

#include <chrono>

#include "base/units.h"

namespace strata::ctf {
namespace {

void set_version(Uuid& uuid, unsigned version) {
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0f) | version << 4);
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3f) | 0x80);
}

}  // namespace

Uuid random_uuid() {
  Uuid uuid{};
  if (getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size())) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    uuid = uuid_of_name({reinterpret_cast<const char*>(&now), sizeof now});
  }
  set_version(uuid, 4);
  return uuid;
}

Uuid uuid_of_name(std::string_view name) {
  // FNV-1a of 128 bits: an identity, not a secret.
  const UInt128 prime = (UInt128{1} << 88) + 0x13b;
  UInt128 hash = UInt128{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * prime;
  Uuid uuid{};
  for (size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<uint8_t>(hash >> (120 - 8 * i));
  set_version(uuid, 8);
  return uuid;
}

}  // namespace strata::ctf
