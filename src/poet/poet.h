#pragma once

// The public interface of the library. Each of these headers can be included alone; other headers are
// installed because these include them, and may change.

#include "poet/compare.h"
#include "poet/compile.h"
#include "poet/device.h"
#include "poet/network.h"
#include "poet/plan.h"
#include "poet/report.h"
#include "poet/solve.h"
#include "poet/train.h"
#include "poet/version.h"
