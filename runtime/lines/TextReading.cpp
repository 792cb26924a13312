//===- TextReading.cpp - Lines that a task reads once ---------------------===//
//
// A prompt stands in front of a text before anything else happens to it; the
// tokenizer itself strips and lower-cases texts if the model's folder says so.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/TextReading.h"

#include "runtime/lines/LineTokens.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// The tokens of a prompt: those of its text alone, of which no more than
/// `most` are read, without the last one if its id is special, as
/// sentence-transformers counts them.
static int32_t countPromptTokens(const Model &model, const std::string &prompt,
                                 std::optional<size_t> most) {
  bool isCut = false;
  auto tokens =
      model.tokenizer()->encodeBeginning(prompt, most, /*tracks=*/false, isCut);
  if (!tokens.ok() || tokens->ids.empty())
    return 0;
  const std::vector<int32_t> &special = model.manifest().tokenizer.special;
  bool endsSpecially =
      std::count(special.begin(), special.end(), tokens->ids.back()) > 0;
  return int32_t(tokens->ids.size()) - endsSpecially;
}

TextReader::TextReader(const Model &model, const TextTask &task,
                       const TextOptions &options, const LineSource &source,
                       std::string textPrompt, bool findsPlaces)
    : model(model), options(options), source(source), findsPlaces(findsPlaces) {
  std::optional<int64_t> asked =
      options.maxTokens ? options.maxTokens : task.maxTokens;
  for (std::optional<int64_t> bound : {asked, model.manifest().sourcePositions})
    if (bound)
      most = std::min(most.value_or(size_t(*bound)), size_t(*bound));
  if (textPrompt.empty() || !model.tokenizer())
    return;
  prompt = std::move(textPrompt);
  promptTokens = countPromptTokens(model, prompt, most);
}

Result<Sentence> TextReader::read(int64_t number, const Line &line) const {
  Result<Sentence> sentence = read(line.source, line.pair);
  if (!sentence.ok())
    return Status::error(source.nameOf(number), " ", sentence.message());
  if (!sentence->notice.empty())
    sentence->notice = source.nameOf(number) + " " + sentence->notice;
  return sentence;
}

Result<Sentence>
TextReader::read(const LineText &line,
                 const std::optional<std::string> &pair) const {
  Sentence sentence;
  if (line.ids) {
    sentence.source = *line.ids;
  } else if (options.ids) {
    Result<TokenIds> ids = parseIds(line.text);
    if (!ids.ok())
      return ids.status();
    sentence.source = std::move(*ids);
  } else {
    Result<Sentence> encoded = readText(line.text, pair);
    if (!encoded.ok())
      return encoded;
    sentence = std::move(*encoded);
  }
  if (Status status = model.checkSource(sentence.source); !status.ok())
    return status;
  if (options.maxTokens && int64_t(sentence.source.size()) > *options.maxTokens)
    return Status::error("has ", sentence.source.size(),
                         " tokens, expected at most ", *options.maxTokens);
  return sentence;
}

/// Whether a token with a place continues a word: the pipelines of transformers
/// see that by a piece that is longer than its text, or else by what stands
/// around its beginning. Unknown pieces begin words.
static bool continuesWord(const Model &model, int32_t id,
                          const TokenPlace &place, std::string_view text) {
  const TokenizerDescription &tokenizer = model.manifest().tokenizer;
  if (id == tokenizer.unknown)
    return false;
  if (tokenizer.marksWords) {
    std::string_view name = model.tokenizer()->nameOf(id);
    auto isContinuation = [](char byte) { return (byte & 0xC0) == 0x80; };
    auto characters = int64_t(name.size()) -
                      std::count_if(name.begin(), name.end(), isContinuation);
    return characters != int64_t(place.characters.end - place.characters.begin);
  }
  size_t begin = place.bytes.begin;
  return begin > 0 && text[begin - 1] != ' ' &&
         (begin == text.size() || text[begin] != ' ');
}

/// Where tokens stand in a text.
static std::vector<TokenPlace> placesOf(const TextEncoding &encoding,
                                        std::string_view text,
                                        const Model &model) {
  // A byte's character is what stands in front of it. What is not UTF-8 has
  // bytes that continue no character.
  std::vector<uint32_t> characters = {0};
  for (char byte : text)
    characters.push_back(characters.back() + ((byte & 0xC0) != 0x80));
  auto characterAt = [&](uint32_t byte, bool isEnd) {
    bool isInside = byte < text.size() && (text[byte] & 0xC0) == 0x80;
    return characters[byte] - (isInside && !isEnd && characters[byte] > 0);
  };
  std::vector<TokenPlace> places;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.texts[i] < 0) {
      places.push_back({});
      continue;
    }
    TextRange bytes = encoding.ranges[i];
    places.push_back({bytes,
                      {characterAt(bytes.begin, /*isEnd=*/false),
                       characterAt(bytes.end, /*isEnd=*/true)},
                      /*isOfText=*/true});
    places.back().continuesWord =
        continuesWord(model, encoding.ids[i], places.back(), text);
  }
  return places;
}

/// The tokens of a text or of a pair, of which the longer one is cut first.
Result<TextEncoding> TextReader::encode(std::string_view text,
                                        const std::optional<std::string> &pair,
                                        bool &isCut) const {
  if (!pair)
    return model.tokenizer()->encodeBeginning(text, most, findsPlaces, isCut);
  std::optional<Truncation> truncation;
  if (most)
    truncation.emplace().maxTokens = *most;
  auto windows =
      model.tokenizer()->encodeWindows({text, *pair}, truncation, findsPlaces);
  if (!windows.ok())
    return windows.status();
  isCut = windows->size() > 1;
  return std::move(windows->front());
}

Result<Sentence>
TextReader::readText(std::string_view text,
                     const std::optional<std::string> &pair) const {
  if (Status status = LineTokens(model, /*ids=*/false).checkTokenizer();
      !status.ok())
    return status;
  bool isCut = false;
  std::string whole = prompt + std::string(text);
  auto encoded = encode(whole, pair, isCut);
  if (!encoded.ok())
    return encoded.status();
  Sentence sentence;
  if (isCut) {
    std::string tokens = std::to_string(*most) + " tokens";
    if (options.refusesLong)
      return Status::error("has more than ", tokens);
    sentence.notice = "has more than " + tokens + " and is cut";
  }
  if (int32_t types = model.manifest().sourceTypes)
    for (int32_t type : encoded->types)
      if (type >= types)
        return Status::error("has a token of type ", type,
                             " but the model has ", types);
  if (findsPlaces)
    sentence.places = placesOf(*encoded, whole, model);
  sentence.source = std::move(encoded->ids);
  sentence.types = std::move(encoded->types);
  sentence.promptTokens =
      std::min(promptTokens, int32_t(sentence.source.size()));
  return sentence;
}
