// SPDX-License-Identifier: Apache-2.0
#include "history/footers.h"

#include <cstring>
#include <optional>
#include <span>

#include "history/checksum.h"

namespace strata::history {
namespace {

// Of places that look like a footer's.
constexpr uint32_t kMostTries = 10'000;

std::span<const uint8_t> bytes_of(const MappedFile& file) {
  return {reinterpret_cast<const uint8_t*>(file.bytes().data()), file.bytes().size()};
}

Error damaged(const MappedFile& file) {
  if (file.shrank()) return file.shrank_error();
  return {file.path(), std::nullopt, "is damaged; delete it, and it is made anew"};
}

// The footer that begins there, if there is one.
std::optional<Footer> footer_at(std::span<const uint8_t> all, uint64_t at, uint64_t magic) {
  Footer footer;
  if (at == 0 || at > all.size() || all.size() - at < sizeof footer) return std::nullopt;
  std::memcpy(&footer, all.data() + at, sizeof footer);
  if (footer.magic != magic || footer.directory > at ||
      footer.directory_size != at - footer.directory || footer.previous > footer.directory ||
      footer.checksum != checksum_of(footer, all.subspan(footer.directory, footer.directory_size)))
    return std::nullopt;
  return footer;
}

// Where the last checkpoint's footer is; 0: there is none.
uint64_t find_last(std::span<const uint8_t> all, uint64_t magic) {
  if (all.size() < sizeof(Footer)) return 0;
  uint32_t tries = 0;
  for (uint64_t at = all.size() - sizeof(Footer); at > 0; --at) {
    uint64_t word = 0;
    std::memcpy(&word, all.data() + at, sizeof word);
    if (word != magic) continue;
    const std::optional<Footer> footer = footer_at(all, at, magic);
    if (footer && footer->kind != FooterKind::Directory) return at;
    if (++tries == kMostTries) break;
  }
  return 0;
}

}  // namespace

Result<std::vector<Footer>> read_footers(const MappedFile& file, uint64_t magic, uint32_t version,
                                         uint64_t source) {
  const std::span<const uint8_t> all = bytes_of(file);
  std::vector<Footer> footers;
  for (uint64_t at = find_last(all, magic); at != 0; at = footers.back().previous) {
    const std::optional<Footer> footer = footer_at(all, at, magic);
    if (!footer || (!footers.empty() && at + sizeof(Footer) > footers.back().directory))
      return damaged(file);
    if (footer->version != version || footer->source != source)
      return Error{file.path(), std::nullopt,
                   "was made from something else, or by another version"};
    footers.push_back(*footer);
  }
  if (footers.empty()) return damaged(file);
  return footers;
}

}  // namespace strata::history
