// SPDX-License-Identifier: Apache-2.0
//
// The state of this machine, held against what this very test set up.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/file_descriptor.h"
#include "kernel/machine_state.h"
#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;

ProcessState gather() {
  Result<ProcessState> state = gather_processes(StateClock::MonotonicRaw);
  EXPECT_TRUE(state) << state.error().text();
  return state ? *std::move(state) : ProcessState();
}

const Process* find(const ProcessState& state, pid_t pid) {
  for (const Process& process : state.processes)
    if (process.pid == pid) return &process;
  return nullptr;
}

const Descriptor* descriptor(const Process& process, int number) {
  for (const Descriptor& one : process.descriptors)
    if (one.number == number) return &one;
  return nullptr;
}

// The socket behind a descriptor of this process.
const Socket* socket_of(const ProcessState& state, int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return nullptr;
  for (const SocketTable& table : state.sockets)
    for (const Socket& socket : table.sockets)
      if (socket.inode == status.st_ino) return &socket;
  return nullptr;
}

uint64_t inode_of(const char* path) {
  struct stat status {};
  return stat(path, &status) == 0 ? status.st_ino : 0;
}

// A thread of a name, while this object lives.
class NamedThread {
 public:
  explicit NamedThread(const char* name) {
    std::promise<pid_t> told;
    thread_ = std::thread([this, name, &told] {
      pthread_setname_np(pthread_self(), name);
      told.set_value(gettid());
      end_.get_future().wait();
    });
    tid_ = told.get_future().get();
  }
  ~NamedThread() {
    end_.set_value();
    thread_.join();
  }
  pid_t tid() const { return tid_; }

 private:
  std::promise<void> end_;
  std::thread thread_;
  pid_t tid_ = 0;
};

