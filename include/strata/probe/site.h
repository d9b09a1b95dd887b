/* SPDX-License-Identifier: Apache-2.0
 *
 * What a declaration and a site of <strata/probe.h> become. Not for direct use; the layout of the
 * sections is described in src/probe/abi.h.
 */
#ifndef STRATA_PROBE_SITE_H
#define STRATA_PROBE_SITE_H

#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>
#include <strata/probe/fields.h>

/* ---- The library ---- */

/* A program or shared library with sites. `attached` is the library's: which ring the ids of its
 * sites belong to, and the first of them. */
struct strata_probe_module {
  uint64_t attached;
  uint64_t started;
  uint32_t* flags;
  const uint32_t* flags_end;
  const unsigned char* sites;
  const unsigned char* sites_end;
  const int32_t* patches;
  const int32_t* patches_end;
};

#ifdef __cplusplus
extern "C" {
#define STRATA_PROBE_NOTHROW noexcept
#else
#define STRATA_PROBE_NOTHROW __attribute__((nothrow))
#endif

/* Before the program's or library's own code runs: attaches where sites are already on. */
void strata_probe_start(struct strata_probe_module* module) STRATA_PROBE_NOTHROW;

/* Writes a record whose fields begin at 12; the bytes before are the library's. `shape` is its
 * size, a multiple of 8, plus 1 where something was cut. It lies on a multiple of 8. `flag` is the
 * site's. */
void strata_probe_write(struct strata_probe_module* module, const uint32_t* flag, void* record,
                        uint32_t shape) STRATA_PROBE_NOTHROW;

/* The time on the clock of the records, never 0; 0: nobody records. */
uint64_t strata_probe_now(struct strata_probe_module* module) STRATA_PROBE_NOTHROW;

/* The linker defines these for sections with such names; none where no site is declared. */
#define STRATA_PROBE_BOUNDS(type, section)                                     \
  extern type __start_##section[] __attribute__((weak, visibility("hidden"))); \
  extern type __stop_##section[] __attribute__((weak, visibility("hidden")))
STRATA_PROBE_BOUNDS(uint32_t, strata_flags);
STRATA_PROBE_BOUNDS(const unsigned char, strata_sites);
STRATA_PROBE_BOUNDS(const int32_t, strata_patches);

/* One for each program or library: weak, so that its files share it, and not visible outside. */
__attribute__((weak, visibility("hidden"))) struct strata_probe_module strata_probe_this_module = {
    UINT64_MAX, /* none */
    0,
    __start_strata_flags,
    __stop_strata_flags,
    __start_strata_sites,
    __stop_strata_sites,
    __start_strata_patches,
    __stop_strata_patches,
};

/* Each file has an entry in the table of constructors; all lead here. */
__attribute__((weak, visibility("hidden"), constructor)) void strata_probe_module_starts(void) {
  if (strata_probe_this_module.started) return;
  strata_probe_this_module.started = 1;
  strata_probe_start(&strata_probe_this_module);
}

#ifdef __cplusplus
}
#endif

/* ---- Preprocessor ---- */

#define STRATA_PP_JOIN_(a, b) a##b
#define STRATA_PP_JOIN(a, b) STRATA_PP_JOIN_(a, b)
#define STRATA_PP_TEXT_(x) #x
#define STRATA_PP_TEXT(x) STRATA_PP_TEXT_(x)

/* EACH(m, (a), (b)): m(a) m(b). LIST(m, (a), (b)): m(a), m(b). Up to 64 of them. */
#define STRATA_PP_PARENTHESES ()
#define STRATA_PP_SCAN(...) STRATA_PP_SCAN3(STRATA_PP_SCAN3(STRATA_PP_SCAN3(__VA_ARGS__)))
#define STRATA_PP_SCAN3(...) STRATA_PP_SCAN2(STRATA_PP_SCAN2(STRATA_PP_SCAN2(__VA_ARGS__)))
#define STRATA_PP_SCAN2(...) STRATA_PP_SCAN1(STRATA_PP_SCAN1(STRATA_PP_SCAN1(__VA_ARGS__)))
#define STRATA_PP_SCAN1(...) __VA_ARGS__
#define STRATA_PP_EACH(m, ...) __VA_OPT__(STRATA_PP_SCAN(STRATA_PP_EACH_(m, __VA_ARGS__)))
#define STRATA_PP_EACH_(m, field, ...) \
  m field __VA_OPT__(STRATA_PP_EACH_AGAIN STRATA_PP_PARENTHESES(m, __VA_ARGS__))
