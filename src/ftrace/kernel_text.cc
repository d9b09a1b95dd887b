// SPDX-License-Identifier: Apache-2.0
#include "ftrace/kernel_text.h"

#include <algorithm>
#include <charconv>

namespace strata::ftrace {
namespace {

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::optional<uint64_t> hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace

void Symbols::parse() const {
  parsed_ = true;
  answers_.resize(kAnswers);
  std::string_view rest = text_;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    const auto address = hex(take_word(line));
    const std::string_view kind = take_word(line);
    const std::string_view name = take_word(line);
    std::string_view module = take_word(line);
    if (!address || kind.empty() || name.empty()) continue;
    // ARM marks its instruction sets with '$' names; absolute ones are offsets into per-CPU data.
    if (name[0] == '$' || kind[0] == 'A' || kind[0] == 'a') continue;
    if (module.starts_with('[') && module.ends_with(']'))
      module = module.substr(1, module.size() - 2);
    entries_.push_back({*address, name, module});
  }
  // Where several names have one address, libtraceevent lists the last of the file first.
  std::reverse(entries_.begin(), entries_.end());
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.address < b.address; });
}

std::optional<Symbols::Found> Symbols::find(uint64_t address) const {
  if (!parsed_) parse();
  Answer& answer = answers_[(address * 0x9e37'79b9'7f4a'7c15) >> 54];
  if (answer.address != address || !answer.known) answer = {address, true, search(address)};
  return answer.found;
}

std::optional<Symbols::Found> Symbols::search(uint64_t address) const {
  // Which of several names of one address is shown follows from the order in which bsearch(3) looks
  // at them; this is the same order.
  size_t low = 0;
  size_t high = entries_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const Entry& entry = entries_[middle];
    const uint64_t end = middle + 1 < entries_.size() ? entries_[middle + 1].address : 0;
    if (address == entry.address || (address > entry.address && address < end))
      return Found{entry.name, entry.module, entry.address};
    if (address < entry.address)
      high = middle;
    else
      low = middle + 1;
  }
  return std::nullopt;
}

std::optional<uint64_t> Symbols::address_of(std::string_view name) const {
  if (!parsed_) parse();
  for (const Entry& entry : entries_)
    if (entry.name == name) return entry.address;
  return std::nullopt;
}

void PrintkFormats::parse() const {
  parsed_ = true;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto address = hex(line.substr(0, colon));
    if (!address) continue;
    std::string_view format = line.substr(std::min(colon + 2, line.size()));
    if (format.starts_with('"')) format.remove_prefix(1);
    if (format.ends_with('"')) {
      format.remove_suffix(1);
      if (format.ends_with("\\n")) format.remove_suffix(2);
    }
    formats_.insert_or_assign(*address, format);
  }
}

std::optional<std::string_view> PrintkFormats::find(uint64_t address) const {
  if (!parsed_) parse();
  const auto found = formats_.find(address);
  if (found == formats_.end()) return std::nullopt;
  return found->second;
}

}  // namespace strata::ftrace
