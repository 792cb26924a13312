//===- AddedTokenTests.cpp - Added tokens beside transformers -------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Weights/Json.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/stages/Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

namespace {

using Ids = std::vector<int32_t>;

Ids parseIds(llvm::StringRef line) {
  std::istringstream stream(line.str());
  return {std::istream_iterator<int32_t>(stream), {}};
}

/// Where the files of a kind of folder stand, and its model's rows.
struct Kind {
  llvm::StringLiteral name;
  std::vector<std::pair<const char *, const char *>> files;
  int64_t vocabulary;
};

const Kind kKinds[] = {
    {"marian",
     {{"offset/fairseq.model", "source.spm"},
      {"offset/fairseq.model", "target.spm"},
      {"offset/marian/vocab.json", "vocab.json"}},
     99},
    {"mbart", {{"offset/fairseq.model", "sentencepiece.bpe.model"}}, 124},
    {"mbart50", {{"offset/fairseq.model", "sentencepiece.bpe.model"}}, 151},
    {"pegasus", {{"offset/pegasus.model", "spiece.model"}}, 200},
    {"bart",
     {{"byte-level/vocab.json", "vocab.json"},
      {"byte-level/merges.txt", "merges.txt"}},
     701}};

llvm::json::Object readObject(const std::string &name) {
  auto object = parseJsonObject(readFile(HEDDLE_GOLDENS "/" + name), name);
  EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
  return std::move(*object);
}

std::string format(llvm::json::Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

/// What make_added_goldens.py has left out of tokenizer.json: the model, and
/// the table of a SentencePiece model.
llvm::json::Object completed(llvm::json::Object whole, const Kind &kind) {
  llvm::json::Object other =
      readObject(kind.name == "bart" ? "byte-level/tokenizer.json"
                                     : "added/" + kind.name.str() + ".json");
  whole["model"] = llvm::json::Value(std::move(*other.get("model")));
  llvm::json::Object *normalizer = whole.getObject("normalizer");
  if (!normalizer || !normalizer->getArray("normalizers"))
    return whole;
  auto model = readSentencePieceModel(std::string(HEDDLE_GOLDENS "/") +
                                      kind.files.front().first);
  EXPECT_TRUE(bool(model));
  const SentencePieceNormalizer &rules = model->normalizer;
  (*(*normalizer->getArray("normalizers"))[0]
        .getAsObject())["precompiled_charsmap"] =
      llvm::encodeBase64(bytesOf(uint32_t(rules.rules.size())) + rules.rules +
                         rules.replacements);
  return whole;
}

void fill(TemporaryFolder &folder, const llvm::json::Object &golden,
          const Kind &kind) {
  for (auto [from, to] : kind.files)
    folder.write(to, readFile(std::string(HEDDLE_GOLDENS "/") + from));
  for (const auto &[file, content] : *golden.getObject("files")) {
    // A text is one whose order of keys matters.
    if (auto text = content.getAsString()) {
      folder.write(file.str(), text->str());
      continue;
    }
    llvm::json::Object object(*content.getAsObject());
    if (file == "tokenizer.json")
      object = completed(std::move(object), kind);
    folder.write(file.str(), format(std::move(object)));
  }
}

/// Compares one folder with AutoTokenizer.
void check(const llvm::json::Object &golden, const llvm::json::Array &texts) {
  std::string kindName = golden.getString("kind")->str(),
              name = kindName + " " + golden.getString("name")->str();
  auto kind = llvm::find_if(
      kKinds, [&](const Kind &known) { return known.name == kindName; });
  TemporaryFolder folder;
  fill(folder, golden, *kind);
  auto imported = readFolderTokenizer(folder.path(), "", kind->vocabulary);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  EXPECT_EQ(imported->manifest.getString("reason").value_or(""), "") << name;
  ASSERT_FALSE(imported->sections.empty()) << name;
  // With room for all added tokens.
  LoadedTokenizer tokenizer(*imported, kind->vocabulary + 100);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  for (auto [text, row] : llvm::zip(texts, *golden.getArray("ids")))
    EXPECT_EQ(tokenizer.encode(*text.getAsString()),
              parseIds(*row.getAsString()))
        << name << ": " << text.getAsString()->str();
  for (auto [row, text] :
       llvm::zip_equal(*golden.getArray("rows"), *golden.getArray("decoded")))
    EXPECT_EQ(tokenizer->decode(parseIds(*row.getAsString())),
              text.getAsString()->str())
        << name << ": " << row.getAsString()->str();
}

TEST(AddedTokens, AreThoseOfAutoTokenizer) {
  auto goldens = parseJsonObject(readFile(HEDDLE_GOLDENS "/added/cases.json"),
                                 "cases.json");
  ASSERT_TRUE(bool(goldens)) << llvm::toString(goldens.takeError());
  const llvm::json::Array &cases = *goldens->getArray("cases");
  EXPECT_GT(cases.size(), 40u);
  for (const llvm::json::Value &golden : cases)
    check(*golden.getAsObject(), *goldens->getArray("texts"));
}

TEST(AddedTokens, BeyondTheRowsAreErrorsOfTheirTexts) {
  for (const Kind &kind : kKinds) {
    TemporaryFolder folder;
    for (auto [from, to] : kind.files)
      folder.write(to, readFile(std::string(HEDDLE_GOLDENS "/") + from));
    folder.write("added_tokens.json",
                 R"({"<term>": )" + std::to_string(kind.vocabulary) + "}");
    folder.write("special_tokens_map.json",
                 R"({"additional_special_tokens": ["<term>"]})");
    const char *names[] = {"MarianTokenizer", "MBartTokenizer",
                           "MBart50Tokenizer", "PegasusTokenizer",
                           "BartTokenizer"};
    folder.write("tokenizer_config.json",
                 std::string(R"({"tokenizer_class": ")") +
                     names[&kind - kKinds] + "\"}");
    auto imported = readFolderTokenizer(folder.path(), "", kind.vocabulary);
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    LoadedTokenizer tokenizer(*imported, kind.vocabulary);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
    EXPECT_FALSE(tokenizer.encode("the fox").empty());
    std::string rest = " vocabulary ends at " +
                       std::to_string(kind.vocabulary - 1),
                id = std::to_string(kind.vocabulary);
    EXPECT_EQ(tokenizer->encode("the <term> fox").status().message(),
              "has the piece '<term>' with the id " + id +
                  ", but the model's source" + rest)
        << kind.name.str();
    EXPECT_EQ(tokenizer->encodeTarget("a<term>").status().message(),
              "has the piece '<term>' with the id " + id +
                  ", but the model's target" + rest)
        << kind.name.str();
  }
}

//===----------------------------------------------------------------------===//
// What is not supported
//===----------------------------------------------------------------------===//

/// Why a folder has no tokenizer.
std::string reasonOf(const TemporaryFolder &folder,
                     llvm::StringRef byDefault = "BartTokenizer") {
  auto imported = readFolderTokenizer(folder.path(), byDefault, 701);
  if (!imported)
    return "error: " + llvm::toString(imported.takeError());
  if (imported->manifest.getString("kind") != "none")
    return "";
  return imported->manifest.getString("reason").value_or("none").str();
}

TEST(FolderTokenizer, NamesAClassThatIsNotSupported) {
  TemporaryFolder folder;
  EXPECT_EQ(reasonOf(folder), "none");
  const std::string supported =
      " (supported: AlbertTokenizer, BartTokenizer, BarthezTokenizer, "
      "BertTokenizer, BigBirdTokenizer, BlenderbotSmallTokenizer, "
      "BlenderbotTokenizer, BloomTokenizer, ByT5Tokenizer, CLIPTokenizer, "
      "CamembertTokenizer, "
      "CodeGenTokenizer, CodeLlamaTokenizer, CohereTokenizer, "
      "ConvBertTokenizer, DPRContextEncoderTokenizer, "
      "DPRQuestionEncoderTokenizer, DPRReaderTokenizer, DebertaTokenizer, "
      "DebertaV2Tokenizer, DistilBertTokenizer, ElectraTokenizer, "
      "FNetTokenizer, FunnelTokenizer, GPT2Tokenizer, GPTNeoXTokenizer, "
      "GemmaTokenizer, HerbertTokenizer, LEDTokenizer, LayoutLMTokenizer, "
      "LayoutLMv2Tokenizer, LayoutLMv3Tokenizer, LayoutXLMTokenizer, "
      "LlamaTokenizer, LongformerTokenizer, LxmertTokenizer, M2M100Tokenizer, "
      "MBart50Tokenizer, "
      "MBartTokenizer, MPNetTokenizer, MT5Tokenizer, MarianTokenizer, "
      "MobileBertTokenizer, MvpTokenizer, NllbTokenizer, NougatTokenizer, "
      "OpenAIGPTTokenizer, PegasusTokenizer, PreTrainedTokenizer, "
      "Qwen2Tokenizer, RealmTokenizer, ReformerTokenizer, RemBertTokenizer, "
      "RetriBertTokenizer, RobertaTokenizer, SMALL100Tokenizer, "
      "SplinterTokenizer, "
      "SqueezeBertTokenizer, T5Tokenizer, UdopTokenizer, XGLMTokenizer, "
      "XLMRobertaTokenizer, XLNetTokenizer)";
  folder.write("config.json", R"({"tokenizer_class": "PhobertTokenizer"})");
  EXPECT_EQ(reasonOf(folder), "'config.json' has 'tokenizer_class' with the "
                              "value \"PhobertTokenizer\"" +
                                  supported);
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "CanineTokenizerFast"})");
  EXPECT_EQ(reasonOf(folder), "'tokenizer_config.json' has 'tokenizer_class' "
                              "with the value \"CanineTokenizer\"" +
                                  supported);
  // Those that take tokenizer.json for something else, or not at all.
  folder.write("tokenizer.json",
               readFile(HEDDLE_GOLDENS "/byte-level/tokenizer.json"));
  for (const char *name : {"CpmTokenizer", "RoFormerTokenizer",
                           "SeamlessM4TTokenizer", "WhisperTokenizer"}) {
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class": ")" + std::string(name) + "\"}");
    EXPECT_EQ(reasonOf(folder),
              "'tokenizer_config.json' has 'tokenizer_class' with the value "
              "\"" +
                  std::string(name) + "\"" + supported);
  }
}

