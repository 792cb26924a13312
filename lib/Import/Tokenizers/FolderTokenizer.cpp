//===- FolderTokenizer.cpp - Which tokenizer a folder has -----------------===//
//
// The tokenizer follows from the class that the files of a folder name, not
// from its model: people pair them freely. What is not supported leaves a
// folder without a tokenizer; damage in files of one that is supported is an
// error.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/Classes/ByteTokenizer.h"
#include "lib/Import/Tokenizers/Classes/LanguageModelTokenizers.h"
#include "lib/Import/Tokenizers/Classes/M2M100Tokenizer.h"
#include "lib/Import/Tokenizers/Classes/NllbTokenizer.h"
#include "lib/Import/Tokenizers/Classes/OffsetTokenizers.h"
#include "lib/Import/Tokenizers/Classes/SentencePieceClasses.h"
#include "lib/Import/Tokenizers/Classes/WholeTokenizers.h"
#include "lib/Import/Tokenizers/Classes/WordPieceTokenizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

namespace {
struct TokenizerClass {
  /// As transformers calls it, without "Fast".
  StringLiteral name;
  Expected<ImportedTokenizer> (*read)(const TokenizerFiles &files,
                                      int64_t vocabulary);
  /// The files that it reads, for people.
  StringLiteral files;
};
} // namespace

static constexpr StringLiteral kPairFiles =
    "'tokenizer.json', or 'vocab.json' and 'merges.txt'";

static constexpr StringLiteral kWordPieceFiles =
    "'tokenizer.json', or 'vocab.txt'";

static constexpr StringLiteral kWholeFile = "'tokenizer.json'";

static constexpr StringLiteral
    kFairseqFiles = "'tokenizer.json', or 'sentencepiece.bpe.model'",
    kPieceFiles = "'tokenizer.json', or 'spiece.model'",
    kNumberedFiles = "'sentencepiece.bpe.model' and 'vocab.json'";

