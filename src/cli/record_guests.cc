// SPDX-License-Identifier: Apache-2.0
#include "cli/record_guests.h"

#include <sys/utsname.h>

#include <algorithm>

#include "cli/guest_key.h"
#include "cli/record_wish.h"
#include "cli/size.h"

namespace strata::cli {
namespace {

Result<guest::GuestRequest> request_of(const GuestArguments& arguments) {
  const auto fail = [&](const std::string& cause) {
    return Error{"", std::nullopt, "--guest " + arguments.guest + ": " + cause};
  };
  const size_t sign = arguments.guest.find('=');
  if (sign == std::string::npos) return fail("where is it? NAME=ADDRESS, as in web1=tcp://web1");
  guest::GuestRequest request;
  request.name = arguments.guest.substr(0, sign);
  if (!guest::is_guest_name(request.name))
    return fail("a name has 1 to 64 characters, and not '-app-' in it");
  utsname own{};
  uname(&own);
  if (request.name == own.nodename) return fail("so this machine is called itself");
  Result<guest::Address> address = guest::parse_address(arguments.guest.substr(sign + 1));
  if (!address) return fail(address.error().text());
  request.address = *std::move(address);
  Result<record::Wish> wish = wish_of(arguments);
  if (!wish) return fail(wish.error().text());
  if (Status status = read_profiles(arguments, *wish); !status) return std::move(status).error();
  static_cast<record::Wish&>(request.request) = *std::move(wish);
  if (arguments.quota.empty()) return request;
  const Result<uint64_t> quota = parse_size(arguments.quota);
  if (!quota) return fail(quota.error().text());
  request.quota = *quota;
  return request;
}

}  // namespace

Result<Guests> guests_of(const RecordArguments& arguments) {
  Guests guests;
  if (arguments.guests.empty()) return guests;
  if (arguments.flight || !arguments.keep.empty() || !arguments.max_size.empty())
    return Error{"", std::nullopt,
                 "--flight, --keep and --max-size are for this machine alone, without --guest"};
  for (const GuestArguments& one : arguments.guests) {
    Result<guest::GuestRequest> request = request_of(one);
    if (!request) return std::move(request).error();
    const auto has_name = [&](const auto& guest) { return guest->name() == request->name; };
    if (std::ranges::any_of(guests, has_name))
      return Error{"", std::nullopt, "two guests are called " + request->name};
    Result<guest::Key> key = read_guest_key(one.key);
    if (!key) return std::move(key).error();
    guests.push_back(std::make_unique<guest::GuestSource>(*std::move(request), *std::move(key)));
  }
  return guests;
}

}  // namespace strata::cli
