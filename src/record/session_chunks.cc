// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "record/running_session.h"

namespace strata::record {

// What is recorded into.
Status RunningSession::add_folder() {
  folder_ = request_.folder;
  if (!request_.keep.is_limited() || request_.flight) return {};
  chunks_.emplace(request_.folder, request_.keep, request_.compressed);
  Result<std::string> first = chunks_->make_folder();
  if (!first) return std::move(first).error();
  folder_ = *std::move(first);
  return {};
}

uint64_t RunningSession::recorded_bytes() {
  return (kernel_ ? kernel_->bytes() : 0) + (app_ ? app_->status().bytes : 0);
}

void RunningSession::tend_chunks(Clock::time_point now) {
  constexpr auto kBetweenTendings = std::chrono::milliseconds(200);
  next_tending_ = now + kBetweenTendings;
  if (chunks_->should_end(now - chunk_begin_, recorded_bytes() - bytes_before_chunk_)) {
    // Where there cannot be another chunk, this one goes on, and has had its share again in a
    // while.
    if (Status status = next_chunk(); !status) warn(status.error());
    chunk_begin_ = Clock::now();
    bytes_before_chunk_ = recorded_bytes();
  }
  chunks_->delete_old(Clock::now());
  settle();
  for (const Error& problem : chunks_->problems()) warn(problem);
}

// In an order in which at every moment all that was recorded opens: the next chunk is one, without
// events, before any can come to it.
Status RunningSession::next_chunk() {
  const Result<std::string> folder = chunks_->make_folder();
  if (!folder) return folder.error();
  tell_clocks();
  recording::Description next = description_;
  next.sessions.back().begin_ns = now_since_epoch().count;
  next.parts.clear();
  Result<KernelSource::PageFiles> files = KernelSource::PageFiles();
  if (kernel_) {
    next.parts = kernel_->parts();
    next.parts.front().machine = next.machines.front().name;
    files = kernel_->make_files(*folder);
  }
  const Status opens = files ? recording::write_description(*folder, next) : Status(files.error());
  if (!opens) {
    std::error_code ignored;
    std::filesystem::remove_all(*folder, ignored);
    return opens;
  }
  KernelSource::Complete kernel;
  if (kernel_) {
    if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
    kernel = kernel_->continue_in(*folder, *std::move(files));
    if (Status status = throttling_->stop(); !status) warn(status.error());
  }
  const Status programs = continue_programs_in(*folder);
  EndedChunk ended = end_chunk(std::move(kernel.pages));
  if (kernel_) description_.parts[0].lost = kernel.part.lost;
  if (counters_) {
    const recording::Part counters = counters_->continue_in(*folder);
    description_.parts[1].lost = counters.lost;
    description_.parts[1].lost_unknown = counters.lost_unknown;
    description_.parts[1].finished = counters.finished;
  }
  const Status told = recording::write_description(folder_, description_);
  chunks_->finish(std::move(ended));
  folder_ = *folder;
  description_ = std::move(next);
  other_parts_.clear();
  complete_programs_.reset();
  clock_->begin_chunk();
  if (kernel_) {
    if (Status status = throttling_->continue_in(folder_); !status) warn(status.error());
    add_state();
  }
  tell_clocks();
  if (Status status = write_description(); !status) return status;
  return told ? programs : told;
}

Status RunningSession::continue_programs_in(const std::string& folder) {
  if (!app_) return {};
  Result<std::vector<recording::Part>> complete = app_->continue_in(folder);
  if (!complete) return std::move(complete).error();
  complete_programs_ = *std::move(complete);
  return {};
}

// The recording in folder_ has all that comes to it.
EndedChunk RunningSession::end_chunk(std::vector<kernel::PageFile> pages) {
  clock_->take_anchor();
  tell_clocks();
  gather_parts();
  description_.sessions.back().end_ns = now_since_epoch().count;
  return {folder_, Clock::now(), std::move(pages),
          kernel_ ? kernel_->ending() : tracedat::Ending()};
}

}  // namespace strata::record
