// SPDX-License-Identifier: Apache-2.0
//
// Any messages of a guest about files: whatever they are, nothing is written but in the guest's own
// folders, and not more than its quota.
#include <cstdlib>
#include <filesystem>

#include "guest/codec.h"
#include "guest/guest_files.h"
#include "guest/message_buffer.h"
#include "support/temporary_folder.h"

namespace {

using namespace strata;
using namespace strata::guest;

constexpr uint64_t kQuota = 4096;

void take(const Message& message, GuestFiles& files) {
  if (const Result<File> file = decode<File>(message); message.kind == Kind::File && file)
    (void)static_cast<bool>(files.begin(*file));
  if (const Result<Piece> piece = decode<Piece>(message); message.kind == Kind::Piece && piece)
    (void)static_cast<bool>(files.take(*piece));
  if (files.take_description()) (void)static_cast<bool>(files.write_head({0, 1}, 4096));
}

void check(const std::string& folder) {
  uint64_t size = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().string().substr(folder.size() + 1);
    if (!name.starts_with("guest-g") && !name.starts_with(".guest-g")) abort();
    if (entry.is_regular_file() && name != "guest-g.dat") size += entry.file_size();
  }
  if (size > kQuota) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const test::TemporaryFolder folder;
  Quota quota(kQuota);
  GuestFiles files(folder.path(), "g", quota);
  MessageBuffer messages(Role::Guest);
  messages.key_is_proved();
  Bytes rest = std::as_bytes(std::span(data, size));
  while (!rest.empty()) {
    const std::span<std::byte> room = messages.room();
    const size_t some = std::min(room.size(), rest.size());
    std::ranges::copy(rest.first(some), room.begin());
    messages.filled(some);
    rest = rest.subspan(some);
    while (true) {
      const Result<std::optional<Message>> message = messages.next();
      if (!message) return check(folder.path()), 0;
      if (!*message) break;
      take(**message, files);
    }
  }
  check(folder.path());
  return 0;
}
