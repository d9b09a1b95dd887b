// SPDX-License-Identifier: Apache-2.0
#include "state/descriptor_table.h"

namespace strata::state {

const Descriptor* DescriptorTable::find(int32_t fd) const {
  // As a rule all numbers from 0 on are taken.
  if (const auto at = static_cast<size_t>(fd);
      at < descriptors_.size() && descriptors_[at].fd == fd)
    return &descriptors_[at];
  const auto found = std::ranges::lower_bound(descriptors_, fd, {}, &Descriptor::fd);
  return found != descriptors_.end() && found->fd == fd ? &*found : nullptr;
}

Descriptor* DescriptorTable::find(int32_t fd) {
  return const_cast<Descriptor*>(std::as_const(*this).find(fd));
}

void DescriptorTable::close_on_exec(int32_t first, int32_t last) {
  for (Descriptor& descriptor : descriptors_)
    if (descriptor.fd >= first && descriptor.fd <= last) descriptor.close_on_exec = true;
}

}  // namespace strata::state
