#pragma once

// All of the library that its users need. Each of these headers stands for itself, too; other headers are
// there because these include them, and may change.

#include "poet/compare.h"
#include "poet/compile.h"
#include "poet/device.h"
#include "poet/network.h"
#include "poet/plan.h"
#include "poet/report.h"
#include "poet/solve.h"
#include "poet/train.h"
#include "poet/version.h"
