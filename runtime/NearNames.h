//===- NearNames.h - Which known name may be meant --------------*- C++ -*-===//
//
// For errors about a name that nobody knows: what somebody who wrote it may
// have meant. dialect/NearestName.h has the compiler's.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_NEARNAMES_H
#define HEDDLE_RUNTIME_NEARNAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The names of `known` that `name` may stand for, in their order, of
///
/// - those that it is the beginning of;
/// - or those that the fewest edits make of it, if these are at most half of
///   the letters;
/// - or the longest that it has as one of its words, "beam" of "beam-size".
///
/// An underscore counts as a dash.
std::vector<std::string_view>
findNearNames(std::string_view name,
              const std::vector<std::string_view> &known);

/// "is '--beam' or '--batch' meant?"; empty if `names` is, or if they are
/// too many to help.
std::string askForNames(const std::vector<std::string_view> &names,
                        std::string_view prefix = "");

} // namespace heddle

#endif // HEDDLE_RUNTIME_NEARNAMES_H
