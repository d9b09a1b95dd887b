// SPDX-License-Identifier: Apache-2.0
#include "collect/site_choice.h"

#include <algorithm>

#include "base/glob.h"

namespace strata::collect {
namespace {

class SiteGlob {
 public:
  explicit SiteGlob(const std::string& text)
      : provider_(text.substr(0, text.find(':'))),
        name_(text.find(':') == std::string::npos ? "*" : text.substr(text.find(':') + 1)) {}

  bool matches(const Site& site) const {
    return provider_.matches(site.provider) && name_.matches(site.name);
  }

 private:
  Glob provider_;
  Glob name_;
};

}  // namespace

std::vector<FileSite> choose_sites(std::span<const FileSite> sites,
                                   std::span<const std::string> globs) {
  std::vector<SiteGlob> choices;
  for (const std::string& glob : globs) choices.emplace_back(glob);
  std::vector<FileSite> chosen;
  for (const FileSite& site : sites)
    if (std::ranges::any_of(choices, [&](const SiteGlob& glob) { return glob.matches(site.site); }))
      chosen.push_back(site);
  return chosen;
}

}  // namespace strata::collect
