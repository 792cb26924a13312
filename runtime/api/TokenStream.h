//===- TokenStream.h - Tokens as they are generated -------------*- C++ -*-===//
//
// Tells a callback of each token and of the text that is certain with it. What
// ends a text may still change: bytes of half a character, a space in front of
// punctuation that is taken back, pieces that spell bytes, of which none is a
// character if one of a run is not. So text is told once the next token has
// left it as it was, and nothing that follows can.
//
// Tokens become text together: what a piece reads as depends on those before
// it. How far back is a matter of some pieces, so that of a long text the
// latest tokens alone are read again for each that comes. If what they read
// as differs from the end of the whole text, more of them are taken.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_TOKENSTREAM_H
#define HEDDLE_RUNTIME_API_TOKENSTREAM_H

#include "runtime/api/StopStrings.h"
#include "runtime/heddle.h"
#include "runtime/session/Session.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// Borrows what it is made of. Any number of threads.
class TokenStream {
public:
  /// The text of target tokens. Any number of threads call it.
  using TextOf = std::function<std::string(const TokenIds &)>;
  /// Whether a token's piece spells a byte (byteOfPiece).
  using IsByte = std::function<bool(int32_t)>;

  /// A callback that wants no more raises `cancelled`; once that is raised, by
  /// whomever, it is called no more. `takesSpacesBack` says that texts have
  /// been cleaned up (Tokenizer.h).
  TokenStream(TextOf textOf, IsByte isByte, bool takesSpacesBack,
              StopStrings stops, heddle_token_callback callback, void *context,
              std::atomic<bool> &cancelled)
      : textOf(std::move(textOf)), isByte(std::move(isByte)),
        takesSpacesBack(takesSpacesBack), stops(std::move(stops)),
        callback(callback), context(context), cancelled(cancelled) {}

  /// The token of an input that comes behind `before`; a last one of -1 is
  /// none, as heddle.h says. Those of an input come in order, and no two of
  /// them at the same time.
  void add(int64_t input, const TokenIds &before, int32_t token, bool isLast);

  /// As many tokens are read again, or up to twice as many.
  static constexpr size_t kTokens = 64;

private:
  /// Of an input that is not at its end.
  struct Told {
    /// Its latest tokens, what they read as, and how much of that was told.
    TokenIds tokens;
    std::string text;
    size_t size = 0;
    /// What was told in all, and how much of the text was given before the
    /// first token.
    size_t all = 0;
    std::optional<size_t> given;
    /// From so many tokens on fewer of them may do.
    size_t most = 2 * kTokens;
    /// Of pieces that spell bytes and end the tokens: the size of the text in
    /// front of them.
    std::optional<size_t> run;
  };
  std::string tell(Told &told, const TokenIds &before, int32_t token,
                   bool isLast) const;
  size_t certain(const Told &told, std::string_view text) const;
  void forgetTokens(Told &told) const;

  const TextOf textOf;
  const IsByte isByte;
  const bool takesSpacesBack;
  const StopStrings stops;
  const heddle_token_callback callback;
  void *const context;
  std::atomic<bool> &cancelled;
  /// Guards what follows, but not what is told, and calls of the callback.
  std::mutex mutex;
  std::map<int64_t, Told> inputs;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_TOKENSTREAM_H
