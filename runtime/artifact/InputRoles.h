//===- InputRoles.h - What entries are given --------------------*- C++ -*-===//
//
// An input of an entry has a role, which is its name in the manifest. Here is
// each with its shape; EntryContract.h compares a manifest with them, and the
// session has a place for each. SourceInputs.h fills those of
// sources, DecoderRows.h those of decoders.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_INPUTROLES_H
#define HEDDLE_RUNTIME_ARTIFACT_INPUTROLES_H

#include "runtime/artifact/Manifest.h"

#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// Inputs are i32 of one dimension or two.
struct InputRole {
  std::string_view name;
  Dim rows;
  std::optional<Dim> width = {};
};

/// Of the sources of a batch: those of encoders, tasks and decoders; and those
/// of ragged encoders and their tasks, which begin with the same names.
const std::vector<InputRole> &sourceRoles();
const std::vector<InputRole> &raggedRoles();
/// Of a row of a step, of more rows, of a chunk, and of a whole target.
const std::vector<InputRole> &stepRoles();
const std::vector<InputRole> &extendRoles();
const std::vector<InputRole> &chunkRoles();
const std::vector<InputRole> &targetRoles();

/// One of a list, which has it.
const InputRole &inputRole(const std::vector<InputRole> &roles,
                           std::string_view name);
/// Whether it is the name of any role.
bool isInputRole(std::string_view name);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_INPUTROLES_H
