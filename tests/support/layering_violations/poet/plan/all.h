#pragma once

#include "poet/poet.h"
