//===- FindTokensSlowly.cpp - Added tokens, as slow tokenizers do ---------===//
//
// A port of transformers' Trie.split and PreTrainedTokenizer.tokenize, step by
// step: if tokens overlap, its answers are not always the longest ones, and
// what stands beside a token loses its spaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>
#include <bitset>
#include <map>

using namespace heddle;

namespace {
class FindTokensSlowly final : public TextStage {
public:
  explicit FindTokensSlowly(AddedTokens tokens);

  void apply(TextParts &parts) const override;

private:
  /// A trie over characters.
  struct Node {
    std::map<char32_t, uint32_t> next;
    bool isEnd = false;
  };

  /// Whether a token may begin in the text.
  bool mayBegin(std::string_view text) const {
    return std::any_of(text.begin(), text.end(), [&](char c) {
      return starts[static_cast<unsigned char>(c)];
    });
  }
  std::vector<std::string> splitByTrie(std::string_view text) const;
  std::vector<std::string> split(std::string_view text) const;

  AddedTokens tokens;
  std::map<std::string_view, const AddedTokens::Token *> byText;
  std::bitset<256> starts;
  std::vector<Node> trie;
};
} // namespace

FindTokensSlowly::FindTokensSlowly(AddedTokens added)
    : tokens(std::move(added)), trie(1) {
  for (const AddedTokens::Token &token : tokens.all()) {
    byText.emplace(token.spelling, &token);
    starts.set(static_cast<unsigned char>(token.spelling.front()));
    uint32_t node = 0;
    for (std::string_view rest = token.spelling; !rest.empty();) {
      char32_t character = takeCodePoint(rest).value;
      auto [next, isNew] =
          trie[node].next.emplace(character, uint32_t(trie.size()));
      node = next->second;
      if (isNew)
        trie.emplace_back();
    }
    trie[node].isEnd = true;
  }
}

std::vector<std::string>
FindTokensSlowly::splitByTrie(std::string_view text) const {
  // Characters and where they begin.
  std::vector<char32_t> characters;
  std::vector<size_t> begins;
  for (std::string_view rest = text; !rest.empty();) {
    begins.push_back(text.size() - rest.size());
    characters.push_back(takeCodePoint(rest).value);
  }
  const size_t count = characters.size();
  begins.push_back(text.size());
  auto follow = [&](uint32_t node, size_t at) -> uint32_t {
    if (at >= count)
      return 0;
    auto next = trie[node].next.find(characters[at]);
    return next == trie[node].next.end() ? 0 : next->second;
  };

  /// A start and how far the trie has followed it.
  struct State {
    size_t start;
    uint32_t node;
    bool isDead;
  };
  std::vector<State> states;
  std::vector<size_t> offsets = {0};
  size_t skip = 0;
  for (size_t current = 0; current < count; ++current) {
    if (current < skip)
      continue;
    bool found = false;
    for (State &state : states) {
      if (!trie[state.node].isEnd) {
        uint32_t next = follow(state.node, current);
        state.isDead = next == 0;
        if (next)
          state.node = next;
        continue;
      }
      // Of this match and of earlier ones that are still on their way the
      // longest counts.
      size_t start = state.start, end = current;
      for (const State &look : states) {
        if (look.start > start)
          break;
        size_t ahead = look.start < start ? current + 1 : current;
        end = ahead;
        uint32_t node = look.node;
        auto take = [&] {
          if (!trie[node].isEnd)
            return;
          start = look.start;
          end = skip = ahead;
        };
        take();
        while (uint32_t next = follow(node, ahead)) {
          node = next;
          ++ahead;
          take();
        }
      }
      offsets.insert(offsets.end(), {start, end});
      found = true;
      break;
    }
    if (found)
      states.clear();
    else
      states.erase(std::remove_if(states.begin(), states.end(),
                                  [](const State &s) { return s.isDead; }),
                   states.end());
    if (uint32_t node = current >= skip ? follow(0, current) : 0)
      states.push_back({current, node, false});
  }
  for (const State &state : states)
    if (trie[state.node].isEnd) {
      offsets.insert(offsets.end(), {state.start, count});
      break;
    }

  offsets.push_back(count);
  std::vector<std::string> pieces;
  size_t start = 0;
  for (size_t end : offsets)
    if (start < end) {
      pieces.emplace_back(
          text.substr(begins[start], begins[end] - begins[start]));
      start = end;
    }
  return pieces;
}

/// The parts of a text; those that are tokens stand there as such.
std::vector<std::string> FindTokensSlowly::split(std::string_view text) const {
  std::vector<std::string> pieces = splitByTrie(text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    auto found = byText.find(pieces[i]);
    if (found == byText.end())
      continue;
    uint32_t flags = found->second->flags;
    const std::string token = pieces[i],
                      left = i > 0 ? pieces[i - 1] : std::string(),
                      right =
                          i + 1 < pieces.size() ? pieces[i + 1] : std::string();
    if ((flags & format::kStripsRight) && !right.empty())
      pieces[i + 1] = stripLeft(right, true);
    if ((flags & format::kStripsLeft) && !left.empty())
      pieces[i - 1] = stripRight(left, true);
    if (!(flags & format::kIsWord))
      continue;
    // What is no word of its own belongs to its neighbour.
    if (!left.empty() && left.back() != ' ') {
      pieces[i - 1] += token;
      pieces[i].clear();
    } else if (!right.empty() && right.front() != ' ') {
      pieces[i + 1].insert(0, token);
      pieces[i].clear();
    }
  }
  return pieces;
}

void FindTokensSlowly::apply(TextParts &parts) const {
  parts.split([&](const TextPart &part, auto &sink) {
    if (!mayBegin(part.text))
      return sink(part);
    std::string text = repairUtf8(part.text);
    for (std::string &piece : split(text)) {
      auto found = byText.find(piece);
      TextPart made = parts.keep(std::move(piece), part);
      if (found != byText.end())
        made.id = found->second->id;
      sink(made);
    }
  });
}

stages::MadeText stages::makeFindTokensSlowly(std::string_view table) {
  Result<AddedTokens> tokens = AddedTokens::parse(table);
  if (!tokens.ok())
    return tokens.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<FindTokensSlowly>(std::move(*tokens)));
}
