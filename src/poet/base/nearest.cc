#include "poet/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace poet {
namespace {

char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

/// Optimal string alignment: Levenshtein's distance, and neighbours that are swapped count once.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

constexpr std::size_t kLongest = 100;  // nobody mistypes more

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, folded, folded);
}

std::string folded_name(std::string name) {
  std::ranges::transform(name, name.begin(), folded);
  return name;
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  std::size_t least = name.size() / 3 + 1;
  if (name.size() > kLongest) return best;
  for (const std::string& one : known) {
    const std::size_t letters = distance(name, one);
    if (letters >= least) continue;
    least = letters;
    best = one;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::optional<std::string> meant = nearest(name, known);
  return meant ? "; did you mean " + *meant + "?" : "";
}

std::optional<std::size_t> place_in(std::string_view name, const std::vector<std::string>& known) {
  const auto found =
      std::ranges::find_if(known, [&](const std::string& one) { return same_name(one, name); });
  if (found == known.end()) return std::nullopt;
  return static_cast<std::size_t>(found - known.begin());
}

std::string not_one_of(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kMost = 256;  // of a name that is no name
  return fmt::format("\"{}\" is not one of {}{}", name.substr(0, kMost), fmt::join(known, ", "),
                     did_you_mean(name, known));
}

}  // namespace poet
