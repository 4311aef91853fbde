#pragma once

// Devices, the costs of a training step on one, and posing the problem of a network, a device and limits.

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/pipeline/pose.h"
#include "poet/pipeline/solve_options.h"
