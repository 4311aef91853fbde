#pragma once

// Networks: from ONNX files, built-in, or made by GraphBuilder and the functions of graph/nn.h; and their
// training steps.

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/graph.h"
#include "poet/graph/nn.h"
