// SPDX-License-Identifier: Apache-2.0
#include "record/running_session.h"

namespace strata::record {

// All at once, so that it takes as long as the slowest of them.
void RunningSession::call_machines() {
  for (MachineSource* machine : request_.machines) machine->call(folder_, *clock_);
}

// One that does not record keeps nobody else from it.
void RunningSession::await_machines() {
  for (MachineSource* machine : request_.machines) {
    if (Status status = machine->start(); !status) warn(status.error());
  }
}

void RunningSession::look_at_machines() {
  std::vector<recording::Machine> machines;
  std::vector<recording::Part> parts;
  for (MachineSource* machine : request_.machines) {
    for (const Error& problem : machine->problems()) warn(problem);
    machines.push_back(machine->machine());
    for (recording::Part& part : machine->parts()) parts.push_back(std::move(part));
  }
  // Losses grow all the time: they are told at the end.
  for (recording::Part& part : parts) part.lost = 0;
  if (machines == told_machines_ && parts == told_machine_parts_) return;
  told_machines_ = std::move(machines);
  told_machine_parts_ = std::move(parts);
  tell_clocks();
  if (Status status = write_description(); !status) warn(status.error());
}

}  // namespace strata::record
