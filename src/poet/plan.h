#pragma once

// Plans: their files, and the verdict on one, with every figure.

#include "poet/base/error.h"
#include "poet/plan/plan_file.h"
#include "poet/referee/replay.h"
#include "poet/referee/replay_layout.h"
