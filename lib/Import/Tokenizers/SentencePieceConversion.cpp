//===- SentencePieceConversion.cpp - *.spm as tokenizer.json --------------===//
//
// The order of merges is that of generate_merges in transformers 4.57.6: by the
// scores of what they make, then by the lengths of their parts.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceConversion.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kMark = "\xE2\x96\x81";

bool addsPrefixSpace(const TokenizerFiles &files) {
  bool isAnew = files.isTrue("from_slow") && files.has("tokenizer.json");
  return files.isTrue("add_prefix_space", /*byDefault=*/!isAnew);
}

bool isLegacy(const TokenizerFiles &files) {
  const json::Value *value = files.config.get("legacy");
  return !value || value->getAsNull() || files.isTrue("legacy");
}

json::Object makeReplace(StringRef pattern, StringRef content) {
  return json::Object{{"type", "Replace"},
                      {"pattern", json::Object{{"String", pattern.str()}}},
                      {"content", content.str()}};
}

json::Object makeReplaceRegex(StringRef pattern, StringRef content) {
  return json::Object{{"type", "Replace"},
                      {"pattern", json::Object{{"Regex", pattern.str()}}},
                      {"content", content.str()}};
}

json::Object makeMetaspace(StringRef scheme) {
  return json::Object{{"type", "Metaspace"},
                      {"replacement", kMark},
                      {"prepend_scheme", scheme.str()},
                      {"split", true}};
}

std::optional<json::Object> makePrecompiled(const SentencePieceModel &model) {
  const SentencePieceNormalizer &rules = model.normalizer;
  if (rules.rules.empty())
    return std::nullopt;
  std::string table(4, '\0');
  support::endian::write32le(table.data(), uint32_t(rules.rules.size()));
  table += rules.rules + rules.replacements;
  return json::Object{{"type", "Precompiled"},
                      {"precompiled_charsmap", encodeBase64(table)}};
}

json::Object makeSequence(StringRef list, json::Array parts) {
  return json::Object{{"type", "Sequence"}, {list, std::move(parts)}};
}

