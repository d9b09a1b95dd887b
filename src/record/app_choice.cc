// SPDX-License-Identifier: Apache-2.0
#include "record/app_choice.h"

#include <algorithm>

namespace strata::record {
namespace {

bool chooses(const trace::EventPattern& pattern, const collect::FileSite& site) {
  return pattern.matches(site.site.provider, site.site.name);
}

bool chooses_any(const std::vector<std::string>& patterns, const collect::FileSite& site) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return chooses(trace::EventPattern(pattern), site);
  });
}

// Whether it is among those that are chosen now. In a file a site is known by its flag.
bool is_chosen(const AppRequest& request, const collect::ProbedFile& file,
               const collect::FileSite& site) {
  return std::ranges::any_of(request.files, [&](const collect::ProbedFile& other) {
    return other.path == file.path && other.process == file.process &&
           std::ranges::any_of(other.sites, [&](const collect::FileSite& chosen) {
             return chosen.site.flag == site.site.flag;
           });
  });
}

}  // namespace

bool chooses_any(const trace::EventPattern& pattern,
                 const std::vector<collect::ProbedFile>& files) {
  return std::ranges::any_of(files, [&](const collect::ProbedFile& file) {
    return std::ranges::any_of(
        file.sites, [&](const collect::FileSite& site) { return chooses(pattern, site); });
  });
}

std::vector<collect::ProbedFile> choose_again(const AppRequest& request, const AppChange& change) {
  std::vector<collect::ProbedFile> files = request.all;
  for (collect::ProbedFile& file : files) {
    std::erase_if(file.sites, [&](const collect::FileSite& site) {
      return !chooses_any(change.enable, site) &&
             (chooses_any(change.disable, site) || !is_chosen(request, file, site));
    });
  }
  std::erase_if(files, [](const auto& file) { return file.sites.empty(); });
  return files;
}

Result<AppRequest> choose_probes(const std::vector<std::string>& programs,
                                 std::vector<EventWish>& wishes) {
  AppRequest request;
  for (const std::string& program : programs) {
    Result<std::vector<collect::ProbedFile>> files = collect::probed_files(program);
    if (!files) return std::move(files).error();
    std::erase_if(*files, [](const collect::ProbedFile& file) { return file.sites.empty(); });
    if (files->empty())
      return Error{program, std::nullopt, "has no probes ('strata probe list' shows them)"};
    std::ranges::move(*files, std::back_inserter(request.files));
  }

  request.all = request.files;

  std::vector<trace::EventPattern> patterns;
  std::vector<EventWish> for_the_kernel;
  for (EventWish& wish : wishes) {
    trace::EventPattern pattern(wish.pattern);
    if (!chooses_any(pattern, request.files)) {
      for_the_kernel.push_back(std::move(wish));
      continue;
    }
    if (!wish.filters.empty())
      return Error{"", std::nullopt,
                   "'" + wish.pattern + "' is a probe of a program, for which there is no -F"};
    patterns.push_back(std::move(pattern));
  }
  wishes = std::move(for_the_kernel);
  if (patterns.empty()) return request;
  for (collect::ProbedFile& file : request.files) {
    std::erase_if(file.sites, [&](const collect::FileSite& site) {
      return std::ranges::none_of(patterns,
                                  [&](const auto& pattern) { return chooses(pattern, site); });
    });
  }
  std::erase_if(request.files, [](const auto& file) { return file.sites.empty(); });
  return request;
}

}  // namespace strata::record
