// SPDX-License-Identifier: Apache-2.0
//
// Probes around a library's calls, in programs that know nothing of it: what names they look up,
// and how long each takes. LD_PRELOAD=./libwatch_names.so PROGRAM
#include <dlfcn.h>
#include <netdb.h>
#include <strata/probe.h>

STRATA_SPAN_EVENT(names, lookup, STRATA_INFO, (string, node), (string, service), (s32, result));

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  static const auto original =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  int result = 0;
  STRATA_SPAN(names, lookup, node, service, result);
  return result = original(node, service, hints, found);
}
