//===- TokenStream.cpp - Tokens as they are generated ---------------------===//
//
// A token's text is what the new text has in common with the one before,
// without half a character at its end and without what cleaning may take back.
// The last token tells all the rest, from the whole text. forgetTokens() bounds
// the time: it drops old tokens only if the latest ones alone read as the end
// of the text, and otherwise waits for twice as many; within a run of bytes it
// waits for its end.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/TokenStream.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace heddle;

static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
/// A character has at most so many bytes without being whole.
static constexpr int kMostOfHalf = 3;
/// Of two texts that end alike, how much of the shorter one may differ: what
/// begins a text, and half a character there.
static constexpr size_t kMostOfBeginning = 16;

/// Where the end of a cleaned text begins that what follows may change. The
/// rules are those of transformers' clean_up_tokenization, one after the other:
/// a text ends with what one of them may match the beginning of, " " + n + ' +
/// v or r, some of these, with spaces between that another rule may remove; or
/// with a ' whose space a rule has removed, and another would have.
static size_t beginOfUnsettled(std::string_view text) {
  size_t begin = text.size();
  for (int parts = 0; parts < 8; ++parts) {
    size_t at = text.size(), spaces = 0;
    bool matches = true;
    for (auto [bit, letters] : {std::pair(1, "vr"), {2, "'"}, {4, "n"}}) {
      if (parts & bit) {
        matches = matches && at > 0 && strchr(letters, text[at - 1]);
        at -= matches;
        spaces = 0;
      }
      for (; at > 0 && text[at - 1] == ' '; --at)
        ++spaces;
    }
    if (matches && (spaces > 0 || parts == 2))
      begin = std::min(begin, at);
  }
  return begin;
}

/// How much of a text no token behind it changes.
size_t TokenStream::certain(const Told &told, std::string_view text) const {
  size_t most = std::min(told.text.size(), text.size());
  size_t same =
      size_t(std::mismatch(text.begin(), text.begin() + ptrdiff_t(most),
                           told.text.begin())
                 .first -
             text.begin());
  // What has some bytes of a character reads as U+FFFD, one or one a byte,
  // until the last is there.
  size_t end = text.size();
  for (int i = 0; i < kMostOfHalf && end >= kReplacement.size() &&
                  text.substr(end - kReplacement.size(), kReplacement.size()) ==
                      kReplacement;
       ++i)
    end -= kReplacement.size();
  same = std::min(same, end);
  // Not within a character, of which the texts may share the first bytes.
  while (same > 0 && same < text.size() && (text[same] & 0xC0) == 0x80)
    --same;
  if (takesSpacesBack)
    same = std::min(same, beginOfUnsettled(text));
  if (told.run)
    same = std::min(same, *told.run);
  same -= stops.held(text.substr(0, same));
  return std::max(same, told.size);
}

/// Keeps the latest tokens if they read as the end of what all do. What
/// follows them reads the same then: neither is at its beginning.
void TokenStream::forgetTokens(Told &told) const {
  if (told.run)
    return;
  TokenIds latest(told.tokens.end() - kTokens, told.tokens.end());
  std::string text = textOf(latest);
  size_t same = size_t(
      std::mismatch(text.rbegin(),
                    text.rbegin() +
                        ptrdiff_t(std::min(text.size(), told.text.size())),
                    told.text.rbegin())
          .first -
      text.rbegin());
  size_t untold = told.text.size() - std::min(told.size, told.text.size());
  std::string_view common = std::string_view(text).substr(text.size() - same);
  bool isText = common.find_first_not_of(' ') != std::string_view::npos;
  if (!isText || same < untold || text.size() - same > kMostOfBeginning) {
    told.most *= 2;
    return;
  }
  told.size = text.size() - untold;
  told.tokens = std::move(latest);
  told.text = std::move(text);
  told.most = 2 * kTokens;
}

/// The text that is certain with a token, and was not before.
std::string TokenStream::tell(Told &told, const TokenIds &before, int32_t token,
                              bool isLast) const {
  if (!told.given)
    told.given = stops.empty() ? 0 : textOf(before).size();
  if (told.tokens.empty())
    told.tokens = before;
  if (isLast) {
    TokenIds whole = before;
    if (token >= 0)
      whole.push_back(token);
    std::string text = textOf(whole);
    text.resize(endOfText(text, textOf(before), stops, *told.given));
    return text.substr(std::min(told.all, text.size()));
  }
  told.tokens.push_back(token);
  std::string text = textOf(told.tokens);
  // What has no text ends no run: decoders leave it out.
  if (!isByte(token) && text != told.text)
    told.run.reset();
  else if (isByte(token) && !told.run)
    told.run = told.text.size();
  size_t begin = std::min(told.size, text.size()), end = certain(told, text);
  std::string added = text.substr(begin, end - begin);
  told.text = std::move(text);
  told.size = end;
  told.all += added.size();
  if (told.tokens.size() >= told.most)
    forgetTokens(told);
  return added;
}

void TokenStream::add(int64_t input, const TokenIds &before, int32_t token,
                      bool isLast) {
  Told *told;
  {
    std::lock_guard<std::mutex> lock(mutex);
    told = &inputs[input];
  }
  std::string added = tell(*told, before, token, isLast);
  std::lock_guard<std::mutex> lock(mutex);
  if (isLast)
    inputs.erase(input);
  if (!cancelled && callback(context, size_t(input), token, added.c_str(),
                             added.size(), isLast) != 0)
    cancelled = true;
}
