//===- TextParts.h - A text on its way to a model ---------------*- C++ -*-===//
//
// Stages of a tokenizer rewrite a text and cut it into parts. Where the bytes
// of a part came from is kept, if somebody asks for it: tokens are then ranges
// of the text that a user wrote.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTPARTS_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTPARTS_H

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// The bytes [begin, end) of a text.
struct TextRange {
  uint32_t begin = 0, end = 0;

  bool operator==(const TextRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// A part of a text: a token that was found as a whole, which stages leave as
/// it is, or text with the id -1. A view.
struct TextPart {
  std::string_view text;
  /// For each byte where it came from. If null, the bytes stand side by side in
  /// the text that the user wrote, from `begin` on.
  const TextRange *origins = nullptr;
  /// Where the first byte came from, even if nobody asks for the others.
  uint32_t begin = 0;
  int32_t id = -1;

  bool isText() const { return id < 0; }
  /// The bytes [from, to) of the part.
  TextPart slice(size_t from, size_t to) const;
  TextRange originOf(size_t from, size_t to) const;
};

/// Makes the text that takes the place of a part's.
class TextWriter {
public:
  TextWriter(const TextPart &part, bool tracks) : part(part), tracks(tracks) {
    text.reserve(part.text.size() + part.text.size() / 2 + 8);
  }

  /// The bytes [from, to) of the part as they are.
  void keep(size_t from, size_t to) {
    note(from);
    text.append(part.text, from, to - from);
    if (tracks)
      trackKept(from, to);
  }
  /// Other bytes in place of these.
  void replace(size_t from, size_t to, std::string_view made) {
    note(from);
    text += made;
    if (tracks)
      track(from, to);
  }
  /// Other bytes in front of a byte of the part, whose origin they have.
  void insert(size_t before, std::string_view made) {
    replace(before, before + 1, made);
  }
  /// The ASCII characters [from, to) of the part, each as the one that a table
  /// has for it.
  void translate(size_t from, size_t to, const char (&table)[128]) {
    note(from);
    for (size_t at = from; at < to; ++at)
      text += table[static_cast<unsigned char>(part.text[at])];
    if (tracks)
      trackKept(from, to);
  }
  /// Other bytes, whose origins `setOrigins` says at the end; the first of them
  /// came from here.
  void put(size_t from, std::string_view made) {
    note(from);
    text += made;
  }
  bool isTracking() const { return tracks; }
  /// Of all bytes.
  void setOrigins(std::vector<TextRange> all) { origins = std::move(all); }
  /// Takes bytes back that were written last.
  void shorten(size_t size) {
    text.resize(size);
    if (tracks)
      origins.resize(size);
  }

  const std::string &written() const { return text; }

private:
  friend class TextParts;

  void trackKept(size_t from, size_t to);
  void track(size_t from, size_t to);
  /// What is written first says where the text begins.
  void note(size_t from) {
    if (text.empty())
      begin = part.origins && from < part.text.size()
                  ? part.origins[from].begin
                  : part.begin + uint32_t(from);
  }

  const TextPart &part;
  bool tracks;
  uint32_t begin = 0;
  std::string text;
  std::vector<TextRange> origins;
};

/// All parts, one behind the other; empty ones are left out.
class TextParts {
public:
  /// `text` must outlive them. Origins are kept if `tracks`.
  TextParts(std::string_view text, bool tracks) : isTracked(tracks) {
    if (!text.empty())
      parts.push_back({text});
  }
  TextParts(const TextParts &) = delete;

  std::vector<TextPart> &all() { return parts; }
  const std::vector<TextPart> &all() const { return parts; }

  /// Calls write(part, writer) for each part of text. It writes the
  /// replacement, or returns false if the part stays.
  template <typename Write> void rewrite(Write write) {
    size_t kept = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      TextPart part = parts[i];
      if (part.isText()) {
        TextWriter writer(part, isTracked);
        if (write(std::as_const(part), writer))
          part = take(writer);
      }
      if (!part.isText() || !part.text.empty())
        parts[kept++] = part;
    }
    parts.resize(kept);
  }

  /// Calls cut(part, sink) for each part of text. It gives the parts that take
  /// its place to sink(TextPart).
  template <typename Cut> void split(Cut cut) {
    std::vector<TextPart> next;
    next.reserve(parts.size());
    auto sink = [&](const TextPart &part) {
      if (!part.isText() || !part.text.empty())
        next.push_back(part);
    };
    for (const TextPart &part : parts)
      if (part.isText())
        cut(part, sink);
      else
        next.push_back(part);
    parts = std::move(next);
  }

  /// A part with a text of its own, whose bytes all came from `part`.
  TextPart keep(std::string text, const TextPart &part);

private:
  TextPart take(TextWriter &writer);

  std::vector<TextPart> parts;
  bool isTracked;
  /// What parts are views of.
  std::forward_list<std::string> texts;
  std::forward_list<std::vector<TextRange>> origins;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTPARTS_H
