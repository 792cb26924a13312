//===- SettingValues.h - The values of settings, from text ------*- C++ -*-===//
//
// Each is read strictly: what is not understood as a whole is an error, which
// calls the setting `name`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_SETTINGVALUES_H
#define HEDDLE_RUNTIME_API_SETTINGVALUES_H

#include "runtime/Result.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// "true" or "false".
Result<bool> parseSwitch(const std::string &name, const std::string &text);

/// `unit` is for the sentence: "of MiB ".
Result<int64_t> parseNumber(const std::string &name, const std::string &text,
                            int64_t low, int64_t high,
                            const std::string &unit = "");

Result<double> parseReal(const std::string &name, const std::string &text,
                         double low, double high);

/// From 0 to 2^64 - 1.
Result<uint64_t> parseSeed(const std::string &name, const std::string &text);

/// Numbers from 0 to 1e6 with commas between them, of which one is above 0.
Result<std::vector<double>> parseWeights(const std::string &name,
                                         const std::string &text);

/// Token ids with commas between them.
Result<TokenIds> parseIdList(const std::string &name, const std::string &text);

/// "none", or positions in any order, which come back ascending.
Result<std::vector<int32_t>> parsePositions(const std::string &name,
                                            const std::string &text);

/// The form of a decoder that takes targets: full, step or prefill.
Result<DecoderForm> parseForm(const std::string &name, const std::string &text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_SETTINGVALUES_H
