// SPDX-License-Identifier: Apache-2.0
//
// A file of records, beside a history: what was, from when to when, and some numbers that say what
// it was. A history has rows that are in one state at a time; here is what comes in any number at
// once (open files, requests to disks) and has more to tell than a state.
//
// The file grows as a history does (file.h): blocks of up to kBlockRecords of one kind, a directory
// of those that are new, a footer. A record is written when it ends. Short and long ones go into
// different blocks: so a block of short ones spans little time, and what is asked of a narrow
// range reads few of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "history/file.h"
#include "history/growing_file.h"

namespace strata::history {

inline constexpr uint64_t kRecordsMagic = 0x315344524f434552;  // "RECORDS1" as it lies in the file
inline constexpr uint32_t kRecordsVersion = 1;
inline constexpr uint32_t kBlockRecords = 1024;
inline constexpr size_t kMostValues = 16;
inline constexpr uint8_t kRecordKinds = 4;

// What the kinds and values mean is their user's business. The first value is the record's subject,
// by which it can be asked for.
struct Record {
  int64_t begin = 0;
  int64_t end = 0;
  std::array<int64_t, kMostValues> values = {};

  bool operator==(const Record&) const = default;
};

struct RecordBlock {
  uint64_t offset;
  int64_t begin;      // of the first that begins
  int64_t end;        // of the last that ends
  uint64_t subjects;  // a bit for each, by its hash
  uint32_t count;
  uint32_t size;  // compressed
  uint8_t kind;
  uint8_t values;  // how many each record has
  uint8_t reserved[6];
};
static_assert(std::has_unique_object_representations_v<RecordBlock>);

class RecordWriter {
 public:
  // `source` as for a history's Writer.
  static Result<RecordWriter> create(const std::string& path, uint64_t source);
  RecordWriter(RecordWriter&&) noexcept;
  ~RecordWriter();

  // It has ended. `values`: how many of the record's count, the same for all of a kind.
  void add(uint8_t kind, size_t values, const Record& record);
  // It has not; to be told for all such before each checkpoint, of which it is a part.
  void add_open(uint8_t kind, size_t values, const Record& record);

  // Up to `time` all is known, and who opens the file sees it.
  Status checkpoint(int64_t time);
  Status finish(int64_t time);

  uint64_t records() const { return records_; }

 private:
  // Records that are not many enough for a block yet.
  struct Pending {
    size_t values = 0;
    std::vector<Record> records;
  };
  struct Zstd;
  static constexpr size_t kLengths = 16;  // of records, each 16 times the one before

  RecordWriter(GrowingFile file, uint64_t source);
  void write_block(uint8_t kind, const Pending& pending, std::vector<RecordBlock>& blocks);
  void write_directory(int64_t time);

  GrowingFile file_;
  uint64_t source_;
  std::array<std::array<Pending, kLengths>, kRecordKinds> pending_;
  std::array<Pending, kRecordKinds> open_;
  std::vector<RecordBlock> new_blocks_;  // since the last directory
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_;
  std::vector<uint8_t> packed_;
  uint64_t records_ = 0;
  uint64_t previous_footer_ = 0;
  bool is_complete_ = false;
};

// The records of a file. What it says is checked when it is opened and when it is read. Used by one
// thread.
class Records {
 public:
  static Result<Records> open(const std::string& path, uint64_t source);
  Records(Records&&) noexcept;
  Records& operator=(Records&&) noexcept;
  ~Records();

  int64_t end() const { return end_; }
  bool is_complete() const { return is_complete_; }
  uint64_t count() const { return count_; }

  // One way along the records of a kind that have a part between two times (both included), in no
  // order; with a subject, those of others may be among them.
  class Walk {
   public:
    Walk() = default;  // none
    Walk(Records& records, uint8_t kind, int64_t begin, int64_t end,
         std::optional<int64_t> subject = std::nullopt);

    // Null at the end. Valid until the next call.
    Result<const Record*> next();
    // Of the record that it gave last: the same whatever was asked for.
    uint64_t number() const {
      return next_block_ == 0 || next_ == 0 ? 0 : (next_block_ - 1) * kBlockRecords + next_ - 1;
    }

    uint64_t blocks_read() const { return blocks_read_; }

   private:
    bool may_have(const RecordBlock& block) const;

    Records* records_ = nullptr;
    uint8_t kind_ = 0;
    int64_t begin_ = 0;
    int64_t end_ = 0;
    std::optional<int64_t> subject_;
    size_t next_block_ = 0;
    uint64_t blocks_read_ = 0;
    std::vector<Record> block_;
    size_t next_ = 0;
  };

 private:
  struct Zstd;
  explicit Records(MappedFile file);
  Status read_directories(uint64_t source);
  bool add_blocks(const uint8_t* at, uint64_t count);
  Status decode(const RecordBlock& block, std::vector<Record>& into);
  Error damaged() const;

  std::unique_ptr<MappedFile> file_;
  std::vector<RecordBlock> blocks_;
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_;
  int64_t end_ = 0;
  uint64_t count_ = 0;
  bool is_complete_ = false;
};

}  // namespace strata::history
