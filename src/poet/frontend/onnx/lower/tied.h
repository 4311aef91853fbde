#pragma once

// What an exporter has stored twice. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/roles.h"

namespace poet::onnx {

/// Fills Roles::copies: initialisers with the numbers of another one that other kinds of operators read, as
/// the head and the embedding of a language model, or transposed, or that the file says were computed of one
/// parameter. Where both are read alike, only a notice says so: layers that were made as copies of another
/// one train apart. O(initialisers log initialisers).
void find_copies(const Model& model, const Uses& uses, Roles& roles, Notices& notices);

}  // namespace poet::onnx
