#pragma once

// Devices, and what a training step costs on one: an instance, to compile.

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