#define STRATA_PP_EACH_AGAIN() STRATA_PP_EACH_
#define STRATA_PP_LIST(m, ...) __VA_OPT__(STRATA_PP_SCAN(STRATA_PP_LIST_(m, __VA_ARGS__)))
#define STRATA_PP_LIST_(m, field, ...) \
  m field __VA_OPT__(, STRATA_PP_LIST_AGAIN STRATA_PP_PARENTHESES(m, __VA_ARGS__))
#define STRATA_PP_LIST_AGAIN() STRATA_PP_LIST_

/* ---- A declaration ---- */

/* The name in assembly has points, which the names of C cannot have: a_b.c is not a.b_c. */
#define STRATA_SITE_SYMBOL(provider, name) "strata_flag." #provider "." #name

#define STRATA_SITE_COUNT(type, name, ...) "+1"
#define STRATA_SITE_STRING(type, name, ...) \
  ".ascii \"" #type " " #name               \
  "\"\n" __VA_OPT__(".ascii \" \"\n.ascii \"" __VA_ARGS__ "\"\n") ".byte 0\n"

/* Everything that one site has in the file. All is in one group, which exists once in a program
 * however many files include the declaration, and is dropped or kept as one. (.ifndef: with
 * link-time optimisation several files become one.) The struct is for "declared twice". */
#define STRATA_SITE_DECLARE(provider, name, level, kind, ...)                                      \
  struct strata_probe_##provider##_##name;                                                         \
  struct strata_probe_##provider##_##name {                                                        \
    int declared;                                                                                  \
  };                                                                                               \
  __asm__(".ifndef " STRATA_SITE_SYMBOL(provider, name) "\n"                                     \
          STRATA_SITE_SECTION("strata_flags", "awG", provider, name)                             \
          ".balign 4\n"                                                                          \
          ".weak " STRATA_SITE_SYMBOL(provider, name) "\n"                                       \
          ".hidden " STRATA_SITE_SYMBOL(provider, name) "\n"                                     \
          ".type " STRATA_SITE_SYMBOL(provider, name) ", @object\n"                              \
          ".size " STRATA_SITE_SYMBOL(provider, name) ", 4\n"                                    \
          STRATA_SITE_SYMBOL(provider, name) ":\n"                                               \
          ".long 0\n"                                                                            \
          ".popsection\n"                                                                        \
          STRATA_SITE_SECTION("strata_anchors", "axG", provider, name)                           \
          "771: nop\n"                                                                           \
          ".popsection\n"                                                                        \
          STRATA_SITE_SECTION("strata_sites", "aG", provider, name)                              \
          ".balign 4\n"                                                                          \
          "772: .long 773f - 772b\n"                                                             \
          ".long " STRATA_SITE_SYMBOL(provider, name) " - .\n"                                   \
          ".long 771b - .\n"                                                                     \
          ".byte 1, " #kind ", " STRATA_PP_TEXT(level) ", 0"                                     \
          STRATA_PP_EACH(STRATA_SITE_COUNT, __VA_ARGS__) "\n"                                    \
          ".asciz \"" #provider "\"\n.asciz \"" #name "\"\n"                                     \
          STRATA_PP_EACH(STRATA_SITE_STRING, __VA_ARGS__)                                        \
          ".balign 4\n"                                                                          \
          "773:\n"                                                                               \
          ".popsection\n"                                                                        \
          ".endif\n"); \
  extern __attribute__((visibility("hidden")))                                                     \
  uint32_t strata_flag_##provider##__##name __asm__(STRATA_SITE_SYMBOL(provider, name));

#define STRATA_SITE_SECTION(section, flags, provider, name) \
  ".pushsection " section ", \"" flags                      \
  "\", @progbits, " STRATA_SITE_SYMBOL(provider, name) ", comdat\n"

/* The function that fires it: fields are put together on the stack, where a fault or a signal does
 * no harm, then handed to the library. A record of fixed size has its size known here. */
#define STRATA_SITE_PARAMETER(type, name, ...) STRATA_TYPE_##type name
#define STRATA_SITE_FIXED(type, name, ...) +STRATA_FIXED_##type
#define STRATA_SITE_VARIES(type, name, ...) +STRATA_VARIES_##type
#define STRATA_SITE_FIT(type, name, ...) \
  const uint32_t strata_fit_##name = strata_fit_##type(name, &strata_room);