TEST(FolderTokenizer, FollowsTheClassNotTheModel) {
  TemporaryFolder folder;
  folder.write("sentencepiece.bpe.model",
               readFile(HEDDLE_GOLDENS "/offset/fairseq.model"));
  EXPECT_EQ(reasonOf(folder),
            "the folder has 'sentencepiece.bpe.model', but BartTokenizer reads "
            "'tokenizer.json', or 'vocab.json' and 'merges.txt'");
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "MBartTokenizer"})");
  EXPECT_EQ(reasonOf(folder), "");
  folder.write("vocab.json", readFile(HEDDLE_GOLDENS "/byte-level/vocab.json"));
  folder.write("merges.txt", readFile(HEDDLE_GOLDENS "/byte-level/merges.txt"));
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "BartTokenizer"})");
  auto imported = readFolderTokenizer(folder.path(), "MBartTokenizer", 701);
  ASSERT_TRUE(bool(imported));
  EXPECT_EQ(imported->manifest.getString("kind"), "byte-level");
}

TEST(FolderTokenizer, NamesFieldsOfTokenizerJsonThatItDoesNotRead) {
  auto golden = parseJsonObject(
      readFile(HEDDLE_GOLDENS "/byte-level/tokenizer.json"), "tokenizer.json");
  ASSERT_TRUE(bool(golden)) << llvm::toString(golden.takeError());
  TemporaryFolder folder;
  // A change of a component, or of a field of the model; why it is refused.
  auto with = [&](llvm::StringRef field, llvm::StringRef value) {
    llvm::json::Object whole = *golden;
    auto parsed = llvm::json::parse(value);
    EXPECT_TRUE(bool(parsed));
    llvm::json::Object *into = &whole;
    if (field.consume_front("model."))
      into = whole.getObject("model");
    (*into)[field] = *parsed;
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(whole));
    folder.write("tokenizer.json", text);
    return reasonOf(folder);
  };
  auto refuses = [&](llvm::StringRef field, llvm::StringRef value) {
    std::string reason = with(field, value);
    std::string start = ("'tokenizer.json' has '" + field).str();
    EXPECT_EQ(reason.substr(0, start.size()), start) << reason;
  };
  refuses("normalizer", R"({"type": "New"})");
  EXPECT_EQ(with("normalizer", R"({"type": "Lowercase", "odd": 1})"),
            "'tokenizer.json' has 'normalizer.odd' with the value 1 "
            "(supported: null)");
  EXPECT_EQ(with("normalizer", R"({"type": "Sequence", "normalizers":
                                  [{"type": "NFC"}, {"type": "New"}]})")
                .substr(0, 73),
            "'tokenizer.json' has 'normalizer.normalizers[1].type' with the "
            "value \"New");
  auto parts = [](const std::string &split, const std::string &byteLevel) {
    return R"({"type": "Sequence", "pretokenizers": [{"type": "Split", )" +
           split + R"(}, {"type": "ByteLevel", )" + byteLevel + "}]}";
  };
  const std::string isolated =
                        R"("pattern": {"Regex": "a"}, "behavior": "Isolated")",
                    plain = R"("use_regex": false, "add_prefix_space": false)";
  EXPECT_EQ(
      with("pre_tokenizer", parts(isolated + R"(, "invert": false)", plain)),
      "");
  EXPECT_EQ(with("pre_tokenizer", parts(isolated + R"(, "invert": true)",
                                        R"("use_regex": false)")),
            "");
  EXPECT_EQ(with("pre_tokenizer", parts(isolated, plain)),
            "'tokenizer.json' has 'pre_tokenizer.pretokenizers[0].invert' with "
            "the value null (supported: true, false)");
  EXPECT_EQ(
      with("pre_tokenizer",
           parts(R"("pattern": {"Regex": "a"}, "behavior": "Odd")", plain)),
      "'tokenizer.json' has 'pre_tokenizer.pretokenizers[0].behavior' with the "
      "value \"Odd\" (supported: Isolated, Removed, MergedWithPrevious, "
      "MergedWithNext, Contiguous)");
  const std::string looks = R"~("pattern": {"Regex": "a(?=bc)"},
                                 "behavior": "Isolated", "invert": false)~";
  EXPECT_EQ(with("pre_tokenizer", parts(looks, plain)),
            "'tokenizer.json' has a Split that is not supported: the pattern "
            "'a(?=bc)' has a look at more than one character at offset 1");
  refuses("post_processor", R"({"type": "New"})");
  refuses("post_processor",
          R"({"type": "TemplateProcessing", "single": [], "pair": []})");
  refuses("post_processor",
          R"({"type": "TemplateProcessing", "single": [
              {"Sequence": {"id": "B", "type_id": 0}}]})");
  refuses("model.dropout", "0.1");
  refuses("model.ignore_merges", "1");
  refuses("model.type", "\"New\"");
  // Without effect.
  for (auto [field, value] :
       {std::pair("model.byte_fallback", "true"),
        {"model.fuse_unk", "true"},
        {"model.unk_token", "\"<unk>\""},
        {"model.dropout", "0.0"},
        {"model.end_of_word_suffix", "\"\""},
        {"truncation", R"({"max_length": 5})"},
        {"padding", R"({"strategy": "BatchLongest"})"},
        {"pre_tokenizer", R"({"type": "ByteLevel", "add_prefix_space": true})"},
        {"pre_tokenizer", R"({"type": "ByteLevel", "use_regex": false})"},
        {"post_processor",
         R"({"type": "RobertaProcessing", "sep": ["</s>", 2],
             "cls": ["<s>", 0], "trim_offsets": false})"}})
    EXPECT_EQ(with(field, value), "") << field;
}

