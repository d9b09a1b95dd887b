// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace strata {

// What went wrong, where. Errors are values: they are returned, collected and shown, never thrown
// across a module's edge.
struct Error {
  std::string file;                // empty where no file is concerned
  std::optional<uint64_t> offset;  // in bytes from the start of `file`
  std::string cause;

  // "trace.dat: at byte 4096: the page says ..."
  std::string text() const;
};

// A T, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Done, or the reason why not.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

// The cause in the words of the operating system: "cannot open: No such file or directory".
Error system_error(std::string file, std::string what, int error_number);

// Of a text that somebody wrote: the cause, and the text with a mark below the column, from 0,
// where it stops making sense. `what` is what the text was given as, "--uprobe".
Error error_at_column(const std::string& what, const std::string& text, uint64_t column,
                      const std::string& cause);

}  // namespace strata
