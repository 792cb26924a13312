//===- TextReading.cpp - Lines that a task reads once ---------------------===//
//
// A prompt stands in front of a text before anything else happens to it.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/TextReading.h"

#include "runtime/lines/LineTokens.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace heddle;

/// A text as the tokenizer reads it.
std::string TextReader::prepare(std::string text) const {
  return use.isForVector ? model.tokenizer()->prepareForVector(text) : text;
}

/// The tokens of the prompt: those of its text alone, of which no more than
/// `most` are read, without the last one if its id is special, as
/// sentence-transformers counts them.
int32_t TextReader::countPromptTokens() const {
  bool isCut = false;
  auto tokens = model.tokenizer()->encodeBeginning(prepare(use.prompt), most,
                                                   /*tracks=*/false, isCut);
  if (!tokens.ok() || tokens->ids.empty())
    return 0;
  const std::vector<int32_t> &special = model.manifest().tokenizer.special;
  bool endsSpecially =
      std::count(special.begin(), special.end(), tokens->ids.back()) > 0;
  return int32_t(tokens->ids.size()) - endsSpecially;
}

std::optional<size_t> heddle::mostTokens(const Model &model,
                                         const TextTask &task,
                                         const TextOptions &options) {
  std::optional<size_t> most;
  std::optional<int64_t> asked =
      options.maxTokens ? options.maxTokens : task.maxTokens;
  for (std::optional<int64_t> bound : {asked, model.manifest().sourcePositions})
    if (bound)
      most = std::min(most.value_or(size_t(*bound)), size_t(*bound));
  return most;
}

TextReader::TextReader(const Model &model, const TextTask &task,
                       const TextOptions &options, const LineSource &source,
                       TextUse textUse)
    : model(model), options(options), source(source), use(std::move(textUse)),
      most(mostTokens(model, task, options)) {
  if (!model.tokenizer())
    use.prompt.clear();
  if (!use.prompt.empty())
    promptTokens = countPromptTokens();
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
  if (!line.ids && !options.ids)
    return readText(line.text, pair);
  Result<TokenIds> ids = line.ids ? Result(*line.ids) : parseIds(line.text);
  if (!ids.ok())
    return ids.status();
  Sentence sentence;
  sentence.source = std::move(*ids);
  Status status = check(sentence.source);
  return status.ok() ? Result(std::move(sentence)) : status;
}

Status TextReader::check(const TokenIds &source) const {
  if (Status status = model.checkSource(source); !status.ok())
    return status;
  if (options.maxTokens && int64_t(source.size()) > *options.maxTokens)
    return Status::error("has ", source.size(), " tokens, expected at most ",
                         *options.maxTokens);
  return Status::success();
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

namespace {
/// The characters of a text; what is not UTF-8 has those that stand in its
/// place.
class Characters {
public:
  explicit Characters(std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
      auto begin = uint32_t(text.size() - rest.size());
      numbers.resize(numbers.size() + takeCodePoint(rest).bytes.size(),
                     uint32_t(begins.size()));
      begins.push_back(begin);
    }
    numbers.push_back(uint32_t(begins.size()));
    begins.push_back(uint32_t(text.size()));
  }

  /// The number of the character that a byte is of.
  uint32_t numberOf(uint32_t byte) const { return numbers[byte]; }
  /// The bytes of all characters that a piece has bytes of.
  TextRange whole(TextRange bytes) const {
    uint32_t last = numbers[bytes.end];
    bool isInside = bytes.end > begins[last];
    return {begins[numbers[bytes.begin]], begins[last + isInside]};
  }

private:
  /// By byte, and by character, with those of the end.
  std::vector<uint32_t> numbers, begins;
};
} // namespace

/// Where tokens stand in a text, the first one or the second one.
static std::vector<TokenPlace> placesOf(const TextEncoding &encoding,
                                        int8_t number, std::string_view text,
                                        const Model &model) {
  Characters characters(text);
  std::vector<TokenPlace> places;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    TokenPlace &place = places.emplace_back();
    if (encoding.texts[i] != number)
      continue;
    TextRange bytes = characters.whole(encoding.ranges[i]);
    place = {bytes,
             {characters.numberOf(bytes.begin), characters.numberOf(bytes.end)},
             /*isOfText=*/true};
    place.continuesWord = continuesWord(model, encoding.ids[i], place, text);
    place.word = encoding.words[i];
  }
  return places;
}

/// The tokens of a text or of a pair, in one window, whose rest is cut, or in
/// several. Without a stride the longer text of a pair is cut first.
Result<std::vector<TextEncoding>>
TextReader::encode(std::string_view text,
                   const std::optional<std::string> &pair, bool &isCut) const {
  bool tracks = use.places != TextUse::Places::None;
  const Tokenizer &tokenizer = *model.tokenizer();
  if (!pair && !use.stride) {
    auto encoding = tokenizer.encodeBeginning(text, most, tracks, isCut);
    if (!encoding.ok())
      return encoding.status();
    std::vector<TextEncoding> windows;
    windows.push_back(std::move(*encoding));
    return windows;
  }
  std::optional<Truncation> truncation;
  if (most)
    truncation.emplace().maxTokens = *most;
  if (most && use.stride) {
    truncation->stride = size_t(*use.stride);
    truncation->strategy = pair ? Truncation::Strategy::OnlySecond
                                : Truncation::Strategy::OnlyFirst;
  }
  TextPair texts = {text, {}};
  if (pair)
    texts.second = *pair;
  auto windows = tokenizer.encodeWindows(texts, truncation, tracks);
  if (windows.ok() && !use.stride) {
    isCut = windows->size() > 1;
    windows->resize(1);
  }
  return windows;
}

/// A window of texts, of which `text` is the one whose places count.
Result<Sentence> TextReader::take(TextEncoding encoding,
                                  std::string_view text) const {
  if (int32_t types = model.manifest().sourceTypes)
    for (int32_t type : encoding.types)
      if (type >= types)
        return Status::error("has a token of type ", type,
                             " but the model has ", types);
  if (Status status = check(encoding.ids); !status.ok())
    return status;
  Sentence sentence;
  if (use.places != TextUse::Places::None)
    sentence.places =
        placesOf(encoding, use.places == TextUse::Places::OfPair, text, model);
  sentence.source = std::move(encoding.ids);
  sentence.types = std::move(encoding.types);
  return sentence;
}

Result<Sentence>
TextReader::readText(std::string_view text,
                     const std::optional<std::string> &pair) const {
  if (Status status = LineTokens(model, /*ids=*/false).checkTokenizer();
      !status.ok())
    return status;
  bool isCut = false;
  std::string whole = prepare(use.prompt + std::string(text));
  auto encoded = encode(whole, pair, isCut);
  if (!encoded.ok())
    return encoded.status();
  std::string tokens = most ? std::to_string(*most) + " tokens" : "";
  if (isCut && options.refusesLong)
    return Status::error("has more than ", tokens);
  std::vector<Sentence> windows;
  for (TextEncoding &encoding : *encoded) {
    Result<Sentence> window =
        take(std::move(encoding),
             use.places == TextUse::Places::OfPair ? *pair : whole);
    if (!window.ok())
      return window;
    windows.push_back(std::move(*window));
  }
  Sentence sentence = std::move(windows.front());
  sentence.windows.assign(std::make_move_iterator(windows.begin() + 1),
                          std::make_move_iterator(windows.end()));
  if (isCut)
    sentence.notice = "has more than " + tokens + " and is cut";
  sentence.promptTokens =
      std::min(promptTokens, int32_t(sentence.source.size()));
  return sentence;
}
