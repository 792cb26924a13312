//===- TokenizerFiles.h - What a folder says of its tokenizer ---*- C++ -*-===//
//
// Special and added tokens stand in up to four files, of which transformers
// takes some and not others (PreTrainedTokenizerBase._from_pretrained of
// 4.57.6): with `added_tokens_decoder` in tokenizer_config.json that file alone
// counts, without it special_tokens_map.json, added_tokens.json and the added
// tokens of tokenizer.json, too.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERFILES_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace heddle {

/// Something about a tokenizer that is not supported, in a sentence without the
/// folder's path: the folder compiles without its tokenizer.
class UnsupportedTokenizer : public llvm::ErrorInfo<UnsupportedTokenizer> {
public:
  static char ID;
  explicit UnsupportedTokenizer(std::string sentence)
      : sentence(std::move(sentence)) {}

  void log(llvm::raw_ostream &stream) const override { stream << sentence; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string sentence;
};

/// "'tokenizer.json' has 'model.dropout' with the value 0.1 (supported: null)".
llvm::Error refuseTokenizerField(llvm::StringRef path, const llvm::Twine &field,
                                 const llvm::json::Value &value,
                                 const llvm::Twine &supported);

/// A token that is found in text as a whole.
struct AddedTokenForm {
  std::string content;
  bool stripsLeft = false, stripsRight = false, isWord = false,
       isNormalized = false, isSpecial = false;
  /// No file says isNormalized: it follows from isSpecial, even from what a
  /// tokenizer makes special.
  bool isOpen = false;

  bool operator==(const AddedTokenForm &other) const {
    auto parts = [](const AddedTokenForm &form) {
      return std::tie(form.content, form.stripsLeft, form.stripsRight,
                      form.isWord, form.isNormalized, form.isSpecial);
    };
    return parts(*this) == parts(other);
  }
};

/// A special token: an object, or a text alone, whose form is then left open.
struct SpecialToken {
  std::string content;
  std::optional<AddedTokenForm> form;
};

/// SPECIAL_TOKENS_ATTRIBUTES without `additional_special_tokens`, in its order.
inline constexpr llvm::StringLiteral kSpecialFields[] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};

struct TokenizerFiles {
  std::string folder;
  /// The class that tokenizer_config.json names, or else config.json, without
  /// "Fast" behind it; empty if neither does. And which of the two.
  std::string className, classPath;
  /// tokenizer_config.json, empty if there is none.
  llvm::json::Object config;
  /// tokenizer.json, if there is one.
  std::optional<llvm::json::Object> whole;
  /// The added tokens of tokenizer.json, in its order.
  std::vector<AddedTokenForm> wholeAdded;
  /// By the ids that files give them.
  std::map<int64_t, AddedTokenForm> added;
  /// By their texts, those of files that give forms; of two the later counts.
  std::map<std::string, AddedTokenForm> forms;
  /// By their fields: "eos_token". One that a file says is null is nothing.
  std::map<std::string, std::optional<SpecialToken>> special;
  /// What `additional_special_tokens` has, if a file says it; and
  /// `extra_special_tokens`.
  std::optional<std::vector<SpecialToken>> additional;
  std::vector<SpecialToken> extra;

  std::string path(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const;
  /// Whether all of these files are there, which count together: false if
  /// none is, and UnsupportedTokenizer if some are missing.
  llvm::Expected<bool> hasAll(llvm::ArrayRef<llvm::StringRef> names) const;
  std::string configPath() const { return path("tokenizer_config.json"); }
  /// The same folder without tokenizer.json.
  TokenizerFiles withoutWhole() const;
  /// Whether Python takes a field of the configuration for true: null is not.
  bool isTrue(llvm::StringRef field, bool byDefault = false) const;
  /// The special token of a field, `byDefault` if no file names it. If a file
  /// gives its text alone, the form is that of `byDefault`.
  std::optional<SpecialToken> find(llvm::StringRef field,
                                   const SpecialToken &byDefault) const;
};

/// The largest id that a file may give.
inline constexpr int64_t kMaxTokenId = (1 << 28) - 1;

/// Appends the tokens of a field that are not in the list by their texts; of
/// equal ones in the field the last counts.
void appendSpecial(llvm::ArrayRef<SpecialToken> tokens,
                   std::vector<SpecialToken> &list);

/// Appends the additional and the extra tokens of the files likewise.
void appendOthers(const TokenizerFiles &files, std::vector<SpecialToken> &list);

/// Reads the files of a folder, as far as they are there.
llvm::Expected<TokenizerFiles> readTokenizerFiles(llvm::StringRef folder);

/// Refuses fields of tokenizer_config.json that change ids or text and that no
/// tokenizer here knows. `isSlow`: transformers has a slow class alone.
llvm::Error checkTokenizerConfig(const TokenizerFiles &files, bool isSlow);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERFILES_H
