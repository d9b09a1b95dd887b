// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace strata::guest {

// The secret that a host and its guests share. Each proves to the other that it has it, on every
// kind of channel.
class Key {
 public:
  static constexpr size_t kSize = 32;

  explicit Key(const std::array<std::byte, kSize>& secret) : secret_(secret) {}
  // Leaves nothing of it in memory.
  ~Key();
  Key(const Key&) = default;
  Key& operator=(const Key&) = default;

  // A file of 64 hexadecimal digits that its owner alone can read, who is this user or root.
  static Result<Key> read(const std::string& path);
  // From where it is for this machine, as a guest: the first of places() that there is.
  static Result<Key> find();
  // /etc/strata/key, the systemd credential strata-key, and what QEMU was given with -fw_cfg
  // name=opt/strata/key.
  static std::vector<std::string> places();
  // A new one, random, in a new file.
  static Result<Key> make(const std::string& path);

  // A secret for one purpose, which tells nothing of the others (HKDF-Expand, RFC 5869).
  std::array<std::byte, 32> derive(std::string_view purpose) const;

 private:
  std::array<std::byte, kSize> secret_;
};

// HMAC-SHA-256.
std::array<std::byte, 32> hmac(Bytes key, Bytes message);
// Takes as long whatever they are.
bool equal_secrets(Bytes a, Bytes b);
// From the kernel's generator.
std::array<std::byte, 32> random_bytes();

}  // namespace strata::guest