TEST(ProcessState, ShowsThisProcess) {
  const NamedThread worker("a (worker) x");
  const ProcessState state = gather();
  const Process* self = find(state, getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_EQ(self->uid, static_cast<int32_t>(getuid()));
  EXPECT_EQ(self->gid, static_cast<int32_t>(getgid()));
  EXPECT_FALSE(self->kernel_thread);
  EXPECT_GT(self->rss_kb, 500u);
  ASSERT_FALSE(self->threads.empty());
  EXPECT_EQ(self->threads[0].tid, getpid());
  EXPECT_EQ(self->threads[0].pids.front(), getpid());
  EXPECT_GE(self->threads[0].cpu, 0);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  EXPECT_LE(self->threads[0].start_ns, now.tv_sec * 1'000'000'000 + now.tv_nsec);
  EXPECT_GT(self->threads[0].start_ns, (now.tv_sec - 600) * 1'000'000'000);
  EXPECT_THAT(self->threads, Contains(testing::AllOf(Field(&Thread::tid, worker.tid()),
                                                     Field(&Thread::name, "a (worker) x"),
                                                     Field(&Thread::state, 'S'))));
  EXPECT_EQ(self->namespaces.pid, inode_of("/proc/self/ns/pid"));
  EXPECT_EQ(self->namespaces.mnt, inode_of("/proc/self/ns/mnt"));
  EXPECT_EQ(self->namespaces.net, inode_of("/proc/self/ns/net"));
  EXPECT_EQ(self->namespaces.user, inode_of("/proc/self/ns/user"));
  EXPECT_TRUE(self->cgroup.starts_with('/'));
}

TEST(ProcessState, ShowsOpenFilesAndHow) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("a file", "x");
  const FileDescriptor read(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor write(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const FileDescriptor both(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const ProcessState state = gather();
  const Process* self = find(state, getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_TRUE(self->descriptors_known);
  const auto modes = [&](int fd) -> std::string {
    const Descriptor* found = descriptor(*self, fd);
    if (found == nullptr || found->path != path) return "none";
    return std::string(found->reads ? "r" : "") + (found->writes ? "w" : "");
  };
  EXPECT_EQ(modes(read.get()), "r");
  EXPECT_EQ(modes(write.get()), "w");
  EXPECT_EQ(modes(both.get()), "rw");
}

TEST(ProcessState, ShowsSocketsWithTheirPeers) {
  const FileDescriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const FileDescriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(server.get(), generic, size), 0);
  ASSERT_EQ(listen(server.get(), 1), 0);
  ASSERT_EQ(getsockname(server.get(), generic, &size), 0);
  ASSERT_EQ(connect(client.get(), generic, size), 0);
  const std::string server_name = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const FileDescriptor accepted(accept(server.get(), nullptr, nullptr));
  ASSERT_EQ(getsockname(client.get(), generic, &size), 0);
  const std::string client_name = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));

  const test::TemporaryFolder folder;
  const FileDescriptor local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  folder.file("s").copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(local.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(listen(local.get(), 1), 0);

  const ProcessState state = gather();
  const auto text = [&](int fd) -> std::string {
    const Socket* found = socket_of(state, fd);
    if (found == nullptr) return "none";
    return found->protocol + " " + found->local + " " + found->peer + " " + found->state;
  };
  EXPECT_EQ(text(server.get()), "tcp " + server_name + "  LISTEN");
  EXPECT_EQ(text(client.get()), "tcp " + client_name + " " + server_name + " ESTABLISHED");
  EXPECT_EQ(text(accepted.get()), "tcp " + server_name + " " + client_name + " ESTABLISHED");
  EXPECT_EQ(text(local.get()), "unix " + folder.file("s") + "  LISTEN");
}

TEST(ProcessState, KnowsTheNumberInsideOfAPidNamespace) {
  // unshare() is for the children of whoever calls it, so a child of its own does.
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    pid_t inner = unshare(CLONE_NEWPID) == 0 ? fork() : -1;
    if (inner == 0) {
      for (;;) pause();
    }
    if (write(ready[1], &inner, sizeof inner) != sizeof inner) _exit(1);
    for (;;) pause();
  }
  pid_t inner = -1;
  ASSERT_EQ(read(ready[0], &inner, sizeof inner), static_cast<ssize_t>(sizeof inner));
  const ProcessState state = gather();
  if (inner > 0) kill(inner, SIGKILL);
  kill(outer, SIGKILL);
  waitpid(outer, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  if (inner < 0) GTEST_SKIP() << "no right to make a pid namespace";

  const Process* found = find(state, inner);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->parent, outer);
  EXPECT_THAT(found->threads.at(0).pids, ElementsAre(inner, 1));
  EXPECT_NE(found->namespaces.pid, find(state, outer)->namespaces.pid);
}

TEST(ProcessState, ShowsTheKernelsThreads) {
  const ProcessState state = gather();
  const Process* found = find(state, 2);
  if (found == nullptr) GTEST_SKIP() << "not seen from within this pid namespace";
  if (found->threads.at(0).name != "kthreadd") GTEST_SKIP() << "process 2 is another here";
  EXPECT_TRUE(found->kernel_thread);
  EXPECT_TRUE(found->descriptors.empty());
}

TEST(VirtualMachines, ThisProcessIsOneWhenItHoldsAVcpu) {
  const FileDescriptor kvm(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm) GTEST_SKIP() << "no KVM here";
  const FileDescriptor machine(ioctl(kvm.get(), KVM_CREATE_VM, 0));
  if (!machine) GTEST_SKIP() << "KVM makes no machine here";
  const FileDescriptor vcpu(ioctl(machine.get(), KVM_CREATE_VCPU, 0));
  if (!vcpu) GTEST_SKIP() << "KVM makes no vCPU here";
  const NamedThread runs("CPU 0/KVM");
  const Result<MachineState> state = gather_state(StateClock::MonotonicRaw);
  ASSERT_TRUE(state) << state.error().text();
  const auto self = std::find_if(state->machines.begin(), state->machines.end(),
                                 [](const VirtualMachine& one) { return one.pid == getpid(); });
  ASSERT_NE(self, state->machines.end());
  EXPECT_TRUE(self->kvm);
  EXPECT_EQ(self->vcpu_count, 1u);
  ASSERT_EQ(self->vcpus.size(), 1u);
  EXPECT_EQ(self->vcpus[0].number, 0u);
  // KVM tells the thread that made the vCPU or last ran it, the name tells the other.
  EXPECT_TRUE(self->vcpus[0].tid == runs.tid() || self->vcpus[0].tid == gettid());
}

TEST(DeviceState, ShowsThisMachinesDevices) {
  const DeviceState devices = gather_devices(StateClock::MonotonicRaw);
  EXPECT_FALSE(devices.architecture.empty());
  EXPECT_EQ(devices.cpus.size(), static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_THAT(devices.interfaces, Contains(Field(&NetworkInterface::name, "lo")));
  for (const BlockDevice& device : devices.block_devices) {
    struct stat status {};
    const std::string node = "/dev/" + device.name;
    if (stat(node.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) continue;
    EXPECT_EQ(major(status.st_rdev), device.major) << device.name;
    EXPECT_EQ(minor(status.st_rdev), device.minor) << device.name;
  }
}

TEST(MachineState, StampsGoUpInTheOrderOfReading) {
  const Result<MachineState> state = gather_state(StateClock::MonotonicRaw);
  ASSERT_TRUE(state) << state.error().text();
  uint64_t last = state->begin;
  const auto next = [&](uint64_t stamp) {
    EXPECT_GE(stamp, last);
    last = stamp;
  };
  next(state->devices.read_at);
  for (const Process& process : state->processes.processes) {
    next(process.read_at);
    next(process.descriptors_at);
  }
  for (const SocketTable& table : state->processes.sockets) next(table.read_at);
  for (const VirtualMachine& machine : state->machines) next(machine.read_at);
  next(state->end);
}

}  // namespace
}  // namespace strata::kernel
