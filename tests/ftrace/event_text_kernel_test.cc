// SPDX-License-Identifier: Apache-2.0
//
// Every format of the running kernel, with made-up records, against libtraceevent itself.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "ftrace/event_text.h"
#include "libtraceevent_oracle.h"

namespace strata::ftrace {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// tracefs, mounted where only this process sees it.
class Tracefs {
 public:
  Tracefs() {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return;
    std::string path = (fs::temp_directory_path() / "strata-tracefs-XXXXXX").string();
    if (!mkdtemp(path.data())) return;
    path_ = path;
    mounted_ = mount("tracefs", path.c_str(), "tracefs", 0, nullptr) == 0;
  }
  ~Tracefs() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
    if (!path_.empty()) rmdir(path_.c_str());
  }
  bool mounted() const { return mounted_; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool mounted_ = false;
};

struct Format {
  std::string system;
  std::string text;
};

std::vector<Format> read_formats(const fs::path& tracefs) {
  std::vector<Format> formats;
  for (const auto& system : fs::directory_iterator(tracefs / "events")) {
    if (!system.is_directory()) continue;
    for (const auto& event : fs::directory_iterator(system)) {
      if (fs::exists(event.path() / "format"))
        formats.push_back({system.path().filename(), read_file(event.path() / "format")});
    }
  }
  std::sort(formats.begin(), formats.end(),
            [](const Format& a, const Format& b) { return a.text < b.text; });
  return formats;
}

// Records of a type with made-up values, of several kinds.
class Records {
 public:
  static constexpr int kKinds = 10;

  Records(const trace::EventType& type, uint64_t symbol) : type_(type), symbol_(symbol) {
    // Lengths and divisors are taken from the record as they are; libtraceevent would run over its
    // end, or divide by zero.
    for (const char* risk : {"__print_hex", "__print_array", "*s", "*p", " / ", " % "})
      careful_ = careful_ || type.print_format.find(risk) != std::string::npos;
    if (type.name == "kvm_emulate_insn") careful_ = true;
    for (const trace::Field& field : type.fields)
      fixed_ = std::max<size_t>(fixed_, field.offset + field.size);
  }

  // Valid until the next one. Zeros follow it, for those who read too far.
  Bytes make(int kind) {
    kind_ = kind;
    random_.seed(type_.id * 100u + static_cast<unsigned>(kind));
    bytes_.assign(70'000, std::byte{0});
    size_ = (fixed_ + 3) / 4 * 4;
    for (const trace::Field& field : type_.fields) fill(field);
    if (fixed_ == 0) return {};
    const auto id = static_cast<uint16_t>(type_.id);
    std::memcpy(bytes_.data(), &id, 2);
    return {bytes_.data(), size_};
  }

 private:
  uint64_t number(uint32_t bits) {
    if (careful_) return kind_ == 0 ? 1 : 1 + random_() % 4;
    switch (kind_) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return random_() % 16;
      case 3:
        return uint64_t{0} - 1 - random_() % 20;
      case 4:
        return uint64_t{1} << random_() % bits;
      case 5:
        return uint64_t{1} << random_() % bits | uint64_t{1} << random_() % 8 | 3;
      case 6:
        return bits == 64 ? symbol_ + random_() % 64 : random_() % 1000;
      case 7:
        return random_() % 100'000;
      default:
        return random_();
    }
  }
  void put(uint32_t offset, uint64_t value, uint32_t size) {
    std::memcpy(bytes_.data() + offset, &value, size);
  }
  std::string text(size_t most) {
    static constexpr std::string_view kWords = "sshd kworker/0:1 a.out /usr/lib/x86 path";
    const size_t from = random_() % 20;
    std::string text(kWords.substr(from, random_() % (most + 1)));
    if (kind_ == 9) text.resize(most, 'z');
    return text.substr(0, most);
  }

  void fill(const trace::Field& field) {
    if (field.location != trace::Location::InPlace) return locate(field);
    if (field.kind == trace::ValueKind::Text && field.size == 0) {  // all that follows
      const std::string all = text(30) + "\n";
      std::memcpy(bytes_.data() + field.offset, all.data(), all.size());
      size_ = std::max(size_, (field.offset + all.size() + 4) / 4 * 4);
      return;
    }
    if (field.kind == trace::ValueKind::Text) {
      const std::string all = text(field.size);
      std::memcpy(bytes_.data() + field.offset, all.data(), all.size());
      return;
    }
    if (field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8)
      return put(field.offset, number(8 * field.size), field.size);
    for (uint32_t i = 0; i < field.size; ++i)
      put(field.offset + i, kind_ == 0 ? 0 : random_() % (kind_ == 1 ? 2 : 256), 1);
  }

