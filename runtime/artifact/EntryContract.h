//===- EntryContract.h - What entries must look like ------------*- C++ -*-===//
//
// The runtime knows an artifact's entries by their roles and their inputs by
// name, as ArtifactFormat.h lists them. Here a manifest is compared with that
// list when it is compiled and when it is loaded, so that nothing has to be
// checked when an entry is called.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_ENTRYCONTRACT_H
#define HEDDLE_RUNTIME_ARTIFACT_ENTRYCONTRACT_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"

namespace heddle {

/// Checks that there is an encoder and, if the model generates, some form of a
/// decoder, and every entry with a role: its dims, that each of its inputs is
/// one the runtime has, with that dtype and shape, its states, and its logits.
Status checkEntries(const Manifest &manifest);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_ENTRYCONTRACT_H
