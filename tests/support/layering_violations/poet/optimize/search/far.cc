#include "poet/optimize/milp/rows/rows.h"
