// SPDX-License-Identifier: Apache-2.0
#include "state/descriptor_table.h"

#include <algorithm>
#include <utility>

namespace strata::state {

const Descriptor* DescriptorTable::find(int32_t fd) const {
  const auto found = std::ranges::lower_bound(descriptors_, fd, {}, &Descriptor::fd);
  return found != descriptors_.end() && found->fd == fd ? &*found : nullptr;
}

Descriptor* DescriptorTable::find(int32_t fd) {
  return const_cast<Descriptor*>(std::as_const(*this).find(fd));
}

Descriptor& DescriptorTable::set(const Descriptor& descriptor, OpenFiles& files) {
  files.hold(descriptor.open);
  const auto at = std::ranges::lower_bound(descriptors_, descriptor.fd, {}, &Descriptor::fd);
  if (at == descriptors_.end() || at->fd != descriptor.fd)
    return *descriptors_.insert(at, descriptor);
  files.release(at->open);
  return *at = descriptor;
}

void DescriptorTable::close(int32_t first, int32_t last, OpenFiles& files) {
  const auto from = std::ranges::lower_bound(descriptors_, first, {}, &Descriptor::fd);
  const auto to = std::ranges::upper_bound(descriptors_, last, {}, &Descriptor::fd);
  if (from >= to) return;
  for (auto at = from; at != to; ++at) files.release(at->open);
  descriptors_.erase(from, to);
}

void DescriptorTable::close_on_exec(int32_t first, int32_t last) {
  for (Descriptor& descriptor : descriptors_)
    if (descriptor.fd >= first && descriptor.fd <= last) descriptor.close_on_exec = true;
}

void DescriptorTable::close_for_exec(OpenFiles& files) {
  std::erase_if(descriptors_, [&](const Descriptor& descriptor) {
    if (descriptor.close_on_exec) files.release(descriptor.open);
    return descriptor.close_on_exec;
  });
}

void DescriptorTable::add_missing(const DescriptorTable& other, OpenFiles& files) {
  for (const Descriptor& descriptor : other.descriptors_)
    if (find(descriptor.fd) == nullptr) set(descriptor, files);
}

}  // namespace strata::state
