/* SPDX-License-Identifier: Apache-2.0
 *
 * Probes: events that a program tells of itself, at about the price of reading the clock while
 * somebody records them, and of a test and a branch not taken while nobody does. For C11 and C++20,
 * with gcc or clang; link libstrata-probe. No code generator, no daemon, nothing to initialise.
 *
 *     #include <strata/probe.h>
 *
 *     STRATA_EVENT(shop, order_placed, STRATA_INFO, (u64, order), (string, customer), (f64, total))
 *     ...
 *     STRATA_TRACE(shop, order_placed, order->id, order->customer, order->total);
 *
 * The first line declares, once, in a source file or a header that several include. The second
 * fires, wherever it stands. Arguments are evaluated only while the event is recorded.
 *
 *   STRATA_EVENT(PROVIDER, NAME, LEVEL, (TYPE, FIELD)...)        declares an event
 *   STRATA_TRACE(PROVIDER, NAME, VALUE...)                       fires it
 *   STRATA_ENABLED(PROVIDER, NAME)                               is it recorded? Also for spans and
 *                                                                counters; to skip costly
 * preparation STRATA_SPAN_EVENT(PROVIDER, NAME, LEVEL, (TYPE, FIELD)...)   declares a span of time:
 * one record with its begin and end STRATA_SPAN(PROVIDER, NAME, VALUE...) C++: from here to the
 * scope's end, where the values are evaluated uint64_t t = STRATA_SPAN_BEGIN(PROVIDER, NAME);
 *   STRATA_SPAN_END(PROVIDER, NAME, t, VALUE...)                 the same by hand
 *   STRATA_COUNTER(PROVIDER, NAME, LEVEL, TYPE)                  declares a number that goes up and
 *                                                                down (an integer or f32, f64)
 *   STRATA_COUNT(PROVIDER, NAME, VALUE)                          what it is now
 *
 * | TYPE                   | C                                 | C++ also takes |
 * |------------------------|-----------------------------------|--------------------------------------|
 * | u8 .. u64, s8 .. s64   | an integer                        | enums; what is too wide is refused
 * | | f32, f64               | a float                           | | | string                 |
 * const char*, up to its NUL        | std::string, std::string_view        | | bytes |
 * (strata_bytes){data, size}        | anything with data() and size()      | | seq_u8 .. seq_s64 |
 * (strata_seq_u32){data, count}     | the same, of this very element type  | | enum | an integer;
 * (enum, FIELD, "idle=0,busy=1") names its values              |
 *
 * A record has at most 4096 bytes: longer strings and sequences are cut, and the record is marked.
 * Probes may stand in signal handlers, in libraries that come and go, before and after fork().
 *
 * Two kinds of site. Normally a site tests a flag, which costs a cache miss where the flag is not
 * in the cache. With STRATA_PROBE_PATCHED defined (for a whole target, or before this header), the
 * sites of x86-64 code are instructions that do nothing until they are rewritten; they touch no
 * data. STRATA_TRACE_FLAG and STRATA_TRACE_PATCHED choose for a single site.
 *
 * With STRATA_PROBE_USDT defined, events are USDT probes too, for perf and bpftrace.
 */
#ifndef STRATA_PROBE_H
#define STRATA_PROBE_H

/* The macros use what pedantic compilers warn of: labels as values of asm, __VA_OPT__ in C. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>
#include <strata/probe/fields.h>
#include <strata/probe/site.h>
#include <string.h>

/* Levels, on LTTng's and syslog's scale. They are pasted into assembly, hence macros. */
#define STRATA_EMERGENCY 0
#define STRATA_ALERT 1
#define STRATA_CRITICAL 2
#define STRATA_ERROR 3
#define STRATA_WARNING 4
#define STRATA_NOTICE 5
#define STRATA_INFO 6
#define STRATA_DEBUG_SYSTEM 7
#define STRATA_DEBUG_PROGRAM 8
#define STRATA_DEBUG_PROCESS 9
#define STRATA_DEBUG_MODULE 10
#define STRATA_DEBUG_UNIT 11
#define STRATA_DEBUG_FUNCTION 12
#define STRATA_DEBUG_LINE 13
#define STRATA_DEBUG 14

