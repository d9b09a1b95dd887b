// SPDX-License-Identifier: Apache-2.0
//
// What the board shows, and what keys do to it; board_draw.cc draws it, board_menus.cc has its
// menus.
#include "top/board.h"

#include <algorithm>
#include <utility>

#include "top/file_sheets.h"
#include "top/latency_sheets.h"
#include "top/vm_sheets.h"

namespace strata::top {
namespace {

template <size_t... kAll>
std::array<List, kScreens> all_lists(std::index_sequence<kAll...>) {
  return {list_of(Screen(kAll))...};
}

}  // namespace

Board::Board(UserNames& users)
    : users_(users), lists_(all_lists(std::make_index_sequence<kScreens>())) {
  table_.machines.emplace_back();
}

void Board::show(period::Table table) {
  if (table.machines.empty()) table.machines.emplace_back();
  const std::string shown = machine().name;
  const auto same = std::ranges::find(table.machines, shown, &period::Machine::name);
  const auto& now = machine().values;
  before_.reset();
  if (table.begin == table_.end && same != table.machines.end())
    before_ = {now[period::Column::Processes], now[period::Column::Threads]};
  machine_ = same == table.machines.end() ? 0 : static_cast<size_t>(same - table.machines.begin());
  sheet_.reset();  // it is of the table that goes
  table_ = std::move(table);
  if (!pids_.empty())
    for (period::Machine& each : table_.machines)
      std::erase_if(each.tasks, [&](const period::TaskRow& row) {
        return std::ranges::find(pids_, row.pid) == pids_.end();
      });
  arrange();
}

Scale Board::scale() const {
  return {static_cast<uint64_t>(std::max<int64_t>(table_.length(), 1)), in_ns_};
}

TaskLines Board::task_lines() const {
  return threads_                  ? TaskLines::Threads
         : screen_ == Screen::Tree ? TaskLines::Tree
                                   : TaskLines::Processes;
}

std::unique_ptr<Sheet> Board::screen_sheet(const period::Machine& machine) const {
  switch (screen_) {
    case Screen::Vm:
      return std::make_unique<VmSheet>(machine);
    case Screen::Latency:
      return std::make_unique<LatencySheet>(machine);
    case Screen::Files:
      return std::make_unique<FileSheet>(machine);
    default:
      return std::make_unique<TaskSheet>(machine, task_lines(), users_);
  }
}

std::unique_ptr<Sheet> Board::sheet_of_opened() const {
  switch (screen_) {
    case Screen::Io:
      return std::make_unique<DescriptorSheet>(machine(), opened_->pid);
    case Screen::Vm:
      return std::make_unique<ExitSheet>(machine(), opened_->pid);
    case Screen::Latency:
      return std::make_unique<HistogramSheet>(machine(), opened_->key);
    default:
      return std::make_unique<PastSheet>(machine(), table_.clock, past_.periods());
  }
}

void Board::arrange() {
  sheet_ = opened_ ? sheet_of_opened() : screen_sheet(machine());
  const bool is_filtered = filter_ && !opened_;
  list().arrange(*sheet_, scale(), is_filtered ? &*filter_ : nullptr, machine());
}

void Board::open(Screen screen) {
  screen_ = screen;
  opened_.reset();
  want(groups_of(screen));
  arrange();
}

// Besides what is wanted so far.
void Board::want(period::Groups groups) {
  for (size_t i = 0; i < static_cast<size_t>(period::Group::Count_); ++i)
    if (groups.has(period::Group(i))) groups_.add(period::Group(i));
}

void Board::show_threads(bool are_shown) {
  threads_ = are_shown;
  opened_.reset();
  arrange();
}

Status Board::filter_by(std::string_view text) {
  filter_.reset();
  if (!text.empty()) {
    Result<LineFilter> filter = LineFilter::parse(text);
    if (!filter) return std::move(filter).error();
    filter_ = *std::move(filter);
  }
  arrange();
  return {};
}

bool Board::sort_by(std::string_view column) {
  const std::optional<size_t> found = column_called(*sheet_, column);
  if (!found) return false;
  list().sort_by(sheet_->columns()[*found].name);
  arrange();
  return true;
}

Result<LineFilter> Board::condition(std::string_view text) const {
  Result<LineFilter> condition = LineFilter::parse(text);
  if (!condition) return condition;
  const std::optional<std::string> unknown = condition->unknown_name(*screen_sheet(machine()));
  if (!unknown) return condition;
  if (const auto other =
          condition->unknown_name(TaskSheet(machine(), TaskLines::Processes, users_)))
    return Error{{}, std::nullopt, "there is no '" + *unknown + "' to compare"};
  return condition;
}

bool Board::holds(const LineFilter& condition, const period::Table& table) const {
  const Scale scale{static_cast<uint64_t>(std::max<int64_t>(table.length(), 1))};
  return std::ranges::any_of(table.machines, [&](const period::Machine& each) {
    const std::unique_ptr<Sheet> own = screen_sheet(each);
    if (!condition.unknown_name(*own)) return condition.holds(*own, scale, each);
    return condition.holds(TaskSheet(each, TaskLines::Processes, users_), scale, each);
  });
}

void Board::open_selected() {
  const std::optional<size_t> line = list().selected();
  if (opened_ || !line || screen_ == Screen::Files) return;
  const LineKey key = sheet_->key(*line);
  if (screen_ == Screen::Vm) {
    const int32_t pid = static_cast<const VmSheet&>(*sheet_).pid(*line);
    opened_ = {key, pid, "exits", List({"reason", "exits", "hyp", "usr", "each"}, "exits")};
  } else if (screen_ == Screen::Latency) {
    const period::LatencyRow& row = machine().latencies[*line];
    opened_ = {key, period::kNoId, std::string(period::name_of(row.what)) + ' ' + row.name,
               List({"from", "to", "count", "part", "bar"}, "from")};
    opened_->list.keep_order();
  } else {
    const period::TaskRow& row = static_cast<const TaskSheet&>(*sheet_).row(*line);
    const int32_t pid = row.pid == period::kNoId ? row.tid : row.pid;
    if (screen_ == Screen::Io)
      opened_ = {
          key, pid, "descriptors of " + row.name + ' ' + std::to_string(pid),
          List({"fd", "kind", "read", "write", "reads", "writes", "lat", "io", "name"}, "io")};
    else
      opened_ = {
          key, pid, row.name + ' ' + std::to_string(row.tid),
          List({"begin", "state", "cpu", "usr", "sys", "wait", "block", "on", "io"}, "begin")};
    if (screen_ != Screen::Io) opened_->list.keep_order();
  }
  arrange();
}

void Board::search(int step, bool may_stay) {
  if (searched_.empty()) return;
  if (!list().find(*sheet_, scale(), searched_, step, may_stay))
    remark_ = "'" + searched_ + "' is nowhere";
}

Order Board::press_in_prompt(const Key& key) {
  const Asked asked = prompt_.asked();
  switch (prompt_.press(key)) {
    case Prompt::Typed::Text:
      if (asked == Asked::Search) {
        searched_ = prompt_.text();
        search(1, true);
      }
      return {};
    case Prompt::Typed::GivenUp:
      prompt_.close();
      if (asked == Asked::Search) searched_.clear();
      return {};
    case Prompt::Typed::Nothing:
      return {};
    case Prompt::Typed::Entered:
      break;
  }
  prompt_.close();
  const std::string& text = prompt_.text();
  switch (asked) {
    case Asked::Filter:
      if (Status status = filter_by(text); !status) remark_ = status.error().text();
      return {};
    case Asked::Jump:
      return text.empty() ? Order{} : Order{Wish::Jump, text};
    case Asked::Save:
      return text.empty() ? Order{} : Order{Wish::Save, text};
    default:
      return {};
  }
}

Order Board::press_at_bottom(const Key& key) {
  const auto behind = std::ranges::upper_bound(buttons_, key.column, {}, &Button::at);
  if (behind == buttons_.begin()) return {};
  return press({(behind - 1)->code});
}

Order Board::press(const Key& key) {
  remark_.clear();
  if (key.control && key.code == KeyCode::Character) {
    if (key.character == U'l') return {Wish::Redraw};
    if (key.character == U'z') return {Wish::Stop};
    if (key.character == U'c' && !prompt_.is_open()) return {Wish::Quit};
  }
  if (prompt_.is_open()) return press_in_prompt(key);
  if (menu_.is_open()) {
    switch (menu_.press(key)) {
      case Menu::Chosen::This:
        choose_from_menu();
        break;
      case Menu::Chosen::GivenUp:
        menu_.close();
        break;
      case Menu::Chosen::Nothing:
        break;
    }
    return {};
  }
  if (std::exchange(has_help_, false)) return {};
  if (key.code == KeyCode::Press && key.row == bottom_) return press_at_bottom(key);
  for (size_t i = 0; i < kScreens; ++i) {
    if (key.code != key_of(Screen(i))) continue;
    open(Screen(i));
    return {};
  }
  switch (key.code) {
    case KeyCode::F1:
      has_help_ = true;
      return {};
    case KeyCode::F10:
      return {Wish::Quit};
    case KeyCode::Enter:
      open_selected();
      return {};
    case KeyCode::Escape:
    case KeyCode::Backspace:
      if (opened_) {
        opened_.reset();
      } else if (!std::exchange(searched_, {}).empty()) {
        return {};
      } else {
        filter_.reset();
      }
      arrange();
      return {};
    case KeyCode::Left:
      return {Wish::Back};
    case KeyCode::Right:
      return {Wish::Forward};
    case KeyCode::Home:
      return {Wish::First};
    case KeyCode::End:
      return {Wish::Last};
    default:
      break;
  }
  if (list().press(key, *sheet_)) {
    arrange();
    return {};
  }
  return key.code == KeyCode::Character && !key.control && !key.alt ? press_character(key)
                                                                    : Order{};
}

Order Board::press_character(const Key& key) {
  switch (key.character) {
    case U'q':
      return {Wish::Quit};
    case U' ':
    case U'p':
      return {Wish::Pause};
    case U'+':
    case U'=':
      return {Wish::Faster};
    case U'-':
      return {Wish::Slower};
    case U';':
      return {Wish::NextMoment};
    case U',':
      return {Wish::PreviousMoment};
    case U'/':
      prompt_.ask(Asked::Search);
      return {};
    case U'\\':
      prompt_.ask(Asked::Filter, filter_ ? filter_->text() : "");
      return {};
    case U':':
      prompt_.ask(Asked::Jump);
      return {};
    case U'w':
      prompt_.ask(Asked::Save);
      return {};
    case U'r':
      return {Wish::Record};
    case U'n':
      search(1, false);
      return {};
    case U'N':
      search(-1, false);
      return {};
    case U't':
    case U'H':
      if (is_of_tasks(screen_)) show_threads(!threads_);
      return {};
    case U's':
      open_sort_menu();
      return {};
    case U'C':
      open_column_menu();
      return {};
    case U'P':
      sort_by("cpu");
      return {};
    case U'M':
      sort_by("mem");
      return {};
    case U'%':
      in_ns_ = !in_ns_;
      arrange();
      return {};
    case U'x':
      groups_.add(period::Group::Calls);
      return {};
    case U'm':
      machine_ = (machine_ + 1) % table_.machines.size();
      opened_.reset();
      arrange();
      return {};
    case U'h':
    case U'?':
      has_help_ = true;
      return {};
    default:
      return {};
  }
}

}  // namespace strata::top
