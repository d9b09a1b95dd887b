// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "base/mapped_file.h"
#include "lib/feeds.h"
#include "lib/told.h"
#include "period/json.h"

namespace strata::lib {
namespace {

class LineFeed : public period::Feed {
 public:
  explicit LineFeed(MappedFile file) : file_(std::move(file)), lines_(lines()) {}

  // Reads the first line, which says what the others are likely to tell.
  Status begin() {
    Result<std::optional<period::Table>> first = read();
    if (!first) return std::move(first).error();
    if (!*first) return Error{file_.path(), 0, "there is no table of a period in it"};
    first_ = *std::move(first);
    told_.find_groups(*first_);
    return {};
  }

  bool is_live() const override { return false; }

  Result<std::optional<period::Table>> next() override {
    Result<std::optional<period::Table>> table =
        first_ ? std::exchange(first_, std::nullopt) : read();
    if (table && *table) {
      told_.find_groups(**table);
      told_.count(**table);
    }
    return table;
  }

  Status restart() override {
    lines_ = lines();
    end_.reset();
    damage_.reset();
    first_.reset();
    told_.forget_losses();
    return {};
  }

  Status want(period::Groups groups) override { return told_.want(groups); }
  period::Groups told() const override { return told_.groups(); }
  std::vector<std::string> shortfalls() const override { return told_.shortfalls(); }

 private:
  period::TableLines lines() const { return {as_text(file_.bytes()), file_.path()}; }

  Result<std::optional<period::Table>> read() {
    if (damage_) return *damage_;
    Result<std::optional<period::Table>> table = lines_.next();
    if (file_.shrank()) return file_.shrank_error();
    if (!table || !*table) return table;
    if (end_ && (*table)->begin != *end_) {
      damage_ = Error{file_.path(), lines_.offset(),
                      "the period does not begin where the one before it ended"};
      return *damage_;
    }
    end_ = (*table)->end;
    return table;
  }

  MappedFile file_;
  period::TableLines lines_;
  Told told_;
  std::optional<period::Table> first_;  // was read, and nobody has got it yet
  std::optional<int64_t> end_;          // of the last period
  std::optional<Error> damage_;
};

}  // namespace

Result<std::unique_ptr<period::Feed>> line_feed(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  auto feed = std::make_unique<LineFeed>(*std::move(file));
  if (Status begun = feed->begin(); !begun) return std::move(begun).error();
  return std::unique_ptr<period::Feed>(std::move(feed));
}

}  // namespace strata::lib
