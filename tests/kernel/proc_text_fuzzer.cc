// SPDX-License-Identifier: Apache-2.0
//
// The texts of /proc. The first byte says which.
#include <cstdint>
#include <cstdlib>

#include "kernel/device_state.h"
#include "kernel/device_text.h"
#include "kernel/proc_text.h"
#include "kernel/socket_text.h"
#include "kernel/vm_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::kernel;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto check_inside = [&](std::string_view part) {
    if (!part.empty() &&
        (part.data() < text.data() || part.data() + part.size() > text.data() + text.size()))
      abort();
  };
  std::vector<Socket> sockets;
  switch (data[0] % 10) {
    case 0:
      if (const auto stat = parse_stat(text)) check_inside(stat->name);
      break;
    case 1:
      if (parse_status(text).pids.size() > 33) abort();
      break;
    case 2:
      if (!parse_cgroup(text).starts_with('/')) abort();
      break;
    case 3:
      if (const auto container = container_of(text); container && container->name.empty()) abort();
      break;
    case 4:
      parse_numbered_link(text, "socket");
      parse_device_numbers(text);
      vcpu_of_thread_name(text);
      break;
    case 5:
      parse_internet_sockets(text, "tcp", sockets);
      break;
    case 6:
      parse_unix_sockets(text, sockets);
      break;
    case 7:
      if (parse_interrupts(text).size() > text.size()) abort();
      break;
    case 8:
      parse_cpu_model(text);
      break;
    case 9: {
      VirtualMachine machine;
      read_qemu_arguments(text, machine);
      if (machine.name.size() > text.size()) abort();
      break;
    }
  }
  for (const Socket& socket : sockets)
    if (socket.inode == 0 || socket.local.size() > text.size() + 64) abort();
  return 0;
}