/// A path of keys and indices in a value: "normalizer.normalizers.1.type".
llvm::json::Value *at(llvm::json::Value &value, llvm::StringRef path) {
  auto [key, rest] = path.split('.');
  unsigned index;
  llvm::json::Value *inner = key.getAsInteger(10, index)
                                 ? &(*value.getAsObject())[key]
                                 : &(*value.getAsArray())[index];
  return rest.empty() ? inner : at(*inner, rest);
}

TEST(FolderTokenizer, TakesTokenizerJsonInPlaceOfTheModel) {
  for (size_t i : {1, 2, 3}) {
    const Kind &kind = kKinds[i];
    SCOPED_TRACE(kind.name.str());
    TemporaryFolder folder;
    for (auto [from, to] : kind.files)
      folder.write(to, readFile(std::string(HEDDLE_GOLDENS "/") + from));
    const char *className = i == 1   ? "MBartTokenizer"
                            : i == 2 ? "MBart50Tokenizer"
                                     : "PegasusTokenizer";
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class": ")" + std::string(className) + "\"}");
    const llvm::json::Object golden =
        completed(readObject("added/" + kind.name.str() + ".json"), kind);
    auto with = [&](llvm::StringRef path, llvm::StringRef change) {
      llvm::json::Value whole = llvm::json::Object(golden);
      auto parsed = llvm::json::parse(change);
      EXPECT_TRUE(bool(parsed)) << change.str();
      *at(whole, path) = *parsed;
      folder.write("tokenizer.json", format(*whole.getAsObject()));
      return reasonOf(folder);
    };
    for (auto [path, change] :
         std::initializer_list<std::pair<std::string, std::string>>{
             {"normalizer", R"({"type": "New"})"},
             {"normalizer.normalizers.0.precompiled_charsmap", "\"AAAA\""},
             {"pre_tokenizer", R"({"type": "New"})"},
             {"decoder", R"({"type": "New"})"},
             {"model.type", "\"New\""},
             {"model.unk_id", "null"}}) {
      llvm::StringRef field = path;
      std::string start =
          "'tokenizer.json' has '" + field.split(".normalizers").first.str();
      EXPECT_EQ(with(path, change).substr(0, start.size()), start) << change;
    }
    // What the model would say otherwise.
    for (auto [path, change] :
         std::initializer_list<std::pair<std::string, std::string>>{
             {"normalizer", "null"},
             {"normalizer", R"({"type": "NFKC"})"},
             {"pre_tokenizer", R"({"type": "WhitespaceSplit"})"},
             {"decoder",
              R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"},
             {"model.byte_fallback", "true"},
             {"model.vocab.20.0", "\"foo\""},
             {"truncation", R"({"max_length": 4})"}})
      EXPECT_EQ(with(path, change), "") << change;
    // A class that replaces it does not look at it.
    EXPECT_EQ(with("post_processor", R"({"type": "New"})").empty(), i != 3);
    // What is converted anew is not read.
    folder.write("tokenizer_config.json",
                 R"({"from_slow": true, "tokenizer_class": ")" +
                     std::string(className) + "\"}");
    EXPECT_EQ(with("decoder", "null"), "");
  }
}

