#pragma once

// Which persistent values live on storage: the choices that are tried.

#include <vector>

#include "poet/compile/variants/variant.h"

namespace poet {

/// Returns the choices to try first (optimize/problem/residence.h), everything resident in front if that
/// fits. Without those whose updates write more home than the limits allow, unless all do. Empty if no choice
/// leaves room for the largest op.
[[nodiscard]] std::vector<PagedSet> first_choices(const CompileRequest& request, const Form& form);

/// Returns whether no choice leaves room for the largest op.
[[nodiscard]] bool is_below_floor(const Form& form, Bytes ram_budget);

/// Returns choices that leave a little less and a little more RAM free than `best`, which cut the way to
/// those of `tried` next to it into so many parts. `best` is among `tried`.
[[nodiscard]] std::vector<PagedSet> choices_beside(const CompileRequest& request, const Form& form,
                                                   const std::vector<PagedSet>& tried, const PagedSet& best,
                                                   int parts);

/// Returns whether the choice leaves room for the largest op and may be paged within the limits.
[[nodiscard]] bool is_possible(const CompileRequest& request, const Form& form, const PagedSet& paged);

/// Gives the variant that pages everything the scope all_paging, if its bound, less what residence could
/// save, holds for every choice that pages something; not in large graphs, whose residence bound says as
/// much.
void widen_scope(const CompileRequest& request, Variant& variant);

}  // namespace poet
