// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/collector.h"
#include "collect/switch.h"
#include "record/app_choice.h"
#include "record/host_clock.h"
#include "record/source.h"

namespace strata::record {

// What programs tell by their probes, into the recording's folders app-NAME/, one for each program.
//
// The kernel switches the sites on, in processes that run already and in those that start later,
// for as long as the recorder lives. Where it does not let us, the recorder does in processes of
// its user that run already (see SwitchedSites), and a program that the recorder starts switches
// them on by its environment.
class AppSource final : public Source {
 public:
  // Nothing is on yet, nobody listens. `command`: there will be a program with our environment().
  AppSource(AppRequest request, bool command);
  ~AppSource() override;

  // For the program that is recorded.
  std::vector<std::pair<std::string, std::string>> environment() const;

  // To be told before start(): the recording's folder, and its clock, which outlives this.
  void prepare(const std::string& folder, const HostClock& clock);
  Status start() override;
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override;

  // From here on into another recording's folder, without losing an event: gives the parts that are
  // complete now.
  Result<std::vector<recording::Part>> continue_in(const std::string& folder);

  // What was written to the traces since the last time is on the disk. What was drained is written
  // within a tenth of a second.
  void to_disk();

  // Of a flight: what the rings hold now.
  using Copies = std::vector<collect::RingsCopy>;
  Result<Copies> copy() const { return collector_->copy(); }
  // From when on, since the epoch, all is there that was told: in the rings, and in copies of them.
  // None: from the start.
  std::optional<int64_t> begin_ns() const { return to_epoch(collector_->held().begin); }
  std::optional<int64_t> begin_ns(const Copies& copies) const;
  // As traces in a folder.
  struct Saved {
    std::vector<recording::Part> parts;
    uint64_t events = 0;
    uint64_t lost = 0;
  };
  Result<Saved> save(Copies copies, const std::string& folder) const;

  const AppRequest& request() const { return request_; }
  // A change in two steps: what was on stays on until use(), and after it where nothing else was
  // said. Before that all can still be left as it was.
  struct Switched {
    std::vector<collect::ProbedFile> files;
    std::vector<collect::SwitchedSites> sites;
  };
  Result<Switched> switch_over(const AppChange& change);
  void use(Switched next);

  // What was left out, or could not be switched on, or not for all.
  const std::vector<std::string>& remarks() const { return remarks_; }
  // From start() on: the threads that collect.
  std::vector<pid_t> threads() const { return collector_->threads(); }
  // It cannot go on: its stop() tells why.
  bool failed() const { return collector_->failed(); }

 private:
  bool is_flight() const { return request_.policy == probe::abi::Policy::Overwrite; }
  std::optional<int64_t> to_epoch(std::optional<uint64_t> time) const;
  Status switch_on(const collect::ProbedFile& file, std::vector<collect::SwitchedSites>& to);
  std::vector<recording::Part> parts_of(const std::vector<collect::ProgramTraces::Told>& traces,
                                        bool finished) const;

  AppRequest request_;
  bool command_;
  bool by_kernel_;  // it switches the sites on
  const HostClock* clock_ = nullptr;
  std::string folder_;
  std::filesystem::file_time_type on_disk_ = std::filesystem::file_time_type::min();
  collect::CollectorOptions options_;
  std::unique_ptr<collect::Collector> collector_;
  std::vector<collect::SwitchedSites> switched_;
  std::vector<std::string> remarks_;
  SourceStatus before_;  // in folders that are complete
  bool finished_ = false;
};

}  // namespace strata::record