/// Of the classes of transformers 4.57.6 these are not here: CpmTokenizer and
/// RoFormerTokenizer cut with another library, SeamlessM4TTokenizer and
/// MarkupLMTokenizer make something else of tokenizer.json than it says,
/// ParakeetTokenizer and WhisperTokenizer change texts behind the decoder, and
/// classes without a fast tokenizer do not read the file.
static constexpr TokenizerClass kClasses[] = {
    {"AlbertTokenizer", readSentencePieceClass, kPieceFiles},
    {"BartTokenizer", readByteLevelTokenizer, kPairFiles},
    {"BarthezTokenizer", readSentencePieceClass, kFairseqFiles},
    {"BertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"BigBirdTokenizer", readSentencePieceClass, kPieceFiles},
    {"BlenderbotSmallTokenizer", readWholeClass, kWholeFile},
    {"BlenderbotTokenizer", readBlenderbotTokenizer, kPairFiles},
    {"BloomTokenizer", readWholeClass, kWholeFile},
    {"ByT5Tokenizer", readByT5Tokenizer, "no file"},
    {"CLIPTokenizer", readClipTokenizer, kPairFiles},
    {"CamembertTokenizer", readSentencePieceClass, kFairseqFiles},
    {"CodeGenTokenizer", readCodeGenTokenizer, kPairFiles},
    {"CodeLlamaTokenizer", readCodeLlamaTokenizer,
     "'tokenizer.json', or 'tokenizer.model'"},
    {"CohereTokenizer", readCohereTokenizer, kWholeFile},
    {"ConvBertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"DPRContextEncoderTokenizer", readWordPieceClass, kWordPieceFiles},
    {"DPRQuestionEncoderTokenizer", readWordPieceClass, kWordPieceFiles},
    {"DPRReaderTokenizer", readWordPieceClass, kWordPieceFiles},
    {"DebertaTokenizer", readDebertaTokenizer, kPairFiles},
    {"DebertaV2Tokenizer", readSentencePieceClass,
     "'tokenizer.json', or 'spm.model'"},
    {"DistilBertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"ElectraTokenizer", readWordPieceClass, kWordPieceFiles},
    {"FNetTokenizer", readSentencePieceClass, kPieceFiles},
    {"FunnelTokenizer", readWordPieceClass, kWordPieceFiles},
    {"GPT2Tokenizer", readGpt2Tokenizer, kPairFiles},
    {"GPTNeoXTokenizer", readGptNeoxTokenizer, kWholeFile},
    {"GemmaTokenizer", readGemmaTokenizer, kWholeFile},
    {"HerbertTokenizer", readWholeClass, kWholeFile},
    {"LEDTokenizer", readByteLevelTokenizer, kPairFiles},
    {"LayoutLMTokenizer", readWordPieceClass, kWordPieceFiles},
    {"LayoutLMv2Tokenizer", readWordPieceClass, kWordPieceFiles},
    {"LayoutLMv3Tokenizer", readWholeClass, kWholeFile},
    {"LayoutXLMTokenizer", readSentencePieceClass, kFairseqFiles},
    {"LlamaTokenizer", readLlamaTokenizer,
     "'tokenizer.json', or 'tokenizer.model'"},
    {"LongformerTokenizer", readRobertaTokenizer, kPairFiles},
    {"LxmertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"M2M100Tokenizer", readM2M100Tokenizer, kNumberedFiles},
    {"MBart50Tokenizer", readMBartTokenizer, kFairseqFiles},
    {"MBartTokenizer", readMBartTokenizer, kFairseqFiles},
    {"MPNetTokenizer", readWordPieceClass, kWordPieceFiles},
    {"MT5Tokenizer", readSentencePieceClass, kPieceFiles},
    {"MarianTokenizer", readMarianMtTokenizer,
     "'source.spm', 'target.spm' and 'vocab.json'"},
    {"MobileBertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"MvpTokenizer", readMvpTokenizer, kPairFiles},
    {"NllbTokenizer", readNllbTokenizer, kFairseqFiles},
    {"NougatTokenizer", readWholeClass, kWholeFile},
    {"OpenAIGPTTokenizer", readWholeClass, kWholeFile},
    {"PegasusTokenizer", readPegasusTokenizer, kPieceFiles},
    {"PreTrainedTokenizer", readWholeClass, kWholeFile},
    {"Qwen2Tokenizer", readQwen2Tokenizer, kPairFiles},
    {"RealmTokenizer", readWordPieceClass, kWordPieceFiles},
    {"ReformerTokenizer", readSentencePieceClass, kPieceFiles},
    {"RemBertTokenizer", readSentencePieceClass,
     "'tokenizer.json', or 'sentencepiece.model'"},
    {"RetriBertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"RobertaTokenizer", readRobertaTokenizer, kPairFiles},
    {"SMALL100Tokenizer", readM2M100Tokenizer, kNumberedFiles},
    {"SplinterTokenizer", readWordPieceClass, kWholeFile},
    {"SqueezeBertTokenizer", readWordPieceClass, kWordPieceFiles},
    {"T5Tokenizer", readSentencePieceClass, kPieceFiles},
    {"UdopTokenizer", readWholeClass, kWholeFile},
    {"XGLMTokenizer", readSentencePieceClass, kFairseqFiles},
    {"XLMRobertaTokenizer", readSentencePieceClass, kFairseqFiles},
    {"XLNetTokenizer", readSentencePieceClass, kPieceFiles}};

namespace {
/// A class of a family that is read, without a fast form.
struct RefusedClass {
  StringLiteral name, reason;
};
} // namespace

static constexpr RefusedClass kRefusedClasses[] = {
    {"FSMTTokenizer", "separates words by the rules of Moses"},
    {"PLBartTokenizer",
     "numbers pieces and languages of programs by its code"}};

/// What a folder may have that some tokenizer reads.
static constexpr StringLiteral kTokenizerFiles[] = {
    "tokenizer.json",  "sentencepiece.bpe.model",
    "spiece.model",    "source.spm",
    "tokenizer.model", "spm.model",
    "vocab.txt",       "vocab.json",
    "merges.txt",      "bpe.codes",
    "dict.txt",        "vocab-src.json"};

static Expected<ImportedTokenizer>
readChosen(TokenizerFiles &files, StringRef byDefault, int64_t vocabulary) {
  if (files.className.empty())
    files.className = byDefault.str();
  StringRef name = files.className;
  auto chosen = find_if(kClasses, [&](const TokenizerClass &known) {
    return known.name == name;
  });
  auto other =
      find_if(kTokenizerFiles, [&](StringRef file) { return files.has(file); });
  auto refused = find_if(kRefusedClasses, [&](const RefusedClass &known) {
    return known.name == name;
  });
  if (refused != std::end(kRefusedClasses)) {
    if (other == std::end(kTokenizerFiles))
      return ImportedTokenizer();
    return make_error<UnsupportedTokenizer>(
        ("the folder has '" + *other + "' for " + refused->name + ", which " +
         refused->reason + ", and Heddle does not")
            .str());
  }
  if (chosen == std::end(kClasses)) {
    auto nameOf = [](const TokenizerClass &known) { return known.name.str(); };
    return refuseTokenizerField(files.classPath, "tokenizer_class", name,
                                join(map_range(kClasses, nameOf), ", "));
  }
  Expected<ImportedTokenizer> tokenizer = chosen->read(files, vocabulary);
  if (!tokenizer || tokenizer->manifest.getString("kind") != "none")
    return tokenizer;
  if (other == std::end(kTokenizerFiles))
    return tokenizer;
  return make_error<UnsupportedTokenizer>(("the folder has '" + *other +
                                           "', but " + chosen->name +
                                           " reads " + chosen->files)
                                              .str());
}

Expected<ImportedTokenizer>
readFolderTokenizer(StringRef folder, StringRef byDefault, int64_t vocabulary) {
  Expected<TokenizerFiles> files = readTokenizerFiles(folder);
  if (!files)
    return files.takeError();
  Expected<ImportedTokenizer> tokenizer =
      readChosen(*files, byDefault, vocabulary);
  if (tokenizer)
    return tokenizer;
  ImportedTokenizer none;
  Error left = handleErrors(
      tokenizer.takeError(), [&](const UnsupportedTokenizer &problem) {
        none.manifest =
            json::Object{{"kind", "none"}, {"reason", problem.message()}};
      });
  if (left)
    return std::move(left);
  return none;
}

} // namespace heddle
