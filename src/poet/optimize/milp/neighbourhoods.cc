#include "poet/optimize/milp/neighbourhoods.h"

#include <algorithm>
#include <random>

namespace poet {
namespace {

constexpr int kParts = 3;        // a neighbourhood frees about one third of the decisions
constexpr int kMostOps = 500;    // upper limit on the ops of a neighbourhood
constexpr int kMostWindows = 8;  // tried in one call

using Sets = std::vector<std::vector<int>>;

// Returns the decisions of the stages in [first, last].
Decisions within_window(const Problem& p, const Decisions& all, int first, int last) {
  Decisions some = no_decisions(p);
  for (int t = std::max(0, first); t <= std::min(p.ops - 1, last); ++t) {
    const auto stage = static_cast<std::size_t>(t);
    some.recompute[stage] = all.recompute[stage];
    some.page_in[stage] = all.page_in[stage];
    some.page_out[stage] = all.page_out[stage];
  }
  return some;
}

// Returns the decisions about a random sample of the ops, one in `parts`, and about their results.
Decisions about_sample(const Problem& p, const Decisions& all, unsigned parts, std::mt19937& random) {
  std::vector<char> chosen_op(static_cast<std::size_t>(p.ops), 0);
  for (auto& chosen : chosen_op) chosen = random() % parts == 0;
  const auto is_chosen = [&](int op) { return chosen_op[static_cast<std::size_t>(op)] != 0; };
  Decisions some = no_decisions(p);
  const auto copy = [&](const Sets& from, Sets& to, bool ops) {
    for (std::size_t t = 0; t < from.size(); ++t)
      for (int id : from[t])
        if (is_chosen(ops ? id : p.producer[static_cast<std::size_t>(id)])) to[t].push_back(id);
  };
  copy(all.recompute, some.recompute, true);
  copy(all.page_in, some.page_in, false);
  copy(all.page_out, some.page_out, false);
  return some;
}

}  // namespace

bool search_neighbourhoods(Search& search, int width, unsigned seed, std::set<int>& exact_stages, long work) {
  const Problem& p = search.problem();
  const Columns all = just_in_time_columns(p, 1 + width, width);
  bool improved = false;
  const auto explore = [&](const Decisions& freed) {
    if (search.done() || !search.has_incumbent()) return;
    Columns columns = all;
    columns.allowed = freed;
    merge(columns, search.incumbent().decisions);
    improved |= search_restricted(search, columns, exact_stages, work);
  };
  const int parts = std::max(kParts, p.ops / kMostOps);
  const int size = std::max(2, p.ops / parts);
  const int step = size / 2;
  std::mt19937 random(seed);
  std::vector<int> starts;
  for (int first = p.ops - size; first > -step; first -= step) starts.push_back(first);
  while (starts.size() > kMostWindows)
    starts.erase(starts.begin() + static_cast<long>(random() % starts.size()));
  for (int first : starts) explore(within_window(p, all.allowed, first, first + size - 1));
  for (int sample = 0; sample < kParts; ++sample)
    explore(about_sample(p, all.allowed, static_cast<unsigned>(parts), random));
  return improved;
}

}  // namespace poet
