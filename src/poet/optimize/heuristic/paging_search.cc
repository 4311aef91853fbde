#include "poet/optimize/heuristic/paging_search.h"

#include <set>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/relaxation/window_search.h"

namespace poet {
namespace {

/// Removes recomputation from the problem. Returns whether the problem had any.
bool leave_out_recomputation(Problem& p) {
  bool any = false;
  for (int op = 0; op < p.ops; ++op) {
    int& until = p.recompute_until[static_cast<std::size_t>(op)];
    any = any || until > op;
    until = op;
  }
  for (int v = 0; v < p.values; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (p.active[i] != 0) p.horizon[i] = p.users[i].empty() ? p.producer[i] : p.users[i].back();
  }
  return any;
}

}  // namespace

void offer_paging_only(Search& search) {
  if (search.must_stop()) return;
  Problem problem = search.problem();
  if (!problem.paging || !leave_out_recomputation(problem)) return;
  const auto first = greedy(problem, [&] { return search.must_stop(); });
  if (!first || (search.has_incumbent() && !search.has_a_moment())) return;
  search.offer(complete(search.problem(), first->decisions));
}

void search_paging_only(Search& search, long evaluations, long work) {
  if (search.must_stop()) return;
  Problem problem = search.problem();
  if (!problem.paging || !leave_out_recomputation(problem)) return;
  search.enter("paging only");
  SolveOptions options = search.options();
  options.on_progress = nullptr;
  Search part(problem, options, search.stop().at_most(search.remaining()));
  if (const auto first = greedy(problem, [&] { return part.must_stop(); })) part.offer(*first);
  local_search(part, {.evaluations = evaluations});
  std::set<int> exact_stages;
  if (options.tightenings.windows) WindowSearch(part).run(work, exact_stages);
  if (part.has_incumbent()) search.offer(complete(search.problem(), part.incumbent().decisions));
}

}  // namespace poet
