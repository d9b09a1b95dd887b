// SPDX-License-Identifier: Apache-2.0
#include "state/index_writer.h"

namespace strata::state {

Result<IndexWriter> IndexWriter::create(const std::string& path, uint64_t source) {
  Result<history::Writer> history = history::Writer::create(path, source);
  if (!history) return std::move(history).error();
  Result<history::RecordWriter> records = history::RecordWriter::create(records_path(path), source);
  if (!records) return std::move(records).error();
  return IndexWriter(*std::move(history), *std::move(records));
}

Status IndexWriter::checkpoint(int64_t time) {
  if (Status written = records_.checkpoint(time); !written) return written;
  return history_.checkpoint(time);
}

Status IndexWriter::finish(int64_t time) {
  if (Status written = records_.finish(time); !written) return written;
  return history_.finish(time);
}

void IndexWriter::add_record(RecordKind kind, size_t values, const history::Record& record,
                             bool has_ended) {
  if (has_ended)
    records_.add(static_cast<uint8_t>(kind), values, record);
  else
    records_.add_open(static_cast<uint8_t>(kind), values, record);
}

void IndexWriter::descriptor(const DescriptorRecord& record, bool has_ended) {
  add_record(RecordKind::Descriptor, DescriptorRecord::kValues, record.packed(), has_ended);
}

void IndexWriter::block_request(BlockRecord record, bool has_ended) {
  if (record.task < tids_.size()) record.tid = tids_[record.task];
  add_record(RecordKind::BlockRequest, BlockRecord::kValues, record.packed(), has_ended);
}

void IndexWriter::device_name(DeviceId device, std::string_view name) {
  history_.row("device/" + std::to_string(static_cast<uint32_t>(device)) + ' ' + std::string(name));
}

void IndexWriter::add_cpu(CpuIndex cpu, int64_t time) {
  if (cpus_.size() <= cpu) cpus_.resize(cpu + 1);
  const std::string key = "cpu/" + std::to_string(cpu);
  cpus_[cpu] = {history_.row(key), history_.row(key + "/task")};
  cpu_mode(cpu, time, Mode::Unknown, kNoName);
  cpu_task(cpu, time, kNoTask);
}

void IndexWriter::add_task(TaskId id, Tid tid, int64_t born) {
  if (tasks_.size() <= id) {
    tasks_.resize(id + 1);
    tids_.resize(id + 1, kNoTid);
  }
  tids_[id] = tid;
  tasks_[id] = history_.row("task/" + std::to_string(id) + ' ' + std::to_string(raw(tid)) + ' ' +
                            std::to_string(born));
}

void IndexWriter::add_vcpu(VcpuIndex vcpu, Tid process, uint32_t number, Tid tid) {
  if (vcpus_.size() <= vcpu) vcpus_.resize(vcpu + 1);
  const std::string key = "vcpu/" + std::to_string(vcpu) + ' ' + std::to_string(raw(process)) +
                          ' ' + std::to_string(number) + ' ' + std::to_string(raw(tid));
  vcpus_[vcpu] = {history_.row(key), process, number};
}

void IndexWriter::vcpu_identity(VcpuIndex vcpu, Tid process, uint32_t number) {
  VcpuRow& known = vcpus_[vcpu];
  if (known.process == process && known.number == number) return;
  known.process = process;
  known.number = number;
  history_.row("vcpu/" + std::to_string(vcpu) + "/is " + std::to_string(raw(process)) + ' ' +
               std::to_string(number));
}

void IndexWriter::vcpu_guest(const GuestCpuName& guest) {
  history_.row("vcpu/" + std::to_string(guest.vcpu) + "/guest " + std::to_string(guest.cpu) + ' ' +
               guest.machine);
}

void IndexWriter::cpu_frequency(CpuIndex cpu, int64_t time, uint32_t khz) {
  history_.set(history_.row("cpu/" + std::to_string(cpu) + "/frequency"), time, 0, khz);
}

history::Row IndexWriter::task_row(TaskId task, std::string_view what) {
  return history_.row("task/" + std::to_string(task) + '/' + std::string(what));
}

void IndexWriter::task_cpu(TaskId task, int64_t time, CpuIndex cpu, MigrationCause cause) {
  history_.set(task_row(task, "cpu"), time, static_cast<history::State>(cause), cpu);
}

void IndexWriter::task_name(TaskId task, int64_t time, NameId name) {
  history_.set(task_row(task, "name"), time, 0, name);
}

void IndexWriter::task_process(TaskId task, int64_t time, Tid process) {
  history_.set(task_row(task, "process"), time, 0, static_cast<uint32_t>(raw(process)));
}

void IndexWriter::vm_name(Tid process, std::string_view name) {
  history_.row("vm/" + std::to_string(raw(process)) + ' ' + std::string(name));
}

void IndexWriter::add_names(const Names& names) {
  for (; names_ < names.size(); ++names_)
    history_.row("name/" + names.text(static_cast<NameId>(names_)));
}

}  // namespace strata::state
