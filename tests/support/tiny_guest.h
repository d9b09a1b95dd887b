// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/file_descriptor.h"

namespace strata::test {

// A virtual machine with one virtual CPU and a page of memory, whose code this process gives. It is
// carried out by whichever thread calls run().
class TinyGuest {
 public:
  // Null: there is no KVM, or it does not run this.
  static std::unique_ptr<TinyGuest> make(std::span<const uint8_t> code);
  TinyGuest(const TinyGuest&) = delete;
  TinyGuest& operator=(const TinyGuest&) = delete;
  ~TinyGuest();

  // Runs on until the guest needs its program: KVM_EXIT_*; negative: it does not run.
  int run();

 private:
  TinyGuest() = default;
  FileDescriptor kvm_;
  FileDescriptor machine_;
  FileDescriptor vcpu_;
  void* memory_ = nullptr;
  void* state_ = nullptr;  // what KVM shares of the virtual CPU
  size_t state_size_ = 0;
};

}  // namespace strata::test
