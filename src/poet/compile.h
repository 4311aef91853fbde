#pragma once

// The main path: instance and limits in; verified schedule, plan and addresses out.

#include "poet/base/error.h"
#include "poet/compile/compile.h"
