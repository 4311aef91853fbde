#include "poet/optimize/milp/columns.h"

#include <algorithm>

namespace poet {
namespace {

using Sets = std::vector<std::vector<int>>;

void sort_unique(Sets& sets) {
  for (auto& set : sets) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
}

// A page-in needs an earlier stage with the page-out (and a stage before that which computes the value), and
// a later stage that reads the value.
bool can_page_in(const Problem& p, int v, int stage) {
  const auto i = static_cast<std::size_t>(v);
  return p.paging && p.active[i] && stage >= p.producer[i] + 2 && stage + 1 <= p.horizon[i];
}

bool can_page_out(const Problem& p, int v, int stage) {
  const auto i = static_cast<std::size_t>(v);
  return p.paging && p.active[i] && stage >= p.producer[i] + 1 && stage + 2 <= p.horizon[i];
}

bool can_recompute(const Problem& p, int op, int stage) {
  return stage > op && stage <= p.recompute_until[static_cast<std::size_t>(op)];
}

void allow_recompute_chain(const Problem& p, Sets& recompute, int op, int stage, int depth) {
  if (depth == 0 || !can_recompute(p, op, stage)) return;
  auto& set = recompute[static_cast<std::size_t>(stage)];
  set.push_back(op);
  for (int u : p.reads[static_cast<std::size_t>(op)])
    allow_recompute_chain(p, recompute, p.producer[static_cast<std::size_t>(u)], stage, depth - 1);
}

}  // namespace

Columns full_columns(const Problem& p) {
  Columns c{no_decisions(p)};
  for (int i = 0; i < p.ops; ++i)
    for (int t = i + 1; t <= p.recompute_until[static_cast<std::size_t>(i)]; ++t)
      c.allowed.recompute[static_cast<std::size_t>(t)].push_back(i);
  for (int v = 0; v < p.values; ++v) {
    if (!p.active[static_cast<std::size_t>(v)]) continue;
    for (int t = p.producer[static_cast<std::size_t>(v)] + 1; t < p.horizon[static_cast<std::size_t>(v)];
         ++t) {
      if (can_page_in(p, v, t)) c.allowed.page_in[static_cast<std::size_t>(t)].push_back(v);
      if (can_page_out(p, v, t)) c.allowed.page_out[static_cast<std::size_t>(t)].push_back(v);
    }
  }
  c.page_out_anytime = p.semantics == Semantics::published;
  return c;
}

Columns just_in_time_columns(const Problem& p, int depth, int width) {
  Columns c{no_decisions(p)};
  for (int t = 0; t < p.ops; ++t)
    for (int u : p.reads[static_cast<std::size_t>(t)]) {
      const int producer = p.producer[static_cast<std::size_t>(u)];
      for (int s = std::max(0, t - width); s <= t; ++s)
        allow_recompute_chain(p, c.allowed.recompute, producer, s, depth);
      for (int op : c.allowed.recompute[static_cast<std::size_t>(t)])
        for (int w : p.reads[static_cast<std::size_t>(op)])
          if (can_page_in(p, w, t - 1)) c.allowed.page_in[static_cast<std::size_t>(t - 1)].push_back(w);
      for (int s = std::max(0, t - std::max(1, width)); s < t; ++s)
        if (can_page_in(p, u, s)) c.allowed.page_in[static_cast<std::size_t>(s)].push_back(u);
    }
  for (int v = 0; v < p.values; ++v)
    for (int k = 1; k <= std::max(1, width); ++k)
      if (const int t = p.producer[static_cast<std::size_t>(v)] + k; can_page_out(p, v, t))
        c.allowed.page_out[static_cast<std::size_t>(t)].push_back(v);
  sort_unique(c.allowed.recompute);
  sort_unique(c.allowed.page_in);
  sort_unique(c.allowed.page_out);
  c.page_out_anytime = p.semantics == Semantics::published;
  return c;
}

void merge(Columns& columns, const Decisions& more) {
  const auto add = [](Sets& into, const Sets& from) {
    for (std::size_t t = 0; t < into.size(); ++t)
      into[t].insert(into[t].end(), from[t].begin(), from[t].end());
    sort_unique(into);
  };
  add(columns.allowed.recompute, more.recompute);
  add(columns.allowed.page_in, more.page_in);
  add(columns.allowed.page_out, more.page_out);
}

long estimated_columns(const Problem& p, const Columns& c) {
  long sum = 0;
  for (int t = 0; t < p.ops; ++t) {
    const auto i = static_cast<std::size_t>(t);
    // A decision is a column, and splits the retention segments of the values that it affects.
    long recompute = 0;
    for (int op : c.allowed.recompute[i])
      recompute += 2 + static_cast<long>(p.reads[static_cast<std::size_t>(op)].size());
    sum +=
        recompute + 3 * static_cast<long>(c.allowed.page_in[i].size()) + static_cast<long>(p.reads[i].size());
    if (!c.page_out_anytime) sum += 2 * static_cast<long>(c.allowed.page_out[i].size());
  }
  return sum;
}

long estimated_full_columns(const Problem& p, bool page_out_anytime) {
  long sum = 0;
  for (int op = 0; op < p.ops; ++op) {
    const auto i = static_cast<std::size_t>(op);
    const auto reads = static_cast<long>(p.reads[i].size());
    sum += reads + (2 + reads) * std::max(0, p.recompute_until[i] - op);
  }
  for (int v = 0; v < p.values; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (!p.paging || !p.active[i]) continue;
    const long stages = std::max(0, p.horizon[i] - p.producer[i] - 2);  // as can_page_in(), can_page_out()
    sum += (page_out_anytime ? 3 : 5) * stages;
  }
  return sum;
}

}  // namespace poet
