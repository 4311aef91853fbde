#pragma once

// From a network, a device and limits to an answer: posing, compiling, reporting.

#include "poet/answer/answer.h"
#include "poet/answer/answer_json.h"
#include "poet/answer/least_budget.h"
#include "poet/base/error.h"
#include "poet/device.h"
