//===- Manifest.h - What an artifact says of itself -------------*- C++ -*-===//
//
// The manifest section (JSON, described in ArtifactFormat.h) as plain structs.
// What parseManifest returns is consistent in itself: ids lie in their
// vocabulary, shapes name dims of their entry, sizes have no overflow. What
// the entries must look like is EntryContract.h's.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_MANIFEST_H
#define HEDDLE_RUNTIME_ARTIFACT_MANIFEST_H

#include "runtime/Result.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/SearchSettings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// The dims that shapes may name.
enum class Dim {
  Batch,
  Source,
  Target,
  Rows,
  Capacity,
  Shortlist,
  Forbidden,
  Globals,
  Caches,
  Wanted,
  Best,
  Masks,
  Tokens,
  Blocks
};
inline constexpr size_t kNumDims = 14;
std::string_view nameOf(Dim dim);

/// The value of each dim for one batch.
class DimValues {
public:
  int64_t &operator[](Dim dim) { return values[static_cast<size_t>(dim)]; }
  int64_t operator[](Dim dim) const { return values[static_cast<size_t>(dim)]; }

private:
  std::array<int64_t, kNumDims> values{1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1};
};

/// One element of a shape: a number, or a dim and the most that counts of it,
/// or what is left of a dim if so many make one.
struct Extent {
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

  int64_t size = 1;
  std::optional<Dim> dim;
  int64_t divisor = 1;

  int64_t in(const DimValues &dims) const {
    return dim ? std::min(dims[*dim] / divisor, size) : size;
  }
  bool operator==(const Extent &other) const {
    return dim == other.dim && size == other.size && divisor == other.divisor;
  }
};
/// "rows", "capacity<=7", "source floordiv 2" or "256".
std::string nameOf(const Extent &extent);

enum class ArgumentKind { Input, Prepared, State, Output };
std::string_view nameOf(ArgumentKind kind);

enum class ElementType { F32, I32, I8, BF16, F16 };
std::string_view nameOf(ElementType type);
int64_t elementSize(ElementType type);

/// One buffer of an entry point.
struct Argument {
  std::string name;
  ArgumentKind kind;
  ElementType type;
  std::vector<Extent> shape;
  /// Of a state whose slots have a bound: those of the first positions, before
  /// the ring of the latest.
  int64_t pinned = 0;

  /// Its size for these dims; none on overflow.
  std::optional<int64_t> byteSize(const DimValues &dims) const;
};
/// Its dtype and shape, for people: "f32 [rows, 256]".
std::string describe(const Argument &argument);

/// What the runtime calls an entry for: the encoder, a form of a decoder, or a
/// task, which is computed from what the encoder returns.
enum class Role {
  Encode,
  Full,
  Prepare,
  Step,
  Beam,
  Extend,
  Chunk,
  Greedy,
  Best,
  Align,
  Embed,
  Classify,
  Tag,
  Answer,
  Fill
};
inline constexpr size_t kNumRoles = 15;
/// Those of tasks, in the order in which people read them.
inline constexpr Role kTaskRoles[] = {Role::Embed, Role::Classify, Role::Tag,
                                      Role::Answer, Role::Fill};
std::string_view nameOf(Role role);
inline bool isOfDecoder(Role role) {
  return role != Role::Encode &&
         std::count(std::begin(kTaskRoles), std::end(kTaskRoles), role) == 0;
}

/// How the probabilities of an attention follow from its `queries` and `keys`,
/// which an align form returns: those of each head are the softmax over source
/// tokens of scale * query . key.
struct AlignedHeads {
  /// How many heads both have; the second number divides the first.
  int64_t queries = 1, keys = 1;
  /// The first heads, whose mean shows alignments.
  int64_t aligned = 1;
  double scale = 1;
};

/// A compiled function and its arguments, in the order of HeddleCall.
struct Entry {
  std::string name;
  /// Entries without one are left alone.
  std::optional<Role> role;
  /// What forms of one decoder have in common; empty without a decoder's role.
  std::string decoder;
  /// Whether its decoder's logits are those of a sentence's candidates, not of
  /// the vocabulary.
  bool hasCandidates = false;
  std::string symbol;
  std::string arenaSymbol;
  /// None is a number.
  std::vector<Extent> dims;
  std::vector<Argument> arguments;
  /// Of the role Align, and of no other.
  std::optional<AlignedHeads> heads;

  const Argument *argument(std::string_view name, ArgumentKind kind) const;
};

/// A place in an entry that calls a kernel; all three are numbers of the
/// manifest's lists, and `layer` is -1 for one without a name.
struct KernelPlace {
  int32_t entry;
  int32_t kernel;
  int32_t layer;
};

/// One of kEarlyStoppingNames, and back.
std::string_view nameOf(EarlyStopping rule);
std::optional<EarlyStopping> parseEarlyStopping(std::string_view name);

/// How to generate: the semantics are those of Hugging Face transformers'
/// generate() if it has the option. Lengths count generated tokens. Fields
/// are the rows of SearchSettings.def.
struct Generation {
#define SETTING(KIND, FIELD, DEFAULT, ROW) setting_type::KIND FIELD = DEFAULT;
#define MODEL_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
};

