//===- TextParts.cpp - A text on its way to a model -----------------------===//
//
// As in NormalizedString of the library tokenizers each byte has a range of the
// text of its own; a token's is from where its first byte began to where its
// last one ended.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextParts.h"

using namespace heddle;

TextPart TextPart::slice(size_t from, size_t to) const {
  uint32_t first = origins && from < text.size() ? origins[from].begin
                                                 : begin + uint32_t(from);
  return {text.substr(from, to - from), origins ? origins + from : nullptr,
          first};
}

TextRange TextPart::originOf(size_t from, size_t to) const {
  if (!origins)
    return {begin + uint32_t(from), begin + uint32_t(to)};
  if (from == to)
    return {};
  return {origins[from].begin, origins[to - 1].end};
}

void TextWriter::trackKept(size_t from, size_t to) {
  for (size_t at = from; at < to; ++at)
    origins.push_back(part.originOf(at, at + 1));
}

void TextWriter::track(size_t from, size_t to) {
  origins.resize(text.size(), part.originOf(from, to));
}

TextPart TextParts::take(TextWriter &writer) {
  texts.push_front(std::move(writer.text));
  TextPart made{texts.front(), nullptr, writer.begin};
  if (isTracked) {
    origins.push_front(std::move(writer.origins));
    made.origins = origins.front().data();
  }
  return made;
}

TextPart TextParts::keep(std::string text, const TextPart &part) {
  TextWriter writer(part, isTracked);
  writer.replace(0, part.text.size(), text);
  return take(writer);
}
