//===- AddedTokens.cpp - The tokens that text has as a whole --------------===//
//
// The steps are those of tokenization_utils.py and tokenization_utils_fast.py,
// and of AddedVocabulary::add_tokens of tokenizers 0.22.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/AddedTokens.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace heddle {

using Entry = AddedTokenTable::Entry;

static StringSet<> contentsOf(ArrayRef<SpecialToken> tokens) {
  StringSet<> contents;
  for (const SpecialToken &token : tokens)
    contents.insert(token.content);
  return contents;
}

/// A special token that is a text alone.
static AddedTokenForm plainSpecial(StringRef content) {
  AddedTokenForm form;
  form.content = content.str();
  form.isSpecial = true;
  return form;
}

std::optional<int64_t> AddedTokenTable::find(StringRef content) const {
  for (const Entry &entry : entries)
    if (entry.form.content == content)
      return entry.id;
  return std::nullopt;
}

AddedTokenTable addSlowTokens(const TokenizerFiles &files,
                              ArrayRef<SpecialToken> special,
                              const BaseVocabulary &base) {
  AddedTokenTable table;
  int64_t next = base.size;
  StringSet<> names = contentsOf(special), known;
  for (const auto &[id, form] : files.added) {
    table.entries.push_back({id, form});
    if (!base.find(form.content) && known.insert(form.content).second)
      ++next;
  }
  for (const SpecialToken &token : special) {
    auto known = find_if(table.entries, [&](const Entry &entry) {
      return entry.form.content == token.content;
    });
    if (known != table.entries.end()) {
      // A text that is known says nothing new; an object takes its place.
      if (token.form)
        known->form = *token.form;
      continue;
    }
    std::optional<int64_t> id = base.find(token.content);
    AddedTokenForm form =
        token.form ? *token.form : plainSpecial(token.content);
    table.entries.push_back({id ? *id : next++, form});
  }
  for (Entry &entry : table.entries)
    entry.form.isSpecial = names.contains(entry.form.content);
  llvm::sort(table.entries,
             [](const Entry &a, const Entry &b) { return a.id < b.id; });
  return table;
}

namespace {
/// AddedVocabulary of the library tokenizers.
class FastVocabulary {
public:
  explicit FastVocabulary(const BaseVocabulary &base) : base(base) {}

  void add(const AddedTokenForm &token, bool isKnown = false) {
    // Where a token is looked for its first form as a special one says, if it
    // ever had one.
    if (token.isSpecial)
      specialForms.try_emplace(token.content, token.isNormalized);
    if (isKnown)
      return;
    std::optional<int64_t> id = table.find(token.content);
    if (!id)
      id = base.find(token.content);
    if (!id)
      id = next();
    auto entry = find_if(table.entries,
                         [&](const Entry &entry) { return entry.id == *id; });
    if (entry == table.entries.end())
      table.entries.push_back({*id, token});
    else
      entry->form = token;
  }

  /// Adds tokens at once: one that was there in the same form before them all
  /// changes nothing, even behind another form of it.
  void addAll(ArrayRef<AddedTokenForm> tokens) {
    std::vector<Entry> before = table.entries;
    for (const AddedTokenForm &token : tokens)
      add(token, any_of(before, [&](const Entry &entry) {
            return entry.form == token;
          }));
  }

  bool has(const AddedTokenForm &token) const {
    return any_of(table.entries,
                  [&](const Entry &entry) { return entry.form == token; });
  }

  AddedTokenTable finish() && {
    for (Entry &entry : table.entries)
      if (auto form = specialForms.find(entry.form.content);
          form != specialForms.end()) {
        entry.form.isSpecial = true;
        entry.form.isNormalized = form->second;
      }
    // Of two that a normalizer makes equal the library finds the first one.
    AddedTokenTable ordered;
    for (bool isSpecial : {true, false})
      for (const Entry &entry : table.entries)
        if (entry.form.isSpecial == isSpecial)
          ordered.entries.push_back(entry);
    return ordered;
  }

private:
  int64_t next() const {
    int64_t id = base.size;
    for (const Entry &entry : table.entries)
      id = std::max(id, entry.id + 1);
    return id;
  }

