/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of probes' fields: what a site takes for each, and how it lies in a record. A part of
 * <strata/probe.h>.
 *
 * A record's fields follow each other without gaps, as in CTF: numbers as they are in memory,
 * strings with their NUL, sequences behind a 16-bit count of their elements.
 *
 * For a type T there are
 *   STRATA_TYPE_T         what the site takes
 *   STRATA_FIXED_T        bytes that every value takes
 *   STRATA_VARIES_T       1 where values differ in size
 *   strata_fit_T(value, room)   how many elements are taken, with `room` bytes left for the
 * contents of fields that vary; takes them off the room strata_put_T(at, value, elements)   writes
 * the value, gives where the next field goes
 */
#ifndef STRATA_PROBE_FIELDS_H
#define STRATA_PROBE_FIELDS_H

#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#include <type_traits>
#endif

#define STRATA_PROBE_MAX_RECORD 4096

/* What is left of a record, and whether something did not fit. */
struct strata_probe_room {
  uint32_t left;
  uint32_t truncated;
};

static inline uint32_t strata_probe_fit(struct strata_probe_room* room, size_t count, size_t size) {
  const uint32_t most = room->left / (uint32_t)size;
  uint32_t taken = most;
  if (count <= most) {
    taken = (uint32_t)count;
  } else {
    room->truncated = 1;
  }
  room->left -= taken * (uint32_t)size;
  return taken;
}

/* A compiler that sees a constant argument would warn of the branches that are not for it. */
static inline const char* strata_probe_any(const void* text) {
  __asm__("" : "+r"(text));
  return (const char*)text;
}

/* memcpy() for few bytes, of which compilers make `rep movsq`: that takes half as long to begin as
 * all the rest of a probe. What is left at the end is copied together with some bytes before it. */
static inline unsigned char* strata_probe_put(unsigned char* at, const void* data, size_t size) {
  if (size == 0) return at;
  const char* from = strata_probe_any(data);
  const char* const from_end = from + size;
  unsigned char* const end = at + size;
  if (size > 256) {
    memcpy(at, from, size);
  } else if (size >= 16) {
    for (; end - at > 16; at += 16, from += 16) memcpy(at, from, 16);
    memcpy(end - 16, from_end - 16, 16);
  } else if (size >= 8) {
    memcpy(at, from, 8);
    memcpy(end - 8, from_end - 8, 8);
  } else if (size >= 4) {
    memcpy(at, from, 4);
    memcpy(end - 4, from_end - 4, 4);
  } else {
    at[0] = (unsigned char)from[0];
    at[size / 2] = (unsigned char)from[size / 2];
    end[-1] = (unsigned char)from_end[-1];
  }
  return end;
}

static inline unsigned char* strata_probe_put_counted(unsigned char* at, const void* data,
                                                      uint32_t count, size_t size) {
  const uint16_t stored = (uint16_t)count;
  memcpy(at, &stored, sizeof stored);
  return strata_probe_put(at + sizeof stored, data, count * size);
}

/* A string: `size` characters, or fewer where a NUL comes before. */
static inline uint32_t strata_probe_fit_text(const char* text, size_t size,
                                             struct strata_probe_room* room) {
  if (text == NULL) {
    size = 6; /* "(null)" */
  } else {
    text = strata_probe_any(text);
    /* One character more than fits, to see whether it goes on. */
    const size_t most = size <= room->left ? size : (size_t)room->left + 1;
    /* Most end soon: then looking takes less than a call. */
    const size_t soon = most < 16 ? most : 16;
    for (size = 0; size < soon && text[size] != 0;) ++size;
    if (size == soon && soon < most) {
      const char* end = (const char*)memchr(text + soon, 0, most - soon);
      size = end != NULL ? (size_t)(end - text) : most;
    }
  }
  return strata_probe_fit(room, size, 1);
}
static inline unsigned char* strata_probe_put_text(unsigned char* at, const char* text,
                                                   uint32_t size) {
  at = strata_probe_put(at, text != NULL ? text : "(null)", size);
  *at = 0;
  return at + 1;
}

#ifdef __cplusplus
namespace strata::probe {

/* A number field's argument. It is checked here rather than by the language's conversions, which
 * take a double for an integer without a word. */
template <typename T>
struct Number {
  T value;
  template <typename V>
  constexpr Number(const V& argument) : value(convert(argument)) {}
  constexpr operator T() const { return value; }

