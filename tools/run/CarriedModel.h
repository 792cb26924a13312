//===- CarriedModel.h - A runner with a model of its own --------*- C++ -*-===//
//
// heddle-run is what an executable of --emit=exe is made of: there it runs the
// model that it carries, and takes no FILE.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_CARRIEDMODEL_H
#define HEDDLE_TOOLS_RUN_CARRIEDMODEL_H

#include <string>

namespace heddle {

/// The file of this program if it carries a model, as the system executed
/// it; empty in heddle-run itself. Needs no /proc.
std::string findCarriedModel();

/// The last part of its path: what such a program is called in its sentences;
/// empty for heddle-run.
std::string programNameOf(const std::string &carried);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_CARRIEDMODEL_H
