#include "poet/optimize/solve.h"

#include "poet/optimize/staged_search.h"

namespace poet {

Outcome solve(const SolveRequest& request, const SolveOptions& options, const Stop& stop) {
  StagedSearch search(request, options, stop);
  while (search.go_on()) {
  }
  return search.outcome();
}

}  // namespace poet
