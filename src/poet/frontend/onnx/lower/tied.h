#pragma once

// What an exporter has stored twice, or computed of parameters. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/roles.h"

namespace poet::onnx {

/// Fills Roles::copies: initialisers with the numbers of another one that other kinds of operators read, as
/// the head and the embedding of a language model, or transposed. Where both are read alike, only a notice
/// says so: layers that were made as copies of another one train apart. O(initialisers log initialisers).
void find_copies(const Model& model, const Uses& uses, Roles& roles, Notices& notices);

/// Adds a notice about weights that the exporter has computed of the module's parameters, if they may train
/// otherwise than these. (A transposed matrix does not.)
void note_folded(const Model& model, const Uses& uses, const Roles& roles, Notices& notices);

}  // namespace poet::onnx
