#pragma once

// Reports on plans: an HTML page, a figure, text; and energy curves.

#include "poet/report/curves.h"
#include "poet/report/figure.h"
#include "poet/report/html.h"
#include "poet/report/loaded_plan.h"
#include "poet/report/picture.h"
#include "poet/report/text.h"
#include "poet/report/verdict.h"
