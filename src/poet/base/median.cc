#include "poet/base/median.h"

#include <algorithm>

#include "poet/base/error.h"

namespace poet {

double median(std::vector<double> figures) {
  ensure(!figures.empty(), "a median is of something");
  std::sort(figures.begin(), figures.end());
  const std::size_t middle = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[middle] : (figures[middle - 1] + figures[middle]) / 2;
}

}  // namespace poet