#define STRATA_SITE_PUT(type, name, ...) \
  strata_at = strata_put_##type(strata_at, name, strata_fit_##name);
#define STRATA_SITE_USE(type, name, ...) (void)strata_fit_##name;

#define STRATA_SITE_PARAMETERS_(...) void
#define STRATA_SITE_PARAMETERS_SOME(...) STRATA_PP_LIST(STRATA_SITE_PARAMETER, __VA_ARGS__)

#ifdef __cplusplus
#define STRATA_SITE_FUNCTION inline
#else
#define STRATA_SITE_FUNCTION static
#endif

#ifdef STRATA_PROBE_USDT
#include <strata/probe/usdt.h>
#else
#define STRATA_SITE_USDT(provider, name, ...) (void)0
#endif

#define STRATA_SITE_EMIT(provider, name, ...)                                                     \
  STRATA_SITE_FUNCTION __attribute__((noinline, unused)) void strata_fire_##provider##__##name(   \
      STRATA_SITE_PARAMETERS_##__VA_OPT__(SOME)(__VA_ARGS__)) {                                   \
    enum {                                                                                        \
      strata_fixed = 12 STRATA_PP_EACH(STRATA_SITE_FIXED, __VA_ARGS__),                           \
      strata_varies = 0 STRATA_PP_EACH(STRATA_SITE_VARIES, __VA_ARGS__),                          \
    };                                                                                            \
    struct strata_probe_room strata_room = {STRATA_PROBE_MAX_RECORD - (uint32_t)strata_fixed, 0}; \
    STRATA_PP_EACH(STRATA_SITE_FIT, __VA_ARGS__)                                                  \
    const uint32_t strata_size = (STRATA_PROBE_MAX_RECORD - strata_room.left + 7) & ~(uint32_t)7; \
    uint64_t strata_small[strata_varies ? 1 : (strata_fixed + 7) / 8];                            \
    unsigned char* const strata_record =                                                          \
        (unsigned char*)(strata_varies ? __builtin_alloca_with_align(strata_size, 64)             \
                                       : (void*)strata_small);                                    \
    unsigned char* strata_at = strata_record + 12;                                                \
    STRATA_PP_EACH(STRATA_SITE_PUT, __VA_ARGS__)                                                  \
    STRATA_PP_EACH(STRATA_SITE_USE, __VA_ARGS__)                                                  \
    (void)strata_at;                                                                              \
    STRATA_SITE_USDT(provider, name, __VA_ARGS__);                                                \
    strata_probe_write(&strata_probe_this_module, &strata_flag_##provider##__##name,              \
                       strata_record, strata_size + strata_room.truncated);                       \
  }                                                                                               \
  struct strata_probe_##provider##_##name

/* ---- A site ---- */

/* Of a label: what follows is not on the way of a program that nobody traces. */
#ifdef __clang__
#define STRATA_SITE_COLD
#else
#define STRATA_SITE_COLD __attribute__((cold))
#endif

#define STRATA_SITE_FLAG(provider, name) \
  __atomic_load_n(&strata_flag_##provider##__##name, __ATOMIC_RELAXED)

/* C only warns of a pointer given for an integer, and the other way round. */
#ifdef __cplusplus
#define STRATA_SITE_CALL(provider, name, ...) strata_fire_##provider##__##name(__VA_ARGS__)
#else
#define STRATA_SITE_CALL(provider, name, ...)                                         \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wint-conversion\"") \
      _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")                \
          strata_fire_##provider##__##name(__VA_ARGS__);                              \
  _Pragma("GCC diagnostic pop")(void) 0
#endif

/* One instruction of 8 bytes that does nothing: nopl disp32(%rcx,%rbp,8). Its last 5 bytes are
 * `jmp label`. Its first 2, on an even address, are rewritten to a jump there: `jmp .+3`. */
#define STRATA_SITE_PATCH(provider, name, label) \
  __asm__ goto(                                                        \
      ".balign 2\n"                                                    \
      "774: .byte 0x0f, 0x1f, 0x84, 0xe9\n"                            \
      ".long %l[" #label "] - . - 4\n"                                 \
      ".pushsection strata_patches, \"a?\", @progbits\n"               \
      ".balign 4\n"                                                    \
      ".long 774b - .\n"                                               \
      ".long " STRATA_SITE_SYMBOL(provider, name) " - .\n"             \
      ".popsection\n"                                                  \
      :                                                                \
      :                                                                \
      :                                                                \
      : label)

#endif
