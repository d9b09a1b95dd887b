// SPDX-License-Identifier: Apache-2.0
#include "guest/folder_sender.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <tuple>

#include "base/file_descriptor.h"
#include "recording/description.h"

namespace strata::guest {
namespace {

// What may wait in memory for a link that takes no more now.
constexpr size_t kMostAhead = 2 * kMaxPiece;

struct Place {
  FileKind kind;
  std::string part;
  std::string name;
};

// What a file is by its path in a recording's folder; none: nothing that is sent.
std::optional<Place> place_of(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, FileKind>, 3> kFolders = {{
      {"host-state/", FileKind::State},
      {"host-counters/", FileKind::Counters},
      {"host-cgroups/", FileKind::Cgroups},
  }};
  constexpr std::string_view kApp = "app-";
  if (path == "host.dat") return Place{FileKind::Head, "", path};
  if (path == recording::kDescriptionName) return Place{FileKind::Description, "", path};
  for (const auto& [folder, kind] : kFolders) {
    if (path.starts_with(folder)) return Place{kind, "", path.substr(folder.size())};
  }
  const size_t slash = path.find('/');
  if (!path.starts_with(kApp) || slash == std::string::npos) return std::nullopt;
  return Place{FileKind::App, path.substr(kApp.size(), slash - kApp.size()),
               path.substr(slash + 1)};
}

// Metadata before streams, recording.json last.
int rank_of(const std::string& path) {
  if (path == recording::kDescriptionName) return 2;
  return path.ends_with("/metadata") || path == "host.dat" ? 0 : 1;
}

}  // namespace

void FolderSender::look() {
  std::vector<std::string> paths;
  std::error_code problem;
  std::filesystem::recursive_directory_iterator entries(folder_, problem);
  for (; !problem && entries != std::filesystem::recursive_directory_iterator();
       entries.increment(problem)) {
    std::error_code ignored;
    std::string path = entries->path().string().substr(folder_.size() + 1);
    if (entries->is_regular_file(ignored) && place_of(path)) paths.push_back(std::move(path));
  }
  // Sizes in the reverse of the order in which they go: what is described has its size first.
  std::ranges::sort(paths, {},
                    [](const std::string& path) { return std::tuple(-rank_of(path), path); });
  for (const std::string& path : paths) {
    struct stat found {};
    if (stat((folder_ + "/" + path).c_str(), &found) != 0) continue;
    Known& file = files_[path];
    if (file.inode != found.st_ino) file = {.inode = found.st_ino};
    file.size = static_cast<uint64_t>(found.st_size);
    const bool is_new = file.number == 0 || file.sent < file.size;
    if (is_new && std::ranges::find(waiting_, path) == waiting_.end()) waiting_.push_back(path);
  }
  std::ranges::stable_sort(waiting_, {}, rank_of);
}

uint64_t FolderSender::unsent() const {
  uint64_t bytes = 0;
  for (const std::string& path : waiting_) {
    const Known& file = files_.at(path);
    bytes += file.size - file.sent;
  }
  return bytes;
}

Result<bool> FolderSender::send(Connection& to, uint32_t recording) {
  std::vector<std::byte> bytes(kMaxPiece);
  while (!waiting_.empty()) {
    const std::string& path = waiting_.front();
    Known& file = files_[path];
    const FileDescriptor in(open((folder_ + "/" + path).c_str(), O_RDONLY | O_CLOEXEC));
    if (!in) {  // replaced or removed meanwhile: the next look sees it
      waiting_.erase(waiting_.begin());
      continue;
    }
    if (file.number == 0) {
      file.number = next_number_++;
      const Place place = *place_of(path);
      if (Status sent = to.send(File{file.number, place.kind, place.part, place.name}, recording);
          !sent)
        return std::move(sent).error();
    }
    while (file.sent < file.size) {
      if (to.unsent() > kMostAhead) return false;
      const size_t wanted = std::min<uint64_t>(bytes.size(), file.size - file.sent);
      const ssize_t size = pread(in.get(), bytes.data(), wanted, static_cast<off_t>(file.sent));
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      const Piece piece{file.number, file.sent, Bytes(bytes).first(static_cast<size_t>(size))};
      if (Status sent = to.send(piece, recording); !sent) return std::move(sent).error();
      file.sent += static_cast<uint64_t>(size);
    }
    waiting_.erase(waiting_.begin());
  }
  return true;
}

}  // namespace strata::guest