  const BaseVocabulary &base;
  AddedTokenTable table;
  StringMap<bool> specialForms;
};
} // namespace

AddedTokenTable addFastTokens(ArrayRef<AddedTokenForm> first,
                              const std::map<int64_t, AddedTokenForm> &added,
                              ArrayRef<SpecialToken> special,
                              const BaseVocabulary &base) {
  FastVocabulary vocabulary(base);
  StringSet<> names = contentsOf(special), known;
  for (const AddedTokenForm &form : first) {
    vocabulary.add(form);
    known.insert(form.content);
  }
  std::vector<AddedTokenForm> toAdd;
  for (const auto &[id, form] : added)
    if (!vocabulary.has(form))
      toAdd.push_back(form);
  for (const AddedTokenForm &form : toAdd)
    known.insert(form.content);
  // A text that is known says nothing new; an object may.
  for (const SpecialToken &token : special) {
    if (token.form ? !is_contained(toAdd, *token.form)
                   : !known.contains(token.content))
      toAdd.push_back(token.form ? *token.form : plainSpecial(token.content));
  }
  for (AddedTokenForm &form : toAdd) {
    form.isSpecial |= names.contains(form.content);
    if (form.isOpen)
      form.isNormalized = !form.isSpecial;
  }
  vocabulary.addAll(toAdd);
  return std::move(vocabulary).finish();
}

Expected<AddedTokenTable> addTokensToPieces(const TokenizerFiles &files,
                                            ArrayRef<SpecialToken> special,
                                            int64_t count,
                                            std::vector<std::string> &pieces) {
  PieceIds ids(pieces);
  auto find = [&](StringRef piece) { return ids.find(piece); };
  AddedTokenTable table = addSlowTokens(files, special, {find, count});
  int64_t limit = std::max<int64_t>(pieces.size() + (1 << 12), 1 << 16);
  for (const auto &[id, form] : table.entries) {
    std::optional<int64_t> known = find(form.content);
    bool isTaken = size_t(id) < pieces.size() && !pieces[id].empty() &&
                   pieces[id] != form.content;
    if (id >= limit || isTaken || (known && *known != id))
      return make_error<UnsupportedTokenizer>(
          ("the token '" + form.content + "' was added as " + Twine(id) +
           (isTaken ? ", which is the piece '" + pieces[id] + "'"
            : known ? ", but 'vocab.json' has it as " + std::to_string(*known)
                    : ", far beyond the vocabulary"))
              .str());
    if (size_t(id) >= pieces.size())
      pieces.resize(id + 1);
    pieces[id] = form.content;
  }
  return table;
}

std::string buildAddedTokens(const AddedTokenTable &table) {
  std::string ids, texts;
  std::vector<uint32_t> begins = {0};
  for (const auto &[id, form] : table.entries) {
    uint32_t flags = (form.stripsLeft ? format::kStripsLeft : 0) |
                     (form.stripsRight ? format::kStripsRight : 0) |
                     (form.isWord ? format::kIsWord : 0) |
                     (form.isNormalized ? format::kIsNormalized : 0);
    appendValues(ids, ArrayRef(format::AddedToken{uint32_t(id), flags}));
    texts += form.content;
    begins.push_back(uint32_t(texts.size()));
  }
  std::string section;
  appendValues(section, ArrayRef(format::AddedHeader{
                            uint32_t(table.entries.size()), 0}));
  section += ids;
  appendValues(section, ArrayRef(begins));
  return section + texts;
}

json::Array idsOfSpecial(const AddedTokenTable &table) {
  std::vector<int64_t> ids;
  for (const auto &[id, form] : table.entries)
    if (form.isSpecial)
      ids.push_back(id);
  llvm::sort(ids);
  return json::Array(ids);
}

} // namespace heddle