 private:
  template <typename V>
  static constexpr T convert(const V& argument) {
    constexpr bool whole = std::is_integral_v<V> || std::is_enum_v<V>;
    if constexpr (std::is_floating_point_v<T>) {
      static_assert(whole || std::is_floating_point_v<V>,
                    "strata: this field of the probe is a number, its argument is not");
      if constexpr (whole || std::is_floating_point_v<V>) return static_cast<T>(argument);
    } else {
      static_assert(whole, "strata: this field of the probe is an integer, its argument is not");
      static_assert(!whole || sizeof(V) <= sizeof(T) || sizeof(V) <= sizeof(int),
                    "strata: the argument is wider than this field of the probe: declare a wider "
                    "field, or cast");
      if constexpr (whole) return static_cast<T>(argument);
    }
    return T{};
  }
};

/* A string field's argument. */
struct Text {
  const char* data;
  size_t size;
  constexpr Text(const char* text) : data(text), size(SIZE_MAX) {}
  template <typename V>
  requires(!std::is_convertible_v<const V&, const char*>) constexpr Text(const V& text)
      : data(nullptr), size(0) {
    constexpr bool is_text = requires(const char*& p, size_t& n) {
      p = text.data();
      n = text.size();
    };
    static_assert(is_text, "strata: this field of the probe is a string, its argument is not");
    if constexpr (is_text) {
      data = text.data() != nullptr ? text.data() : "";
      size = text.size();
    }
  }
};

/* A sequence field's argument: elements of exactly this type; of bytes: of any. */
template <typename T>
struct Sequence {
  const T* data;
  size_t count;
  constexpr Sequence(const T* first, size_t elements) : data(first), count(elements) {}
  template <typename V>
  constexpr Sequence(const V& elements) : data(nullptr), count(0) {
    constexpr bool is_one = requires(const T*& p, size_t& n) {
      p = elements.data();
      n = elements.size();
    };
    static_assert(is_one,
                  "strata: this field of the probe is a sequence; its argument has no data() and "
                  "size(), or other elements");
    if constexpr (is_one) {
      data = elements.data();
      count = elements.size();
      if constexpr (std::is_void_v<T>) count *= sizeof(*elements.data());
    }
  }
};

}  // namespace strata::probe

#define STRATA_PROBE_NUMBER(ctype) ::strata::probe::Number<ctype>
#define STRATA_TYPE_string ::strata::probe::Text
typedef ::strata::probe::Sequence<void> strata_bytes;
#define STRATA_PROBE_SEQUENCE(type, ctype) \
  typedef ::strata::probe::Sequence<ctype> strata_seq_##type;
#define strata_fit_string(text, room) strata_probe_fit_text((text).data, (text).size, room)
#define strata_put_string(at, text, size) strata_probe_put_text(at, (text).data, size)
#else
#define STRATA_PROBE_NUMBER(ctype) ctype
#define STRATA_TYPE_string const char*
typedef struct {
  const void* data;
  size_t count;
} strata_bytes;
#define STRATA_PROBE_SEQUENCE(type, ctype) \
  typedef struct {                         \
    const ctype* data;                     \
    size_t count;                          \
  } strata_seq_##type;
#define strata_fit_string(text, room) strata_probe_fit_text(text, SIZE_MAX, room)
#define strata_put_string(at, text, size) strata_probe_put_text(at, text, size)
#endif

#define STRATA_FIXED_string 1
#define STRATA_VARIES_string 1

#define STRATA_TYPE_bytes strata_bytes
#define STRATA_FIXED_bytes 2
#define STRATA_VARIES_bytes 1
#define strata_fit_bytes(bytes, room) strata_probe_fit(room, (bytes).count, 1)
#define strata_put_bytes(at, bytes, size) strata_probe_put_counted(at, (bytes).data, size, 1)

