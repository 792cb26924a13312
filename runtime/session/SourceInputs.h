//===- SourceInputs.h - What a batch gives to its encoder -------*- C++ -*-===//
//
// Each role of sources (InputRoles.h) is filled by one class. A new one is a
// row there, a class and its line in SourceInputs.cpp: Session, Workers and
// LineRun know none by name.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_SOURCEINPUTS_H
#define HEDDLE_RUNTIME_SESSION_SOURCEINPUTS_H

#include "runtime/artifact/InputRoles.h"
#include "runtime/tokenizer/TextParts.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What a session's settings say of inputs, by their roles.
using InputSettings = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// The part of a text that a token stands for, in bytes and in characters; both
/// empty for a special token.
struct TokenPlace {
  TextRange bytes, characters;
  bool isOfText = false;
  /// Whether the token continues the word of the one before it, as
  /// transformers' taggers see it.
  bool continuesWord = false;
  /// Which word of the text it is of, as the tokenizer cuts it.
  uint32_t word = 0;
};

/// What requests say of their sources beside ids. A list has an element for
/// each source of a batch, or none.
struct SourceFeatures {
  /// Target ids that may come, ascending, if the decoder has candidates.
  std::vector<std::vector<int32_t>> candidates = {};
  /// The type of each token; without them types are 0.
  std::vector<std::vector<int32_t>> types = {};
  /// How many of the first tokens are a prompt's; without them 0.
  std::vector<int32_t> promptTokens = {};
  /// Of each token, for tasks that answer about tokens of texts.
  std::vector<std::vector<TokenPlace>> places = {};
  /// What each other member of an ensemble reads in place of the source; none
  /// if that is the same.
  std::vector<std::vector<std::vector<int32_t>>> others = {};
};

/// The requests of a batch. A view.
struct SourceBatch {
  const std::vector<std::vector<int32_t>> &sources;
  const SourceFeatures &features;
  const InputSettings &settings;
  const Manifest &manifest;
  /// What is computed of the encoder's states, if that is a task of texts.
  std::optional<Role> task;
  /// Whether sources stand one behind the other: raggedRoles().
  bool isRagged;
};

/// Fills the input of a role. Immutable.
class SourceInput {
public:
  /// Sets a dim that no other input has, from what is asked for.
  virtual void measure(const SourceBatch &batch, DimValues &dims) const {}
  /// Writes the values of all sources.
  virtual void fill(const SourceBatch &batch, const DimValues &dims,
                    int32_t *values) const = 0;
  /// For --info, if a setting of the role's name says it: what it is unless it
  /// does. Empty otherwise.
  virtual std::string describe(const Manifest &manifest) const { return ""; }

protected:
  // There is one of each, for good.
  ~SourceInput() = default;
};

/// The positions of tokens that the task `fill` guesses, ascending; none
/// without that task.
std::vector<int32_t> masksOf(const std::vector<int32_t> &source,
                             const Manifest &manifest);

/// Of each role, in the order of raggedRoles(), with which that of
/// sourceRoles() begins.
const std::vector<const SourceInput *> &sourceInputs();
/// Null if it is no role of sources.
const SourceInput *sourceInput(std::string_view role);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_SOURCEINPUTS_H
