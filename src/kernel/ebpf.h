// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <memory>
#include <string>

#include "base/result.h"

namespace strata::kernel {

// Loading eBPF programs: objects as bpftool's skeletons have them, and why the kernel refuses them.

template <typename Skeleton>
struct DestroyEbpf {
  void operator()(Skeleton* skeleton) const { Skeleton::destroy(skeleton); }
};
// The programs and maps of an object; out of the kernel again with this.
template <typename Skeleton>
using EbpfObject = std::unique_ptr<Skeleton, DestroyEbpf<Skeleton>>;

// Why eBPF is refused, in words that help, with what libbpf said of it. `what`: "to watch tasks".
Error refused(const std::string& what, int error);

// libbpf tells of everything on the standard error stream; errors are told as values. From here on
// the first that it complains of is kept for refused().
void listen_to_libbpf();

// To be set up, and then loaded.
template <typename Skeleton>
Result<EbpfObject<Skeleton>> open_ebpf(const std::string& what) {
  listen_to_libbpf();
  EbpfObject<Skeleton> object(Skeleton::open());
  if (!object) return refused(what, errno);
  return object;
}

template <typename Skeleton>
Status load_ebpf(const EbpfObject<Skeleton>& object, const std::string& what) {
  if (Skeleton::load(object.get()) != 0) return refused(what, errno);
  return {};
}

}  // namespace strata::kernel