/* A number, and sequences of it. */
#define STRATA_PROBE_TYPE(type, ctype)                                                   \
  STRATA_PROBE_SEQUENCE(type, ctype)                                                     \
  static inline unsigned char* strata_probe_put_##type(unsigned char* at, ctype value) { \
    memcpy(at, &value, sizeof value);                                                    \
    return at + sizeof value;                                                            \
  }                                                                                      \
  static inline uint32_t strata_probe_fit_seq_##type(strata_seq_##type sequence,         \
                                                     struct strata_probe_room* room) {   \
    return strata_probe_fit(room, sequence.count, sizeof(ctype));                        \
  }                                                                                      \
  static inline unsigned char* strata_probe_put_seq_##type(                              \
      unsigned char* at, strata_seq_##type sequence, uint32_t count) {                   \
    return strata_probe_put_counted(at, sequence.data, count, sizeof(ctype));            \
  }

STRATA_PROBE_TYPE(u8, uint8_t)
STRATA_PROBE_TYPE(u16, uint16_t)
STRATA_PROBE_TYPE(u32, uint32_t)
STRATA_PROBE_TYPE(u64, uint64_t)
STRATA_PROBE_TYPE(s8, int8_t)
STRATA_PROBE_TYPE(s16, int16_t)
STRATA_PROBE_TYPE(s32, int32_t)
STRATA_PROBE_TYPE(s64, int64_t)
STRATA_PROBE_TYPE(f32, float)
STRATA_PROBE_TYPE(f64, double)

#define STRATA_TYPE_u8 STRATA_PROBE_NUMBER(uint8_t)
#define STRATA_FIXED_u8 1
#define STRATA_VARIES_u8 0
#define strata_fit_u8(value, room) 0
#define strata_put_u8(at, value, elements) strata_probe_put_u8(at, value)
#define STRATA_TYPE_seq_u8 strata_seq_u8
#define STRATA_FIXED_seq_u8 2
#define STRATA_VARIES_seq_u8 1
#define strata_fit_seq_u8(sequence, room) strata_probe_fit_seq_u8(sequence, room)
#define strata_put_seq_u8(at, sequence, count) strata_probe_put_seq_u8(at, sequence, count)

#define STRATA_TYPE_u16 STRATA_PROBE_NUMBER(uint16_t)
#define STRATA_FIXED_u16 2
#define STRATA_VARIES_u16 0
#define strata_fit_u16(value, room) 0
#define strata_put_u16(at, value, elements) strata_probe_put_u16(at, value)
#define STRATA_TYPE_seq_u16 strata_seq_u16
#define STRATA_FIXED_seq_u16 2
#define STRATA_VARIES_seq_u16 1
#define strata_fit_seq_u16(sequence, room) strata_probe_fit_seq_u16(sequence, room)
#define strata_put_seq_u16(at, sequence, count) strata_probe_put_seq_u16(at, sequence, count)

#define STRATA_TYPE_u32 STRATA_PROBE_NUMBER(uint32_t)
#define STRATA_FIXED_u32 4
#define STRATA_VARIES_u32 0
#define strata_fit_u32(value, room) 0
#define strata_put_u32(at, value, elements) strata_probe_put_u32(at, value)
#define STRATA_TYPE_seq_u32 strata_seq_u32
#define STRATA_FIXED_seq_u32 2
#define STRATA_VARIES_seq_u32 1
#define strata_fit_seq_u32(sequence, room) strata_probe_fit_seq_u32(sequence, room)
#define strata_put_seq_u32(at, sequence, count) strata_probe_put_seq_u32(at, sequence, count)

#define STRATA_TYPE_u64 STRATA_PROBE_NUMBER(uint64_t)
#define STRATA_FIXED_u64 8
#define STRATA_VARIES_u64 0
#define strata_fit_u64(value, room) 0
#define strata_put_u64(at, value, elements) strata_probe_put_u64(at, value)
#define STRATA_TYPE_seq_u64 strata_seq_u64
#define STRATA_FIXED_seq_u64 2
#define STRATA_VARIES_seq_u64 1
#define strata_fit_seq_u64(sequence, room) strata_probe_fit_seq_u64(sequence, room)
#define strata_put_seq_u64(at, sequence, count) strata_probe_put_seq_u64(at, sequence, count)

