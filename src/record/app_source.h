// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
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
// The kernel switches the sites on (SwitchedSites), in processes that run already and in those that
// start later, for as long as the recorder lives. Where it does not let us, a program that the
// recorder starts itself switches them on by its environment.
class AppSource final : public Source {
 public:
  // Nothing is on yet, nobody listens. Fails where sites can be switched on in no way; `command`:
  // there will be a program with our environment().
  static Result<std::unique_ptr<AppSource>> create(AppRequest request, bool command);
  ~AppSource() override;

  // For the program that is recorded.
  std::vector<std::pair<std::string, std::string>> environment() const;

  // To be told before start(): the recording's folder, and its clock.
  void prepare(const std::string& folder, const HostClock& clock);
  Status start() override;
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override;

  // What was left out, or could not be switched on.
  const std::vector<std::string>& remarks() const { return remarks_; }
  // From start() on: the threads that collect.
  std::vector<pid_t> threads() const { return collector_->threads(); }
  // It cannot go on: its stop() tells why.
  bool failed() const { return collector_->failed(); }

 private:
  AppSource(AppRequest request, bool by_kernel);

  AppRequest request_;
  bool by_kernel_;  // it switches the sites on
  std::string clock_name_;
  collect::CollectorOptions options_;
  std::unique_ptr<collect::Collector> collector_;
  std::vector<collect::SwitchedSites> switched_;
  std::vector<std::string> remarks_;
  bool finished_ = false;
};

}  // namespace strata::record
