// SPDX-License-Identifier: Apache-2.0
//
// ask INDEX: how much CPU time an index takes to answer, in milliseconds, a line each: the state of
// 200 tasks at a random time, and 200 rows of 2,000 pixels over the whole range; the median of 20
// after one that warms up.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>

#include "state/index.h"

namespace {

using namespace strata;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median_ms(const std::function<void()>& ask) {
  std::vector<double> times;
  for (int i = 0; i <= 20; ++i) {
    const double begin = cpu_ms();
    ask();
    if (i > 0) times.push_back(cpu_ms() - begin);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Result<state::Index> index = state::Index::open(argv[1], 1);
  if (!index) {
    std::fprintf(stderr, "%s\n", index.error().text().c_str());
    return 1;
  }
  history::History& history = index->history();
  const size_t rows = std::min<size_t>(200, index->tasks().size());
  std::mt19937_64 random(1);
  const auto span = static_cast<uint64_t>(history.end() - history.begin());
  uint64_t sum = 0;
  const double at = median_ms([&] {
    const int64_t time = history.begin() + static_cast<int64_t>(random() % span);
    for (size_t i = 0; i < rows; ++i)
      if (const auto found =
              history.at(index->tasks()[i * index->tasks().size() / rows].state, time);
          found && *found)
        sum += (*found)->state;
  });
  std::vector<history::Pixel> pixels(2000);
  const double picture = median_ms([&] {
    for (size_t i = 0; i < rows; ++i) {
      (void)history.pixels(index->tasks()[i * index->tasks().size() / rows].state, history.begin(),
                           history.end(), {}, pixels);
      sum += pixels[1000].state;
    }
  });
  std::printf("%.3f\n%.3f\n", at, picture);
  return sum == 0;
}