  void locate(const trace::Field& field) {
    std::string content = text(25);
    content.push_back('\0');
    if (field.kind != trace::ValueKind::Text) {
      content.clear();
      size_t count = careful_ ? 32 : random_() % 5 * 8;
      if (kind_ == 9) count = 64;
      for (size_t i = 0; i < count; ++i) content.push_back(static_cast<char>(random_()));
      // An address of a socket, perhaps.
      if (count >= 32 && field.element_size == 1 && !careful_) {
        content[0] = random_() % 2 == 0 ? 2 : 10;
        content[1] = 0;
      }
    }
    const auto offset = static_cast<uint32_t>(
        field.location == trace::Location::RelLoc ? size_ - field.offset - field.size : size_);
    put(field.offset, offset | content.size() << 16, field.size);
    std::memcpy(bytes_.data() + size_, content.data(), content.size());
    size_ = (size_ + content.size() + 3) / 4 * 4;
  }

  const trace::EventType& type_;
  uint64_t symbol_;
  bool careful_ = false;
  size_t fixed_ = 0;
  int kind_ = 0;
  std::mt19937_64 random_;
  std::vector<std::byte> bytes_;
  size_t size_ = 0;
};

TEST(EventText, IsTheSameAsLibtraceeventsForEveryFormatOfThisKernel) {
  const Tracefs tracefs;
  if (!tracefs.mounted()) GTEST_SKIP() << "tracefs cannot be mounted here";
  const std::vector<Format> formats = read_formats(tracefs.path());
  const std::string kallsyms = read_file("/proc/kallsyms");
  const std::string printk_formats = read_file(tracefs.path() / "printk_formats");
  const std::string header_page = read_file(tracefs.path() / "events/header_page");
  if (formats.empty()) GTEST_SKIP() << "the kernel has no events";

  test::LibtraceeventOracle oracle(Target{}, kallsyms, printk_formats);
  std::vector<std::unique_ptr<trace::EventType>> owned;
  std::vector<const trace::EventType*> types;
  for (const Format& format : formats) {
    auto type = parse_format_file(format.system, format.text, Target{});
    ASSERT_TRUE(type) << type.error().text();
    owned.push_back(std::make_unique<trace::EventType>(std::move(*type)));
    types.push_back(owned.back().get());
    oracle.add(format.system, format.text);
  }
  KernelText kernel;
  kernel.header_page = header_page;
  kernel.kallsyms = kallsyms;
  kernel.printk_formats = printk_formats;
  const EventText text(types, kernel);
  const uint64_t symbol = Symbols(kallsyms).address_of("schedule").value_or(0);

  std::map<EventText::Way, size_t> ways;
  size_t compared = 0;
  std::vector<std::string> differences;
  for (const trace::EventType* type : types) {
    ++ways[text.way(*type)];
    // The address in the reader's memory is shown: never twice the same.
    if (type->print_format.find("%p\", __get_dynamic_array") != std::string::npos) continue;
    // These are told by trace-cmd, not by libtraceevent.
    if (type->name.starts_with("funcgraph_")) continue;
    Records records(*type, symbol);
    for (int kind = 0; kind < Records::kKinds; ++kind) {
      trace::Event event;
      event.type = type;
      event.record = records.make(kind);
      event.time = Nanoseconds{123'456'789'012 + kind};
      if (event.record.empty()) continue;
      TextBuffer ours;
      text.print(event, ours);
      const std::string theirs = oracle.text(event.record, static_cast<uint64_t>(event.time.count));
      ++compared;
      const std::string_view shown = ours.view();
      if (shown == theirs) continue;
      differences.push_back(type->system + ":" + type->name + " kind " + std::to_string(kind) +
                            "\n  ours   " + std::string(shown) + "\n  theirs " + theirs +
                            "\n  format " + type->print_format.substr(0, 1500));
      break;
    }
  }
  const size_t native = ways[EventText::Way::Program] + ways[EventText::Way::Known];
  printf(
      "%zu formats, %zu records compared; %zu programs, %zu known texts, %zu by libtraceevent, "
      "%zu by their fields\n",
      types.size(), compared, ways[EventText::Way::Program], ways[EventText::Way::Known],
      ways[EventText::Way::Libtraceevent], ways[EventText::Way::Fields]);
  EXPECT_GE(static_cast<double>(native), 0.95 * static_cast<double>(types.size()));
  for (size_t i = 0; i < differences.size() && i < 40; ++i) ADD_FAILURE() << differences[i];
  EXPECT_EQ(differences.size(), 0u);
}

}  // namespace
}  // namespace strata::ftrace
