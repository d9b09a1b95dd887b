// SPDX-License-Identifier: Apache-2.0
#include "support/tiny_guest.h"

#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>

namespace strata::test {
namespace {

constexpr size_t kPage = 4096;

void* map_or_null(size_t size, int flags, int fd) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

std::unique_ptr<TinyGuest> TinyGuest::make(std::span<const uint8_t> code) {
  std::unique_ptr<TinyGuest> guest(new TinyGuest);
  guest->kvm_ = FileDescriptor(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!guest->kvm_ || code.size() > kPage) return nullptr;
  guest->machine_ = FileDescriptor(ioctl(guest->kvm_.get(), KVM_CREATE_VM, 0));
  guest->memory_ = map_or_null(kPage, MAP_SHARED | MAP_ANONYMOUS, -1);
  if (!guest->machine_ || guest->memory_ == nullptr) return nullptr;
  std::ranges::copy(code, static_cast<uint8_t*>(guest->memory_));
  const kvm_userspace_memory_region region{
      .slot = 0,
      .flags = 0,
      .guest_phys_addr = kPage,
      .memory_size = kPage,
      .userspace_addr = reinterpret_cast<uintptr_t>(guest->memory_)};
  if (ioctl(guest->machine_.get(), KVM_SET_USER_MEMORY_REGION, &region) != 0) return nullptr;
  guest->vcpu_ = FileDescriptor(ioctl(guest->machine_.get(), KVM_CREATE_VCPU, 0));
  const int size = ioctl(guest->kvm_.get(), KVM_GET_VCPU_MMAP_SIZE, 0);
  if (!guest->vcpu_ || size <= 0) return nullptr;
  guest->state_size_ = static_cast<size_t>(size);
  guest->state_ = map_or_null(guest->state_size_, MAP_SHARED, guest->vcpu_.get());
  if (guest->state_ == nullptr) return nullptr;

  // Real mode, at the page's first byte.
  kvm_sregs special{};
  if (ioctl(guest->vcpu_.get(), KVM_GET_SREGS, &special) != 0) return nullptr;
  special.cs.base = 0;
  special.cs.selector = 0;
  kvm_regs registers{};
  registers.rip = kPage;
  registers.rflags = 2;
  if (ioctl(guest->vcpu_.get(), KVM_SET_SREGS, &special) != 0 ||
      ioctl(guest->vcpu_.get(), KVM_SET_REGS, &registers) != 0)
    return nullptr;
  return guest;
}

TinyGuest::~TinyGuest() {
  if (state_ != nullptr) munmap(state_, state_size_);
  if (memory_ != nullptr) munmap(memory_, kPage);
}

int TinyGuest::run() {
  if (ioctl(vcpu_.get(), KVM_RUN, 0) != 0) return -1;
  return static_cast<int>(static_cast<const kvm_run*>(state_)->exit_reason);
}

}  // namespace strata::test
