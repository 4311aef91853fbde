#pragma once

#include "poet/plan/file/plan_file.h"

namespace poet::test {

/// The plan of a small network with two tables, of 400 and 60 rows, that are transferred by index: a step
/// names 48 rows of each, most of those of the second one more than once. Other weights are on storage, too.
[[nodiscard]] PlanFile plan_with_tables();

}  // namespace poet::test
