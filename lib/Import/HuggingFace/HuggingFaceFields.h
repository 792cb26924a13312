//===- HuggingFaceFields.h - What transformers reads ------------*- C++ -*-===//
//
// The one list of the fields of config.json and generation_config.json that do
// not shape what Heddle computes, each group with its reason:
//
//   - transformers 4.57.6 reads them, to no effect on what is generated
//   - it does not read them: older releases did, or nobody ever
//   - it reads them, and Heddle lacks what they switch on: an error
//
// The list was taken from the source of 4.57.6 and from runs in which every
// read of a configuration's field was recorded: AutoModelForSeq2SeqLM's
// from_pretrained, then `generate` greedily, with beams and with samples, for
// each of the five classes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFIELDS_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFIELDS_H

#include "lib/Import/HuggingFace/ConfigReader.h"

namespace heddle {

/// Refuses fields of config.json that change the network, its weights or its
/// KV cache in a way that Heddle lacks.
void refuseUnsupportedNetwork(ConfigReader &config, int64_t maxPositions);

/// The same of a decoder alone, which reads no other model's states.
void refuseUnsupportedDecoder(ConfigReader &config, int64_t maxPositions);

/// Refuses fields of an encoder's config.json that change what it computes in a
/// way that Heddle lacks. `mayDecode` says that the class can be a decoder,
/// too.
void refuseUnsupportedEncoder(ConfigReader &config, bool mayDecode);

/// What decides whether `generate` looks at a setting.
struct SearchKind {
  int64_t beams;
  bool samples;
};

/// Refuses settings that change what is generated in a way that Heddle lacks.
/// What only concerns samples is a warning if the file does not sample.
void refuseUnsupportedSettings(ConfigReader &file, SearchKind kind);

/// The settings that `refuseUnsupportedSettings` looks at.
std::vector<llvm::StringRef> listUnsupportedSettings();

/// Refuses a generation_config.json that transformers does not load, because it
/// has arguments of `generate`.
void refuseArguments(ConfigReader &generation);

/// Marks all fields above as read.
void ignoreKnownFields(ConfigReader &file);

/// Sentences for --explain on the fields of the file without effect that
/// somebody could take for settings, one for each reason.
std::vector<std::string> describeFieldsWithoutEffect(ConfigReader &file);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFIELDS_H
