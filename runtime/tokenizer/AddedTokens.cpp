//===- AddedTokens.cpp - Tokens that text has as a whole ------------------===//
//
// The fast way is a search for the leftmost and longest token at each byte; the
// table of first bytes makes text without tokens cheap. The slow way is a port
// of Trie.split, step by step: if tokens overlap, its answers are not always
// the longest ones.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace heddle;

Result<AddedTokens> AddedTokens::parse(std::string_view section) {
  TableReader reader(section);
  const format::AddedHeader *header = nullptr;
  const format::AddedToken *entries = nullptr;
  const uint32_t *begins = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    reader.take(entries, header->count);
    reader.take(begins, uint64_t(header->count) + 1);
  }
  std::string_view bytes = reader.takeRest();
  if (!reader.isWhole() || begins[0] != 0 ||
      !std::is_sorted(begins, begins + header->count + 1) ||
      begins[header->count] != bytes.size())
    return Status::error("section 'tokenizer.added' is not a whole table of "
                         "tokens");
  AddedTokens added;
  for (uint32_t i = 0; i < header->count; ++i) {
    std::string_view text = bytes.substr(begins[i], begins[i + 1] - begins[i]);
    if (text.empty() || !isUtf8(text) || int32_t(entries[i].id) < 0)
      return Status::error("section 'tokenizer.added' has a token ", i,
                           " without a text or an id");
    added.tokens.push_back(
        {int32_t(entries[i].id), entries[i].flags, std::string(text)});
    added.texts.emplace(int32_t(entries[i].id), text);
    added.byText.emplace(text, i);
  }
  added.index();
  return added;
}

void AddedTokens::index() {
  for (auto &side : starts)
    for (std::vector<uint32_t> &list : side)
      list.clear();
  trie.assign(1, Node());
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string_view rest = tokens[i].spelling;
    // A normalizer may leave nothing of it.
    if (rest.empty())
      continue;
    bool isNormalized = tokens[i].flags & format::kIsNormalized;
    starts[isNormalized][static_cast<unsigned char>(rest.front())].push_back(
        uint32_t(i));
    uint32_t node = 0;
    while (!rest.empty()) {
      char32_t character = takeCodePoint(rest).value;
      auto [next, isNew] =
          trie[node].next.emplace(character, uint32_t(trie.size()));
      node = next->second;
      if (isNew)
        trie.emplace_back();
    }
    trie[node].isEnd = true;
  }
  for (auto &side : starts)
    for (std::vector<uint32_t> &list : side)
      std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
        size_t first = tokens[a].spelling.size(),
               second = tokens[b].spelling.size();
        return first != second ? first > second : a < b;
      });
}

std::string_view AddedTokens::text(int32_t id) const {
  auto found = texts.find(id);
  return found == texts.end() ? std::string_view() : found->second;
}

bool AddedTokens::mayBegin(std::string_view text) const {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    auto byte = static_cast<unsigned char>(c);
    return !starts[0][byte].empty() || !starts[1][byte].empty();
  });
}

//===----------------------------------------------------------------------===//
// Fast tokenizers
//===----------------------------------------------------------------------===//

/// Rust's \w: alphabetic characters, marks, decimal digits, connectors (Pc) and
/// the two joiners.
static bool isWordCharacter(char32_t c) {
  if (isLetter(c) || isMark(c) || isDigit(c))
    return true;
  constexpr std::pair<char32_t, char32_t> others[] = {
      {'_', '_'},         {0x16EE, 0x16F0},   {0x200C, 0x200D},
      {0x203F, 0x2040},   {0x2054, 0x2054},   {0x2160, 0x2188},
      {0x24B6, 0x24E9},   {0x3007, 0x3007},   {0x3021, 0x3029},
      {0x3038, 0x303A},   {0xA6E6, 0xA6EF},   {0xFE33, 0xFE34},
      {0xFE4D, 0xFE4F},   {0xFF3F, 0xFF3F},   {0x10140, 0x10174},
      {0x10341, 0x10341}, {0x1034A, 0x1034A}, {0x103D1, 0x103D5},
      {0x12400, 0x1246E}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169},
      {0x1F170, 0x1F189}};
  return std::any_of(
      std::begin(others), std::end(others),
      [&](const auto &range) { return c >= range.first && c <= range.second; });
}

/// Where the last character of `text` begins, which is not empty.
static size_t lastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80)
    --at;
  return at;
}

static bool endsWithWord(std::string_view text) {
  if (text.empty())
    return false;
  std::string_view last = text.substr(lastCharacter(text));
  return isWordCharacter(takeCodePoint(last).value);
}

static bool startsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(takeCodePoint(text).value);
}

/// White space as the Unicode standard has it, and for Python's str.isspace
/// the separators of ASCII, too.
static bool isSpace(char32_t c, bool isPython) {
  return heddle::isSpace(c) || (isPython && c >= 0x1C && c <= 0x1F);
}

static std::string_view stripLeft(std::string_view text, bool isPython) {
  for (std::string_view rest = text;
       !rest.empty() && isSpace(takeCodePoint(rest).value, isPython);)
    text = rest;
  return text;
}

static std::string_view stripRight(std::string_view text, bool isPython) {
  while (!text.empty()) {
    size_t last = lastCharacter(text);
    std::string_view character = text.substr(last);
    if (!isSpace(takeCodePoint(character).value, isPython))
      break;
    text = text.substr(0, last);
  }
  return text;
}

const AddedTokens::Token *AddedTokens::findAt(std::string_view text, size_t at,
                                              bool isNormalized) const {
  for (uint32_t i :
       starts[isNormalized][static_cast<unsigned char>(text[at])]) {
    const std::string &spelling = tokens[i].spelling;
    if (text.compare(at, spelling.size(), spelling) == 0)
      return &tokens[i];
  }
  return nullptr;
}

std::vector<AddedTokens::Part<std::string_view>>
AddedTokens::cut(std::string_view text, bool isNormalized) const {
  std::vector<Part<std::string_view>> parts;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const Token *token = findAt(text, at, isNormalized);
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->spelling.size();
    at = end;
    if ((token->flags & format::kIsWord) &&
        (endsWithWord(text.substr(0, begin)) ||
         startsWithWord(text.substr(end))))
      continue;
    if (token->flags & format::kStripsLeft)
      begin = std::max(done, stripRight(text.substr(0, begin), false).size());
    if (token->flags & format::kStripsRight)
      end = text.size() - stripLeft(text.substr(end), false).size();
    if (done < begin)
      parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), token->id});
    done = end;
  }
  if (done < text.size())
    parts.push_back({text.substr(done)});
  return parts;
}

//===----------------------------------------------------------------------===//
// Slow tokenizers
//===----------------------------------------------------------------------===//

std::vector<std::string> AddedTokens::splitByTrie(std::string_view text) const {
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

std::vector<AddedTokens::Part<std::string>>
AddedTokens::cutSlowly(std::string_view text) const {
  std::vector<std::string> pieces = splitByTrie(text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    auto found = byText.find(pieces[i]);
    if (found == byText.end())
      continue;
    uint32_t flags = tokens[found->second].flags;
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
  std::vector<Part<std::string>> parts;
  for (std::string &piece : pieces) {
    if (piece.empty())
      continue;
    auto found = byText.find(piece);
    int32_t id = found == byText.end() ? -1 : tokens[found->second].id;
    parts.push_back({std::move(piece), id});
  }
  return parts;
}