TEST(FolderTokenizer, PutsAroundTextWhatThePostProcessorSays) {
  auto golden = parseJsonObject(
      readFile(HEDDLE_GOLDENS "/byte-level/tokenizer.json"), "tokenizer.json");
  ASSERT_TRUE(bool(golden)) << llvm::toString(golden.takeError());
  TemporaryFolder folder;
  auto idsWith = [&](llvm::StringRef processor) {
    llvm::json::Object whole = *golden;
    whole["post_processor"] = *llvm::json::parse(processor);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(whole));
    folder.write("tokenizer.json", text);
    auto imported = readFolderTokenizer(folder.path(), "BartTokenizer", 701);
    EXPECT_TRUE(bool(imported));
    return LoadedTokenizer(*imported, 701).encode("x");
  };
  Ids x = idsWith("null");
  ASSERT_EQ(x.size(), 1u);
  EXPECT_EQ(idsWith(R"({"type": "ByteLevel"})"), x);
  EXPECT_EQ(idsWith(R"({"type": "BertProcessing", "sep": ["</s>", 2],
                        "cls": ["<pad>", 1]})"),
            (Ids{1, x[0], 2}));
  EXPECT_EQ(idsWith(R"({"type": "Sequence", "processors": [
      {"type": "ByteLevel"},
      {"type": "TemplateProcessing",
       "single": [{"Sequence": {"id": "A", "type_id": 0}},
                  {"SpecialToken": {"id": "</s>", "type_id": 0}},
                  {"SpecialToken": {"id": "<pad>", "type_id": 0}}],
       "pair": [],
       "special_tokens": {
         "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]},
         "<pad>": {"id": "<pad>", "ids": [1], "tokens": ["<pad>"]}}}]})"),
            (Ids{x[0], 2, 1}));
}

