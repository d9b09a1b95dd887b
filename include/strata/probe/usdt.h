/* SPDX-License-Identifier: Apache-2.0
 *
 * With STRATA_PROBE_USDT defined before <strata/probe.h>, or for a target: every event is also a
 * USDT probe, PROVIDER:NAME, to which perf, bpftrace and SystemTap attach by themselves. A part of
 * <strata/probe.h>, not for direct use.
 *
 * The probe is an instruction that does nothing, where an event that is on is fired, and a note
 * that tells where it is and where the event's values then are. Its semaphore is the event's flag:
 * who attaches switches the event on, as a collector does, and switching off is the kernel's.
 *
 * Numbers are arguments as they are, the bits of those with a point in them; strings are a pointer,
 * sequences a pointer and a count. The compiler takes 30 operands for one statement, so an event
 * may have 30 such arguments; for 64-bit programs.
 */
#ifndef STRATA_PROBE_USDT_H
#define STRATA_PROBE_USDT_H

#pragma GCC system_header

#include <stdint.h>
#include <string.h>

static inline uint32_t strata_usdt_bits_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline uint64_t strata_usdt_bits_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* For a field of type T: STRATA_USDT_SAYS_T, what the note says of it, "-4@%eax ", and
 * STRATA_USDT_TAKES_T, the operands of which it speaks. A size is negative for signed numbers. */
#define STRATA_USDT_SAYS(size, field) #size "@%[strata_value_" #field "] "
#define STRATA_USDT_TAKES(field, value) [strata_value_##field] "nor"(value)
#define STRATA_USDT_SAYS_SEQUENCE(field) \
  STRATA_USDT_SAYS(8, field) "8@%[strata_count_" #field "] "
#define STRATA_USDT_TAKES_SEQUENCE(field)                \
  STRATA_USDT_TAKES(field, (const void*)(field).data), \
      [strata_count_##field] "nor"((uint64_t)(field).count)

#define STRATA_USDT_SAYS_u8(field) STRATA_USDT_SAYS(1, field)
#define STRATA_USDT_TAKES_u8(field) STRATA_USDT_TAKES(field, (uint8_t)(field))
#define STRATA_USDT_SAYS_u16(field) STRATA_USDT_SAYS(2, field)
#define STRATA_USDT_TAKES_u16(field) STRATA_USDT_TAKES(field, (uint16_t)(field))
#define STRATA_USDT_SAYS_u32(field) STRATA_USDT_SAYS(4, field)
#define STRATA_USDT_TAKES_u32(field) STRATA_USDT_TAKES(field, (uint32_t)(field))
#define STRATA_USDT_SAYS_u64(field) STRATA_USDT_SAYS(8, field)
#define STRATA_USDT_TAKES_u64(field) STRATA_USDT_TAKES(field, (uint64_t)(field))
#define STRATA_USDT_SAYS_s8(field) STRATA_USDT_SAYS(-1, field)
#define STRATA_USDT_TAKES_s8(field) STRATA_USDT_TAKES(field, (int8_t)(field))
#define STRATA_USDT_SAYS_s16(field) STRATA_USDT_SAYS(-2, field)
#define STRATA_USDT_TAKES_s16(field) STRATA_USDT_TAKES(field, (int16_t)(field))
#define STRATA_USDT_SAYS_s32(field) STRATA_USDT_SAYS(-4, field)
#define STRATA_USDT_TAKES_s32(field) STRATA_USDT_TAKES(field, (int32_t)(field))
#define STRATA_USDT_SAYS_s64(field) STRATA_USDT_SAYS(-8, field)
#define STRATA_USDT_TAKES_s64(field) STRATA_USDT_TAKES(field, (int64_t)(field))
#define STRATA_USDT_SAYS_enum(field) STRATA_USDT_SAYS(-4, field)
#define STRATA_USDT_TAKES_enum(field) STRATA_USDT_TAKES(field, (int32_t)(field))
#define STRATA_USDT_SAYS_f32(field) STRATA_USDT_SAYS(4, field)
#define STRATA_USDT_TAKES_f32(field) STRATA_USDT_TAKES(field, strata_usdt_bits_f32(field))
#define STRATA_USDT_SAYS_f64(field) STRATA_USDT_SAYS(8, field)
#define STRATA_USDT_TAKES_f64(field) STRATA_USDT_TAKES(field, strata_usdt_bits_f64(field))
#define STRATA_USDT_SAYS_string(field) STRATA_USDT_SAYS(8, field)
#ifdef __cplusplus
#define STRATA_USDT_TAKES_string(field) STRATA_USDT_TAKES(field, (field).data)
#else
#define STRATA_USDT_TAKES_string(field) STRATA_USDT_TAKES(field, field)
#endif
#define STRATA_USDT_SAYS_bytes(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_bytes(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_u8(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_u8(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_u16(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_u16(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_u32(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_u32(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_u64(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_u64(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_s8(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_s8(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_s16(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_s16(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_s32(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_s32(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_s64(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_s64(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_f32(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_f32(field) STRATA_USDT_TAKES_SEQUENCE(field)
#define STRATA_USDT_SAYS_seq_f64(field) STRATA_USDT_SAYS_SEQUENCE(field)
#define STRATA_USDT_TAKES_seq_f64(field) STRATA_USDT_TAKES_SEQUENCE(field)

#define STRATA_USDT_FIELD_SAYS(type, field, ...) STRATA_USDT_SAYS_##type(field)
#define STRATA_USDT_FIELD_TAKES(type, field, ...) STRATA_USDT_TAKES_##type(field)

/* The note's address of .stapsdt.base tells its readers whether a program was moved since it was
 * linked (prelink). BCC's tools look for semaphores only where a section .probes is, and by its
 * place in the file: it lies in the same segment as the flags. */
#define STRATA_SITE_USDT(provider, name, ...)                                         \
  __asm__ volatile(                                                                   \
      "775: nop\n"                                                                    \
      ".pushsection .note.stapsdt, \"?\", \"note\"\n"                                 \
      ".balign 4\n"                                                                   \
      ".4byte 777f - 776f, 779f - 778f, 3\n"                                          \
      "776: .asciz \"stapsdt\"\n"                                                     \
      "777: .balign 4\n"                                                              \
      "778: .8byte 775b, _.stapsdt.base, " STRATA_SITE_SYMBOL(provider, name) "\n"    \
      ".asciz \"" #provider "\"\n.asciz \"" #name "\"\n"                              \
      ".asciz \"" STRATA_PP_EACH(STRATA_USDT_FIELD_SAYS, __VA_ARGS__) "\"\n"          \
      "779: .balign 4\n"                                                              \
      ".popsection\n"                                                                 \
      ".ifndef _.stapsdt.base\n"                                                      \
      ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"     \
      ".weak _.stapsdt.base\n"                                                        \
      ".hidden _.stapsdt.base\n"                                                      \
      "_.stapsdt.base: .space 1\n" \
      ".size _.stapsdt.base, 1\n" \
      ".popsection\n" \
      ".pushsection .probes, \"awG\", \"progbits\", .stapsdt.base, comdat\n" \
      ".long 0\n" \
      ".popsection\n" \
      ".endif\n"                                                                      \
      :                                                                               \
      : STRATA_PP_LIST(STRATA_USDT_FIELD_TAKES, __VA_ARGS__))

#endif
