// SPDX-License-Identifier: Apache-2.0
#include "record/app_choice.h"

#include <algorithm>

namespace strata::record {
namespace {

using collect::FileSite;
using collect::ProbedFile;

bool chooses(const trace::EventPattern& pattern, const FileSite& site) {
  return pattern.matches(site.site.provider, site.site.name);
}

template <typename Predicate>
bool any_site(const std::vector<ProbedFile>& files, Predicate predicate) {
  return std::ranges::any_of(
      files, [&](const ProbedFile& file) { return std::ranges::any_of(file.sites, predicate); });
}

template <typename Predicate>
void erase_sites(std::vector<ProbedFile>& files, Predicate predicate) {
  for (ProbedFile& file : files) std::erase_if(file.sites, predicate);
  std::erase_if(files, [](const ProbedFile& file) { return file.sites.empty(); });
}

// Probes, and the conditions that their events are to fulfil.
struct Wanted {
  trace::EventPattern pattern{"*"};
  std::vector<trace::FilterTree> filters;
};

std::string fields_of(const collect::Site& site) {
  std::string text;
  for (const collect::SiteField& field : site.fields)
    (text += text.empty() ? "" : ", ") += field.name;
  if (site.kind == probe::abi::SiteKind::Span)
    text += text.empty() ? "duration_ns" : ", duration_ns";
  return text.empty() ? "none" : text;
}

// Every field of the filter is one of some probe of the pattern's.
Status check_fields(const trace::FilterTree& filter, const std::string& text,
                    const trace::EventPattern& pattern, const std::vector<ProbedFile>& files) {
  for (const trace::FilterTerm& term : filter.terms) {
    const auto has_it = [&](const FileSite& site) {
      return chooses(pattern, site) && collect::has_field(site.site, term.field);
    };
    if (any_site(files, has_it)) continue;
    std::string cause = "-F '" + text + "': no probe has a field '" + term.field + "'";
    any_site(files, [&](const FileSite& site) {
      if (chooses(pattern, site))
        cause +=
            "\n  " + site.site.provider + ":" + site.site.name + " has " + fields_of(site.site);
      return false;
    });
    return Error{"", std::nullopt, std::move(cause)};
  }
  return {};
}

Status add_filters(const std::vector<std::string>& texts, const std::vector<ProbedFile>& files,
                   Wanted& wanted) {
  for (const std::string& text : texts) {
    Result<trace::FilterTree> filter = trace::parse_filter(text);
    if (!filter)
      return Error{"", std::nullopt,
                   "-F '" + text + "': in column " +
                       std::to_string(filter.error().offset.value_or(0) + 1) + ": " +
                       filter.error().cause};
    if (Status status = check_fields(*filter, text, wanted.pattern, files); !status) return status;
    wanted.filters.push_back(*std::move(filter));
  }
  return {};
}

// Gives each site the filters of the last that wants it; those whose events can never fulfil them
// are not wanted.
Status give_filters(const std::vector<Wanted>& wanted, AppRequest& request) {
  Status status;
  erase_sites(request.files, [&](const FileSite& site) {
    const auto last = std::ranges::find_if(wanted.rbegin(), wanted.rend(), [&](const Wanted& one) {
      return chooses(one.pattern, site);
    });
    if (last == wanted.rend()) return true;
    if (last->filters.empty()) return false;
    const Result<std::vector<std::byte>> predicate =
        collect::make_predicate(last->filters, site.site);
    if (!predicate) {
      status = predicate.error();
      return false;
    }
    const std::string name = site.site.provider + ":" + site.site.name;
    if (collect::drops_everything(*predicate)) {
      request.remarks.push_back(
          name +
          " cannot fulfil the filter and is not recorded; its fields: " + fields_of(site.site));
      return true;
    }
    request.filters[name] = last->filters;
    return false;
  });
  return status;
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

bool chooses_any(const trace::EventPattern& pattern, const std::vector<ProbedFile>& files) {
  return any_site(files, [&](const FileSite& site) { return chooses(pattern, site); });
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
                                 std::vector<EventWish>& wishes,
                                 const std::vector<std::string>& filters_for_all) {
  AppRequest request;
  for (const std::string& program : programs) {
    Result<std::vector<ProbedFile>> files = collect::probed_files(program);
    if (!files) return std::move(files).error();
    std::erase_if(*files, [](const ProbedFile& file) { return file.sites.empty(); });
    if (files->empty())
      return Error{program, std::nullopt, "has no probes ('strata probe list' shows them)"};
    std::ranges::move(*files, std::back_inserter(request.files));
  }
  if (request.empty()) return request;

  request.all = request.files;
  std::vector<Wanted> wanted;
  std::vector<EventWish> for_the_kernel;
  for (EventWish& wish : wishes) {
    Wanted one{trace::EventPattern(wish.pattern), {}};
    if (!chooses_any(one.pattern, request.files)) {
      for_the_kernel.push_back(std::move(wish));
      continue;
    }
    std::vector<std::string> filters = filters_for_all;
    filters.insert(filters.end(), wish.filters.begin(), wish.filters.end());
    if (Status status = add_filters(filters, request.files, one); !status)
      return std::move(status).error();
    wanted.push_back(std::move(one));
  }
  wishes = std::move(for_the_kernel);
  if (wanted.empty()) {
    Wanted all;
    if (Status status = add_filters(filters_for_all, request.files, all); !status)
      return std::move(status).error();
    wanted.push_back(std::move(all));
  }
  if (Status status = give_filters(wanted, request); !status) return std::move(status).error();
  if (request.empty())
    return Error{"", std::nullopt, "no probe of the programs can fulfil the filters"};
  return request;
}

}  // namespace strata::record
