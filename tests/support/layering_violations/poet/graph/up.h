#pragma once

#include "poet/plan/plan.h"
