#pragma once

// Comparison of the published methods, all judged by the same verifier.

#include "poet/baselines/method.h"
#include "poet/study/judged_json.h"
#include "poet/study/run_method.h"