TEST(FolderTokenizer, NamesFieldsOfTheConfigurationThatItDoesNotRead) {
  TemporaryFolder folder;
  for (auto [from, to] : kKinds[0].files)
    folder.write(to, readFile(std::string(HEDDLE_GOLDENS "/") + from));
  auto with = [&](const std::string &config) {
    folder.write("tokenizer_config.json", config);
    return reasonOf(folder, "MarianTokenizer");
  };
  EXPECT_EQ(with("{}"), "");
  EXPECT_EQ(with(R"({"separate_vocabs": true})"),
            "'tokenizer_config.json' has 'separate_vocabs' with the value true "
            "(supported: false)");
  EXPECT_EQ(with(R"({"sp_model_kwargs": {"enable_sampling": true}})"),
            "'tokenizer_config.json' has 'sp_model_kwargs' with the value "
            "{\"enable_sampling\":true} (supported: {})");
  EXPECT_EQ(with(R"({"split_special_tokens": true})"),
            "'tokenizer_config.json' has 'split_special_tokens' with the value "
            "true (supported: false)");
  EXPECT_EQ(with(R"({"added_tokens_decoder": {"3": {"content": "<x>"}}})"),
            "the token '<x>' was added as 3, which is the piece '>>fra<<'");
}

/// What a damaged table must not do shows as the death of the test.
TEST(AddedTokens, MayBeDamaged) {
  AddedTokenTable table;
  for (const char *content : {"<s>", "<mask>", "a", " b"}) {
    AddedTokenForm form;
    form.content = content;
    form.stripsLeft = form.isWord = content[1] == 'm';
    form.isNormalized = content[0] == 'a';
    table.entries.push_back({int64_t(table.entries.size()), form});
  }
  const std::string whole = buildAddedTokens(table);
  ASSERT_TRUE(AddedTokens::parse(whole).ok());
  std::mt19937 random(17);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = char(random());
    if (i % 8 == 0)
      damaged.resize(random() % damaged.size());
    for (auto make : {stages::makeFindTokens, stages::makeFindTokensSlowly}) {
      auto stage = make(damaged);
      TextParts parts("<s> a <mask> b", /*tracks=*/true);
      if (stage.ok())
        (*stage)->apply(parts);
    }
  }
}

} // namespace