#define STRATA_EVENT(provider, name, level, ...)                           \
  STRATA_SITE_DECLARE(provider, name, level, 0 __VA_OPT__(, ) __VA_ARGS__) \
  STRATA_SITE_EMIT(provider, name, __VA_ARGS__)

#define STRATA_SPAN_EVENT(provider, name, level, ...)                      \
  STRATA_SITE_DECLARE(provider, name, level, 1 __VA_OPT__(, ) __VA_ARGS__) \
  STRATA_SITE_EMIT(provider, name, (u64, strata_begin)__VA_OPT__(, ) __VA_ARGS__)

#define STRATA_COUNTER(provider, name, level, type)            \
  STRATA_SITE_DECLARE(provider, name, level, 2, (type, value)) \
  STRATA_SITE_EMIT(provider, name, (type, value))

#define STRATA_ENABLED(provider, name) __builtin_expect(STRATA_SITE_FLAG(provider, name) != 0, 0)

#if defined(STRATA_PROBE_PATCHED) && defined(__x86_64__)
#define STRATA_TRACE(provider, name, ...) \
  STRATA_TRACE_PATCHED(provider, name __VA_OPT__(, ) __VA_ARGS__)
#else
#define STRATA_TRACE(provider, name, ...) \
  STRATA_TRACE_FLAG(provider, name __VA_OPT__(, ) __VA_ARGS__)
#endif

#define STRATA_TRACE_FLAG(provider, name, ...)       \
  do {                                               \
    if (STRATA_ENABLED(provider, name)) {            \
      STRATA_SITE_CALL(provider, name, __VA_ARGS__); \
    }                                                \
  } while (0)

#define STRATA_TRACE_PATCHED(provider, name, ...)      \
  do {                                                 \
    __label__ strata_on;                               \
    STRATA_SITE_PATCH(provider, name, strata_on);      \
    if (0) {                                           \
    strata_on:                                         \
      STRATA_SITE_COLD;                                \
      if (STRATA_ENABLED(provider, name)) {            \
        STRATA_SITE_CALL(provider, name, __VA_ARGS__); \
      }                                                \
    }                                                  \
  } while (0)

#define STRATA_COUNT(provider, name, value) STRATA_TRACE(provider, name, value)

/* 0: not recorded. */
#define STRATA_SPAN_BEGIN(provider, name) \
  (STRATA_ENABLED(provider, name) ? strata_probe_now(&strata_probe_this_module) : (uint64_t)0)
#define STRATA_SPAN_END(provider, name, begin, ...)                                   \
  do {                                                                                \
    const uint64_t strata_span_begin = (begin);                                       \
    if (__builtin_expect(strata_span_begin != 0, 0)) {                                \
      STRATA_SITE_CALL(provider, name, strata_span_begin __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                 \
  } while (0)

#ifdef __cplusplus
#define STRATA_SPAN(provider, name, ...)                                                \
  const auto STRATA_PP_JOIN(strata_span_, __COUNTER__) =                                \
      ::strata::probe::ScopeEnd([&, strata_begin = STRATA_SPAN_BEGIN(provider, name)] { \
        STRATA_SPAN_END(provider, name, strata_begin __VA_OPT__(, ) __VA_ARGS__);       \
      })

namespace strata::probe {

/* Does something where its scope ends. */
template <typename Action>
class ScopeEnd {
 public:
  explicit ScopeEnd(Action action) : action_(static_cast<Action&&>(action)) {}
  ~ScopeEnd() { action_(); }
  ScopeEnd(const ScopeEnd&) = delete;
  ScopeEnd& operator=(const ScopeEnd&) = delete;

 private:
  Action action_;
};

}  // namespace strata::probe
#endif

#endif
