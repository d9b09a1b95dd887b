// SPDX-License-Identifier: Apache-2.0
#include "kernel/profile_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/near_names.h"

namespace strata::kernel {
namespace {

constexpr std::string_view kBlanks = " \t";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\t') || code == 0x7f;
}

// Without blanks at its ends. All texts here are parts of the line that is being read, so that
// their column is known.
std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text.substr(text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

class Parser {
 public:
  Parser(const std::vector<Profile>& known, const std::string& path) : known_(known), path_(path) {
    for (size_t i = 0; i < known.size(); ++i) places_.emplace(known[i].name, i);
  }

  Result<std::vector<Profile>> run(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      line_ = text.substr(0, end);
      ++line_number_;
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      if (Status read = read_line(); !read) return std::move(read).error();
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (Status ended = end_profile(); !ended) return std::move(ended).error();
    return std::move(profiles_);
  }

 private:
  Error fail(size_t line, size_t column, const std::string& cause) const {
    return Error{
        path_, std::nullopt,
        "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + cause};
  }
  // `at` is a part of the line.
  Error fail(std::string_view at, const std::string& cause) const {
    return fail(line_number_, static_cast<size_t>(at.data() - line_.data()) + 1, cause);
  }

  Status read_line() {
    const auto control = std::find_if(line_.begin(), line_.end(), is_control);
    if (control != line_.end())
      return fail(line_.substr(static_cast<size_t>(control - line_.begin())),
                  "this is no text: a control character");
    const std::string_view text = trimmed(line_);
    if (text.empty() || text.starts_with('#')) return {};
    return text.starts_with('[') ? read_header(text) : read_setting(text);
  }

  Status read_header(std::string_view text) {
    if (Status ended = end_profile(); !ended) return ended;
    const size_t close = text.find(']');
    if (close == std::string_view::npos)
      return fail(text.substr(text.size()), "expected ']' after the profile's name");
    if (close + 1 != text.size())
      return fail(trimmed(text.substr(close + 1)), "nothing can follow the profile's name");
    const std::string_view name = trimmed(text.substr(1, close - 1));
    if (!is_name(name))
      return fail(name, "a profile's name has letters, digits, '_', '-' and '.', and no others");
    const auto [place, is_new] =
        places_.emplace(std::string(name), known_.size() + profiles_.size());
    if (!is_new) {
      const bool built_in = place->second < known_.size() && known_[place->second].built_in;
      return fail(name, "'" + std::string(name) +
                            (built_in ? "' is a built-in profile: choose another name"
                                      : "' is the name of a profile already"));
    }
    profiles_.push_back({std::string(name), "", {}, {}, false});
    header_line_ = line_number_;
    return {};
  }

  Status read_setting(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view key = trimmed(text.substr(0, equals));
    if (equals == std::string_view::npos)
      return fail(text, "expected [NAME], or description, include or events with '='");
    if (profiles_.empty()) return fail(text, "expected the name of a profile first, as in [mine]");
    const std::string_view value = trimmed(text.substr(equals + 1));
    if (key != "description" && key != "include" && key != "events")
      return fail(text, "'" + std::string(key) + "' is no setting" +
                            did_you_mean(key, {"description", "include", "events"}));
    if (value.empty()) return fail(value, "expected a value");
    if (key == "description") return read_description(value);
    return read_words(value, key == "events");
  }

  Status read_description(std::string_view value) {
    std::string& description = profiles_.back().description;
    if (!description.empty()) return fail(value, "the profile has a description already");
    description = std::string(value);
    return {};
  }

  Status read_words(std::string_view value, bool are_events) {
    while (!value.empty()) {
      const size_t end = std::min(value.find_first_of(kBlanks), value.size());
      const std::string_view word = value.substr(0, end);
      if (word.starts_with('#')) return fail(word, "a comment needs a line of its own");
      if (Status read = are_events ? read_term(word) : read_include(word); !read) return read;
      value = trimmed(value.substr(end));
    }
    return {};
  }

  Status read_include(std::string_view name) {
    const auto place = places_.find(name);
    const size_t own = known_.size() + profiles_.size() - 1;
    if (place == places_.end() || place->second == own) {
      std::vector<std::string_view> names;
      for (const auto& [other, at] : places_)
        if (at != own) names.push_back(other);
      return fail(name, "'" + std::string(name) +
                            "' is neither a built-in profile nor one above this one" +
                            did_you_mean(name, names));
    }
    profiles_.back().includes.push_back(place->second);
    return {};
  }

  Status read_term(std::string_view word) {
    ProfileTerm term;
    std::string_view rest = word;
    if (rest.starts_with('!')) {
      term.excluded = true;
      rest.remove_prefix(1);
    }
    for (;;) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      const std::string_view pattern = rest.substr(0, bar);
      if (pattern.empty() || pattern.starts_with('!') || pattern == ":")
        return fail(rest, "expected SYSTEM:EVENT, a system or an event");
      term.alternatives.emplace_back(pattern);
      if (bar == rest.size()) break;
      if (term.excluded)
        return fail(rest.substr(bar), "what is left out has no alternatives: write two patterns");
      rest.remove_prefix(bar + 1);
    }
    profiles_.back().terms.push_back(std::move(term));
    return {};
  }

  Status end_profile() const {
    if (profiles_.empty()) return {};
    const Profile& last = profiles_.back();
    const bool adds =
        !last.includes.empty() || std::any_of(last.terms.begin(), last.terms.end(),
                                              [](const ProfileTerm& t) { return !t.excluded; });
    if (adds) return {};
    return fail(header_line_, 1, "profile '" + last.name + "' chooses no events");
  }

  const std::vector<Profile>& known_;
  const std::string& path_;
  std::map<std::string, size_t, std::less<>> places_;
  std::vector<Profile> profiles_;
  size_t header_line_ = 0;
  std::string_view line_;
  size_t line_number_ = 0;
};

}  // namespace

Result<std::vector<Profile>> parse_profiles(std::string_view text,
                                            const std::vector<Profile>& known,
                                            const std::string& path) {
  return Parser(known, path).run(text);
}

}  // namespace strata::kernel
