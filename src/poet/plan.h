#pragma once

// Plans: their files, and the verifier's verdict with every figure.

#include "poet/base/error.h"
#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/plan_file.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
