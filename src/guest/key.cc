// SPDX-License-Identifier: Apache-2.0
#include "guest/key.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file_descriptor.h"

namespace strata::guest {
namespace {

// More than a key and the end of its line.
constexpr size_t kLongestFile = 256;

std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<std::array<std::byte, Key::kSize>> parse_secret(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  if (text.size() != 2 * Key::kSize) return std::nullopt;
  std::array<std::byte, Key::kSize> secret{};
  for (size_t i = 0; i < secret.size(); ++i) {
    const auto high = hex_value(text[2 * i]);
    const auto low = hex_value(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    secret[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return secret;
}

// Whether it is nobody else's business what is in it.
Status check_private(const std::string& path, int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return system_error(path, "cannot look at", errno);
  if (!S_ISREG(status.st_mode)) return Error{path, std::nullopt, "is no regular file"};
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return Error{path, std::nullopt, "belongs to another user, who knows the key then"};
  if ((status.st_mode & 077) != 0)
    return Error{path, std::nullopt,
                 "others than its owner may read or change it; a key needs mode 0600"};
  return {};
}

}  // namespace

Key::~Key() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

Result<Key> Key::read(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_error(path, "cannot open the key", errno);
  if (Status status = check_private(path, file.get()); !status) return std::move(status).error();
  char text[kLongestFile];
  const ssize_t size = pread(file.get(), text, sizeof text, 0);
  if (size < 0) return system_error(path, "cannot read the key", errno);
  const auto secret = parse_secret({text, static_cast<size_t>(size)});
  OPENSSL_cleanse(text, sizeof text);
  if (!secret) return Error{path, std::nullopt, "is no key: that is 64 hexadecimal digits"};
  return Key(*secret);
}

std::vector<std::string> Key::places() {
  std::vector<std::string> places = {"/etc/strata/key"};
  if (const char* folder = std::getenv("CREDENTIALS_DIRECTORY"))
    places.push_back(std::string(folder) + "/strata-key");
  places.emplace_back("/sys/firmware/qemu_fw_cfg/by_name/opt/strata/key/raw");
  return places;
}

Result<Key> Key::find() {
  std::string tried;
  for (const std::string& path : places()) {
    if (access(path.c_str(), F_OK) == 0) return read(path);
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return Error{"", std::nullopt, "there is no key; it was looked for in " + tried};
}

Result<Key> Key::make(const std::string& path) {
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return system_error(path, "cannot make the key", errno);
  const Key key(random_bytes());
  char text[2 * kSize + 1];
  for (size_t i = 0; i < kSize; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text[2 * i] = kDigits[static_cast<size_t>(key.secret_[i]) >> 4];
    text[2 * i + 1] = kDigits[static_cast<size_t>(key.secret_[i]) & 15];
  }
  text[2 * kSize] = '\n';
  const bool whole =
      write(file.get(), text, sizeof text) == ssize_t{sizeof text} && fsync(file.get()) == 0;
  const int number = errno;
  OPENSSL_cleanse(text, sizeof text);
  if (!whole) {
    unlink(path.c_str());
    return system_error(path, "cannot write the key", number);
  }
  return key;
}

std::array<std::byte, 32> Key::derive(std::string_view purpose) const {
  std::string info(purpose);
  info += '\1';  // of the one block that is needed
  return hmac(secret_, as_bytes(info));
}

std::array<std::byte, 32> hmac(Bytes key, Bytes message) {
  std::array<std::byte, 32> mac{};
  unsigned size = 0;
  // It fails for want of memory alone, and then whatever relies on it must not go on.
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
            reinterpret_cast<const unsigned char*>(message.data()), message.size(),
            reinterpret_cast<unsigned char*>(mac.data()), &size) ||
      size != mac.size())
    std::abort();
  return mac;
}

bool equal_secrets(Bytes a, Bytes b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::array<std::byte, 32> random_bytes() {
  std::array<std::byte, 32> bytes{};
  // So few are never given in part, and it does not fail on any kernel that there is.
  if (getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()}) std::abort();
  return bytes;
}

}  // namespace strata::guest