/// A language and its token.
struct Language {
  std::string name;
  int32_t token;
};

/// How the decoder of a model of many languages is told which one to write: by
/// what it starts from, by the first generated token, or by the source, which
/// has that language in place of its own.
enum class TargetLanguage { Start, ForcedBos, Source };

/// What stands beside the stages of a tokenizer.
struct TokenizerDescription {
  /// For people: "sentencepiece"; "none" if there is no tokenizer.
  std::string kind = "none";
  /// Kind "none": why, if the compiler knows.
  std::string reason;
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  /// The source language of mBART, behind eos.
  std::optional<int32_t> language;
  /// Those that a request may name, in the folder's order; the source's stands
  /// where `language` does, or else where `bos` does.
  std::vector<Language> languages;
  TargetLanguage targetLanguage = TargetLanguage::ForcedBos;
  /// The id that stands for unknown text, if there is one.
  std::optional<int32_t> unknown;
  /// Ids that are dropped from text.
  std::vector<int32_t> special;
  /// Spaces in front of English punctuation are taken back.
  bool cleansUp = false;
  /// Pieces inside words have a mark that text lacks, as "##ing".
  bool marksWords = false;
};

/// A text that stands in front of others: what E5 calls a prefix.
struct Prompt {
  std::string name, text;
};

/// What a model does with a text that it reads once.
struct TextTask {
  /// The most tokens that are read of a text, special ones included; none if
  /// nothing but the model's positions bounds them.
  std::optional<int64_t> maxTokens;
};

/// How texts become vectors.
struct EmbedTask : TextTask {
  std::vector<Prompt> prompts;
  /// The name of the one that texts get if nobody asks for another.
  std::optional<std::string> prompt;
  /// Of sparse vectors (SPLADE, arXiv:2109.10086), whose numbers weigh the
  /// words of the source vocabulary: how many times log(1 + x) is taken of a
  /// logit, or of 0 if that is more; 0 for vectors as they are.
  int logarithms = 0;

  /// Null if there is none of that name.
  const Prompt *findPrompt(std::string_view name) const;
};

/// How texts, or their tokens, get labels.
struct LabelTask : TextTask {
  /// All are different.
  std::vector<std::string> labels;
  /// Always softmax of tokens.
  LabelScores scores = LabelScores::Softmax;
};

/// How a question is answered by a part of a text.
struct AnswerTask : TextTask {
  /// The token behind a question, if the tokens of questions are global ones.
  std::optional<int32_t> separator;
};

/// How the tokens are guessed in whose place texts have a mask.
struct FillTask : TextTask {
  int32_t mask = 0;
};

struct Manifest {
  std::string compilerVersion;
  std::string modelName;
  std::string family;
  std::vector<std::string> isas;
  /// Architectures, lowest first.
  std::vector<std::string> gpus;
  /// Provenance, as text, for people.
  std::vector<std::pair<std::string, std::string>> options;
  int32_t sourceVocabulary = 0;
  /// The most tokens of a source; none if nothing bounds them.
  std::optional<int64_t> sourcePositions;
  /// How many types of tokens there are; 0 if the model has none.
  int32_t sourceTypes = 0;
  /// The token that has no position, if positions are counted from it.
  std::optional<int32_t> sourcePad;
  std::optional<EmbedTask> embed;
  std::optional<LabelTask> classify, tag;
  std::optional<AnswerTask> answer;
  std::optional<FillTask> fill;
  /// Whether it has the task `generate`, which the next three are of.
  bool generates = false;
  /// Whether a text is the beginning of what is generated, as of a decoder
  /// alone, and not the source of an encoder.
  bool promptsTarget = false;
  int32_t targetVocabulary = 0;
  Generation generation;
  TokenizerDescription tokenizer;
  std::vector<Entry> entries;
  /// Shared libraries that the code calls, by name.
  std::vector<std::string> libraries;
  /// Names of what a profile counts, and what each of them multiplies.
  std::vector<std::string> kernels;
  std::vector<ElementType> kernelTypes;
  /// Names of the layers that kernels compute.
  std::vector<std::string> layers;
  /// By the numbers that code counts with.
  std::vector<KernelPlace> places;

  /// The one that has a role, of a decoder over candidates or the vocabulary;
  /// null if there is none.
  const Entry *entry(Role role, bool hasCandidates = false) const;
  /// Whether the encoder's rows are tokens, without padding: see
  /// ArtifactFormat.h.
  bool isRagged() const;
  /// The task that an entry of this role computes; null if the model lacks it.
  const TextTask *textTask(Role role) const;
  /// Whether it has the task of that name.
  bool hasTask(std::string_view name) const;
  /// What the model does, for errors: "generates text and embeds texts".
  std::string describeTasks() const;
};

/// Parses and checks the manifest. Errors begin with "manifest: " and name the
/// key at fault.
Result<Manifest> parseManifest(std::string_view json);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_MANIFEST_H
