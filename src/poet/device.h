#pragma once

// Devices, what a training step costs on one, and the problem of a network, a device and limits: to compile.

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/pipeline/pose.h"
#include "poet/pipeline/solve_options.h"