#define STRATA_TYPE_s8 STRATA_PROBE_NUMBER(int8_t)
#define STRATA_FIXED_s8 1
#define STRATA_VARIES_s8 0
#define strata_fit_s8(value, room) 0
#define strata_put_s8(at, value, elements) strata_probe_put_s8(at, value)
#define STRATA_TYPE_seq_s8 strata_seq_s8
#define STRATA_FIXED_seq_s8 2
#define STRATA_VARIES_seq_s8 1
#define strata_fit_seq_s8(sequence, room) strata_probe_fit_seq_s8(sequence, room)
#define strata_put_seq_s8(at, sequence, count) strata_probe_put_seq_s8(at, sequence, count)

#define STRATA_TYPE_s16 STRATA_PROBE_NUMBER(int16_t)
#define STRATA_FIXED_s16 2
#define STRATA_VARIES_s16 0
#define strata_fit_s16(value, room) 0
#define strata_put_s16(at, value, elements) strata_probe_put_s16(at, value)
#define STRATA_TYPE_seq_s16 strata_seq_s16
#define STRATA_FIXED_seq_s16 2
#define STRATA_VARIES_seq_s16 1
#define strata_fit_seq_s16(sequence, room) strata_probe_fit_seq_s16(sequence, room)
#define strata_put_seq_s16(at, sequence, count) strata_probe_put_seq_s16(at, sequence, count)

#define STRATA_TYPE_s32 STRATA_PROBE_NUMBER(int32_t)
#define STRATA_FIXED_s32 4
#define STRATA_VARIES_s32 0
#define strata_fit_s32(value, room) 0
#define strata_put_s32(at, value, elements) strata_probe_put_s32(at, value)
#define STRATA_TYPE_seq_s32 strata_seq_s32
#define STRATA_FIXED_seq_s32 2
#define STRATA_VARIES_seq_s32 1
#define strata_fit_seq_s32(sequence, room) strata_probe_fit_seq_s32(sequence, room)
#define strata_put_seq_s32(at, sequence, count) strata_probe_put_seq_s32(at, sequence, count)

#define STRATA_TYPE_s64 STRATA_PROBE_NUMBER(int64_t)
#define STRATA_FIXED_s64 8
#define STRATA_VARIES_s64 0
#define strata_fit_s64(value, room) 0
#define strata_put_s64(at, value, elements) strata_probe_put_s64(at, value)
#define STRATA_TYPE_seq_s64 strata_seq_s64
#define STRATA_FIXED_seq_s64 2
#define STRATA_VARIES_seq_s64 1
#define strata_fit_seq_s64(sequence, room) strata_probe_fit_seq_s64(sequence, room)
#define strata_put_seq_s64(at, sequence, count) strata_probe_put_seq_s64(at, sequence, count)

#define STRATA_TYPE_f32 STRATA_PROBE_NUMBER(float)
#define STRATA_FIXED_f32 4
#define STRATA_VARIES_f32 0
#define strata_fit_f32(value, room) 0
#define strata_put_f32(at, value, elements) strata_probe_put_f32(at, value)
#define STRATA_TYPE_seq_f32 strata_seq_f32
#define STRATA_FIXED_seq_f32 2
#define STRATA_VARIES_seq_f32 1
#define strata_fit_seq_f32(sequence, room) strata_probe_fit_seq_f32(sequence, room)
#define strata_put_seq_f32(at, sequence, count) strata_probe_put_seq_f32(at, sequence, count)

#define STRATA_TYPE_f64 STRATA_PROBE_NUMBER(double)
#define STRATA_FIXED_f64 8
#define STRATA_VARIES_f64 0
#define strata_fit_f64(value, room) 0
#define strata_put_f64(at, value, elements) strata_probe_put_f64(at, value)
#define STRATA_TYPE_seq_f64 strata_seq_f64
#define STRATA_FIXED_seq_f64 2
#define STRATA_VARIES_seq_f64 1
#define strata_fit_seq_f64(sequence, room) strata_probe_fit_seq_f64(sequence, room)
#define strata_put_seq_f64(at, sequence, count) strata_probe_put_seq_f64(at, sequence, count)

#define STRATA_TYPE_enum STRATA_PROBE_NUMBER(int32_t)
#define STRATA_FIXED_enum 4
#define STRATA_VARIES_enum 0
#define strata_fit_enum(value, room) 0
#define strata_put_enum(at, value, elements) strata_probe_put_s32(at, value)

#endif
