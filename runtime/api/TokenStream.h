//===- TokenStream.h - Tokens as they are generated -------------*- C++ -*-===//
//
// Tells a callback of each token and of the text that is certain with it. What
// ends a text may still change: bytes of half a character, a space in front of
// punctuation that is taken back. So text is told once the next token has left
// it as it was.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_TOKENSTREAM_H
#define HEDDLE_RUNTIME_API_TOKENSTREAM_H

#include "runtime/LineTokens.h"
#include "runtime/heddle.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace heddle {

/// Borrows what it is made of. Any number of threads.
class TokenStream {
public:
  TokenStream(const LineTokens &tokens, bool takesSpacesBack,
              heddle_token_callback callback, void *context)
      : tokens(tokens), takesSpacesBack(takesSpacesBack), callback(callback),
        context(context) {}

  /// Whether the callback wants more. One that does not is called no more.
  bool add(int64_t input, const TokenIds &before, int32_t token, bool isLast);

private:
  /// Of an input that is not at its end.
  struct Told {
    /// Its text before the token.
    std::string text;
    /// How much of it was told.
    size_t size = 0;
  };
  size_t certain(const Told &told, const std::string &text, bool isLast) const;

  const LineTokens &tokens;
  const bool takesSpacesBack;
  const heddle_token_callback callback;
  void *const context;
  std::mutex mutex;
  bool isOver = false;
  std::map<int64_t, Told> inputs;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_TOKENSTREAM_H
