#include "poet/optimize/neighbourhoods.h"

#include <algorithm>
#include <random>

namespace poet {
namespace {

constexpr int kParts = 3;  // a neighbourhood frees about this share of the decisions

using Sets = std::vector<std::vector<int>>;

// The decisions of every stage in [first, last].
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

// The decisions about a random share of the ops and of the values that they make.
Decisions about_sample(const Problem& p, const Decisions& all, std::mt19937& random) {
  std::vector<char> chosen_op(static_cast<std::size_t>(p.ops), 0);
  for (auto& chosen : chosen_op) chosen = random() % kParts == 0;
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
  const int size = std::max(2, p.ops / kParts);
  const int step = size / 2;
  for (int first = p.ops - size; first > -step; first -= step)
    explore(within_window(p, all.allowed, first, first + size - 1));
  std::mt19937 random(seed);
  for (int sample = 0; sample < kParts; ++sample) explore(about_sample(p, all.allowed, random));
  return improved;
}

}  // namespace poet
