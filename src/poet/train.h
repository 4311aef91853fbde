#pragma once

// Training on this machine, as a plan says.

#include "poet/base/error.h"
#include "poet/runtime/kernels/kernel_options.h"
#include "poet/runtime/training/kind_times.h"
#include "poet/runtime/training/plan_watch.h"
#include "poet/runtime/training/trainer.h"
