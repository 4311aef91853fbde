#pragma once

// The published methods next to each other, each judged by the same rules.

#include "poet/baselines/method.h"
#include "poet/study/judged_json.h"
#include "poet/study/run_method.h"
