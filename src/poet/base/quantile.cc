#include "poet/base/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "poet/base/error.h"

namespace poet {

double quantile_of_sorted(const std::vector<double>& figures, double q) {
  ensure(!figures.empty() && q >= 0 && q <= 1, "a quantile is of something, and between its least and most");
  const double place = q * static_cast<double>(figures.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, figures.size() - 1);
  const double part = place - static_cast<double>(below);
  return part > 0 ? figures[below] + part * (figures[above] - figures[below]) : figures[below];
}

double quantile(std::vector<double> figures, double q) {
  std::sort(figures.begin(), figures.end());
  return quantile_of_sorted(figures, q);
}

}  // namespace poet