SentencePieceConversion::SentencePieceConversion(
    const SentencePieceModel &model)
    : unknown(model.unknown), normalizer(nullptr),
      preTokenizer(makeMetaspace("always")), postProcessor(nullptr),
      decoder(makeMetaspace("always")) {
  for (const SentencePiece &piece : model.pieces)
    pieces.emplace_back(piece.text, piece.score);
  json::Array parts;
  if (std::optional<json::Object> rules = makePrecompiled(model))
    parts.push_back(std::move(*rules));
  parts.push_back(json::Object{
      {"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
  parts.push_back(makeReplaceRegex(" {2,}", kMark));
  normalizer = makeSequence("normalizers", std::move(parts));
}

void SentencePieceConversion::replaceFirst(size_t count,
                                           std::vector<Piece> others) {
  pieces.erase(pieces.begin(), pieces.begin() + std::min(count, pieces.size()));
  pieces.insert(pieces.begin(), others.begin(), others.end());
}

void SentencePieceConversion::replaceByFairseq() {
  replaceFirst(3, {{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}});
  unknown = 3;
}

void SentencePieceConversion::lowerNumbers() {
  constexpr double less = 100;
  for (auto &[text, score] : pieces)
    if (StringRef rest = text;
        rest.consume_back(",") && !rest.empty() && isDigit(rest.back()))
      score -= less;
}

namespace {
/// A merge in the making.
struct Merge {
  StringRef left, right;
  double score;
  int64_t leftId, rightId;
  size_t leftSize, rightSize;
  /// Its place among all, of equal ones in the order of their parts.
  size_t order = 0;
};
} // namespace

static size_t countCharacters(StringRef text) {
  return size_t(
      count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

/// Pairs of the model's pieces that are pieces of the conversion.
static json::Array
generateMerges(const SentencePieceModel &model,
               ArrayRef<SentencePieceConversion::Piece> pieces) {
  StringMap<int64_t> ids;
  for (const auto &[id, piece] : enumerate(model.pieces))
    ids[piece.text] = int64_t(id);
  // Of equal pieces the last score counts, in the place of the first.
  StringMap<double> scores;
  for (const auto &[text, score] : pieces)
    scores[text] = score;
  std::vector<Merge> merges;
  llvm::StringSet<> done;
  for (const auto &piece : pieces) {
    StringRef text = piece.first;
    if (!done.insert(text).second)
      continue;
    size_t first = merges.size();
    for (size_t at = 1; at < text.size(); ++at) {
      auto left = ids.find(text.take_front(at)),
           right = ids.find(text.drop_front(at));
      if (left == ids.end() || right == ids.end())
        continue;
      StringRef a = left->first(), b = right->first();
      merges.push_back({a, b, scores.lookup(text), left->second, right->second,
                        countCharacters(a), countCharacters(b)});
    }
    auto ofText = MutableArrayRef(merges).drop_front(first);
    llvm::sort(ofText, [](const Merge &a, const Merge &b) {
      return std::tie(a.leftId, a.rightId) < std::tie(b.leftId, b.rightId);
    });
    for (Merge &merge : ofText)
      merge.order = first++;
  }
  llvm::sort(merges, [](const Merge &a, const Merge &b) {
    return std::tie(a.score, a.leftSize, a.rightSize, b.order) >
           std::tie(b.score, b.leftSize, b.rightSize, a.order);
  });
  json::Array list;
  for (const Merge &merge : merges)
    list.push_back(json::Array{merge.left.str(), merge.right.str()});
  return list;
}

/// The component `model`.
static json::Object makeModel(const SentencePieceModel &model,
                              const SentencePieceConversion &made) {
  bool falls = made.fallsBackToBytes;
  if (model.kind == SentencePieceModel::Kind::Unigram) {
    json::Array vocabulary;
    for (const auto &[text, score] : made.pieces)
      vocabulary.push_back(json::Array{text, score});
    return json::Object{{"type", "Unigram"},
                        {"vocab", std::move(vocabulary)},
                        {"unk_id", made.unknown},
                        {"byte_fallback", falls}};
  }
  json::Object ids;
  for (auto [id, piece] : enumerate(made.pieces))
    ids[piece.first] = int64_t(id);
  return json::Object{{"type", "BPE"},
                      {"vocab", std::move(ids)},
                      {"merges", generateMerges(model, made.pieces)},
                      {"unk_token", model.pieces[model.unknown].text},
                      {"fuse_unk", true},
                      {"byte_fallback", falls}};
}

/// What a model has no text for, or a user defined, is found as a whole.
static std::vector<AddedTokenForm> listAdded(const SentencePieceModel &model) {
  std::vector<AddedTokenForm> tokens;
  for (const SentencePiece &piece : model.pieces) {
    bool isControl = piece.type == SentencePiece::Type::Control;
    if (!isControl && piece.type != SentencePiece::Type::UserDefined)
      continue;
    AddedTokenForm form;
    form.content = piece.text;
    form.isSpecial = isControl;
    tokens.push_back(std::move(form));
  }
  return tokens;
}

/// Puts into a template the ids that its tokens have in the slow tokenizer: the
/// library keeps them, though the fast one may number added tokens otherwise.
/// Of a class that has pieces of its own, they are in its vocabulary.
static void numberTemplate(const TokenizerFiles &files,
                           ArrayRef<SpecialToken> special,
                           const SentencePieceModel &model,
                           SentencePieceConversion &made) {
  json::Object *processor = made.postProcessor.getAsObject();
  json::Object *tokens =
      processor ? processor->getObject("special_tokens") : nullptr;
  if (!tokens || made.pieces.size() != size_t(model.pieceCount()))
    return;
  StringMap<int64_t> ids;
  for (auto [id, piece] : enumerate(model.pieces))
    ids[piece.text] = int64_t(id);
  auto find = [&](StringRef text) -> std::optional<int64_t> {
    auto known = ids.find(text);
    return known == ids.end() ? std::nullopt : std::optional(known->second);
  };
  AddedTokenTable added =
      addSlowTokens(files, special, {find, int64_t(ids.size())});
  for (auto &[text, token] : *tokens) {
    std::optional<int64_t> id = added.find(text);
    if (!id)
      id = find(text);
    json::Array list{id.value_or(model.unknown)};
    (*token.getAsObject())["ids"] = std::move(list);
  }
}

Expected<ImportedTokenizer> readConvertedTokenizer(const TokenizerFiles &files,
                                                   const ConvertedClass &made,
                                                   int64_t vocabulary) {
  auto read = [&](json::Object whole, StringRef name,
                  std::vector<AddedTokenForm> added) {
    if (made.overwrite)
      made.overwrite(whole);
    return readJsonTokenizer({files, whole, files.path(name), vocabulary,
                              made.special, std::move(added), made.languages,
                              made.dropsAdded});
  };
  if (files.whole)
    return read(*files.whole, "tokenizer.json", files.wholeAdded);
  if (!files.has(made.file))
    return ImportedTokenizer();
  Expected<SentencePieceModel> model =
      readSentencePieceModel(files.path(made.file));
  if (!model)
    return model.takeError();
  SentencePieceConversion conversion(*model);
  made.convert(*model, conversion);
  numberTemplate(files, made.special, *model, conversion);
  json::Object whole{{"model", makeModel(*model, conversion)},
                     {"normalizer", std::move(conversion.normalizer)},
                     {"pre_tokenizer", std::move(conversion.preTokenizer)},
                     {"post_processor", std::move(conversion.postProcessor)},
                     {"decoder", std::move(conversion.decoder)}};
  return read(std::move(whole), made.file, listAdded(*model));
}

} // namespace heddle
