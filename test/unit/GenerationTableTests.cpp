//===- GenerationTableTests.cpp - Two files, one search -------------------===//
//
// Reads test/goldens/generation.jsonl, which says what `generate` of
// transformers 4.57.6 makes of a field in config.json and in
// generation_config.json (make_generation_goldens.py), and compares each row
// with the settings of an import. Both are normalised: a length counts the
// start token, what has no effect is left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <map>

using namespace heddle;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

/// Settings by name, as JSON.
using Settings = std::map<std::string, Value>;

constexpr int64_t kVocabulary = 20, kDefaultLength = 20;

Value toJson(mlir::Attribute attribute) {
  if (auto ids = llvm::dyn_cast<mlir::DenseI32ArrayAttr>(attribute))
    return Array(ids.asArrayRef());
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute))
    return number.getInt();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(attribute))
    return text.str();
  Array list;
  for (mlir::Attribute element : llvm::cast<mlir::ArrayAttr>(attribute))
    list.push_back(toJson(element));
  return list;
}

/// What an import says.
Settings normalise(mlir::DictionaryAttr attribute) {
  Settings settings;
  for (mlir::NamedAttribute setting : attribute)
    settings.insert({setting.getName().str(), toJson(setting.getValue())});
  settings.erase("max_target");
  auto find = [&](const char *name) {
    auto found = settings.find(name);
    return found == settings.end() ? std::nullopt
                                   : found->second.getAsInteger();
  };
  settings.insert_or_assign("max_length",
                            find("max_length").value_or(kDefaultLength) + 1);
  if (std::optional<int64_t> least = find("min_new_tokens")) {
    settings.erase("min_new_tokens");
    settings.insert_or_assign("min_length", *least + 1);
  }
  settings.insert({"early_stopping", "false"});
  settings.insert({"top_k", 0});
  return settings;
}

/// What transformers says. Ids beyond the vocabulary never come.
Settings normalise(const Object &outcome) {
  Settings settings;
  // What is `off` is left out.
  auto take = [&](const char *field, const char *name, const Value &off) {
    const Value *value = outcome.get(field);
    if (value && *value != off)
      settings.insert({name, *value});
  };
  auto takeIds = [&](const char *field, const char *name) {
    const Array *list = outcome.getArray(field);
    if (!list)
      return;
    Array known;
    for (const Value &id : *list)
      if (id.getAsInteger() < kVocabulary)
        known.push_back(id);
    settings.insert({name, std::move(known)});
  };
  take("decoder_start_token_id", "start", nullptr);
  take("pad_token_id", "pad", nullptr);
  take("bad_words_ids", "bad_words", nullptr);
  take("forced_bos_token_id", "forced_bos", nullptr);
  takeIds("eos_token_id", "eos");
  // Then the limit alone ends a sequence, and nothing is padded behind an end.
  settings.insert({"eos", Array()});
  takeIds("suppress_tokens", "suppress");
  takeIds("begin_suppress_tokens", "begin_suppress");
  if (const Array *forced = outcome.getArray("forced_eos_token_id")) {
    int64_t best = kVocabulary;
    for (const Value &id : *forced)
      best = std::min(best, *id.getAsInteger());
    settings.insert({"forced_eos", best});
  } else {
    take("forced_eos_token_id", "forced_eos", nullptr);
  }
  take("max_length", "max_length", nullptr);
  // The start token is one of them.
  if (int64_t least = outcome.getInteger("min_length").value_or(0); least > 1)
    settings.insert({"min_length", least});
  if (int64_t size = outcome.getInteger("no_repeat_ngram_size").value_or(0);
      size > 0)
    settings.insert({"no_repeat_ngram", size});
  take("num_beams", "beams", 1);
  take("length_penalty", "length_penalty", 1);
  take("repetition_penalty", "repetition_penalty", 1);
  take("temperature", "temperature", 1);
  take("top_p", "top_p", 1);
  take("min_p", "min_p", 0);
  if (outcome.getBoolean("renormalize_logits").value_or(false))
    settings.insert({"renormalize", 1});
  settings.insert({"top_k", outcome.getInteger("top_k").value_or(0)});
  const Value *early = outcome.get("early_stopping");
  // Beams ask `early_stopping is True`, which 1 is not.
  bool isTrue = early && *early == Value(true);
  settings.insert({"early_stopping", early && *early == Value("never") ? "never"
                                     : isTrue ? "true"
                                              : "false"});
  return settings;
}

std::string print(const Settings &settings) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const auto &[name, value] : settings)
    stream << name << " " << value << ", ";
  return text;
}

/// The fields of a file with a value of the table, which may be none.
Object with(const Object &base, llvm::StringRef field, const Value &value) {
  Object fields = base;
  fields.erase(field);
  if (value != Value("absent"))
    fields[field] = value;
  return fields;
}

/// Compares a class's rows, in the order of the script.
class Table {
public:
  explicit Table(const Object &places) : places(places) {}

  void check(const Object &line);
  size_t rows = 0;

private:
  void checkRow(const Object &config, const Object *generation,
                const std::optional<Object> &outcome);

  Object places;
  mlir::MLIRContext context;
};

void Table::checkRow(const Object &config, const Object *generation,
                     const std::optional<Object> &outcome) {
  ++rows;
  ConfigReader reader(config, "config.json");
  std::optional<ConfigReader> other;
  if (generation)
    other.emplace(*generation, "generation_config.json");
  llvm::Expected<HuggingFaceConfig> model = readHuggingFaceConfig(reader);
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  auto found =
      readGeneration(reader, other ? &*other : nullptr, *model, context);
  std::string sentence = found ? "" : llvm::toString(found.takeError());
  std::string where;
  llvm::raw_string_ostream stream(where);
  stream << Value(Object(config));
  if (generation)
    stream << "\n" << Value(Object(*generation));
  // Defaults of the class may be beyond this vocabulary, where transformers
  // fails later.
  auto isBeyond = [&](const char *field) {
    return outcome->getInteger(field) >= kVocabulary;
  };
  if (!outcome || isBeyond("decoder_start_token_id") ||
      isBeyond("pad_token_id")) {
    EXPECT_NE(sentence, "") << where;
    return;
  }
  ASSERT_EQ(sentence, "") << where;
  Settings right = normalise(*outcome), ours = normalise(*found);
  if (!outcome->getArray("eos_token_id"))
    ours.erase("pad");
  // The library's 50 is not imported.
  if (right.at("top_k") == Value(50))
    ours.insert_or_assign("top_k", 50);
  EXPECT_EQ(print(ours), print(right)) << where;
}

void Table::check(const Object &line) {
  llvm::StringRef field = *line.getString("field");
  const Array &values = *line.getArray("values");
  const Array &outcomes = *line.getArray("outcomes");
  llvm::StringRef digits = *line.getString("rows");
  // Outcomes are differences from the first; [] is a failure.
  auto next = [&]() -> std::optional<Object> {
    char digit = digits.front();
    digits = digits.drop_front();
    const Object *change =
        outcomes[digit <= '9' ? digit - '0' : digit - 'a' + 10].getAsObject();
    if (!change)
      return std::nullopt;
    Object outcome = *outcomes.front().getAsObject();
    for (const auto &[key, value] : *change) {
      outcome.erase(key);
      if (!value.getAsNull())
        outcome[key] = value;
    }
    return outcome;
  };
  for (const char *name : {"none", "own", "derived", "derived, other"}) {
    const Array &place = *places.getArray(name);
    const Object &config = *place[0].getAsObject();
    const Object *generation = place[1].getAsObject();
    std::vector<std::optional<Object>> generations;
    if (!generation)
      generations.emplace_back();
    else
      for (const Value &value : values)
        generations.push_back(with(*generation, field, value));
    for (const std::optional<Object> &one : generations)
      for (const Value &value : values)
        checkRow(with(config, field, value), one ? &*one : nullptr, next());
  }
  EXPECT_EQ(digits, "");
}

TEST(GenerationTable, CombinesAsTransformersDoes) {
  auto buffer = llvm::MemoryBuffer::getFile(HEDDLE_GOLDENS "/generation.jsonl");
  ASSERT_TRUE(bool(buffer));
  std::optional<Table> table;
  size_t rows = 0;
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : lines) {
    llvm::Expected<Value> line = llvm::json::parse(text);
    ASSERT_TRUE(bool(line)) << llvm::toString(line.takeError());
    const Object &fields = *line->getAsObject();
    if (const Object *places = fields.getObject("places")) {
      rows += table ? table->rows : 0;
      table.emplace(*places);
    } else {
      table->check(fields);
    }
  }
  rows += table ? table->rows : 0;
  EXPECT_GT(rows, 8242u);
}

/// What settings of a language model are, as text, or the sentence.
std::string settingsOfPrompted(const std::string &fields) {
  mlir::MLIRContext context;
  auto parsed = llvm::json::parse("{" + fields + "}");
  EXPECT_TRUE(bool(parsed)) << fields;
  ConfigReader config(Object{{"vocab_size", 9}}, "config.json");
  ConfigReader file(*parsed->getAsObject(), "g");
  GeneratingNetwork network{DefaultIds(), /*readsForceBos=*/false,
                            /*sourceVocabulary=*/9, /*vocabulary=*/9,
                            /*positions=*/64};
  network.continuesTexts = true;
  auto settings = readGeneration(config, &file, network, context);
  if (!settings)
    return llvm::toString(settings.takeError());
  std::string text;
  llvm::raw_string_ostream(text) << *settings;
  return text;
}

/// Lengths of transformers count a prompt, and nothing stands in front of it: a
/// minimum that counts a start token is one more;
/// the last token takes no position.
TEST(HuggingFaceGeneration, LengthsCountPrompts) {
  EXPECT_EQ(settingsOfPrompted(R"("eos_token_id": 2, "bos_token_id": 1)"),
            "{eos = array<i32: 2>, max_target = 64 : i32, pad = 2 : i32}");
  EXPECT_EQ(settingsOfPrompted(R"("eos_token_id": [2, 3], "max_length": 40,
              "min_length": 4, "decoder_start_token_id": 5)"),
            "{eos = array<i32: 2, 3>, max_target = 64 : i32, max_whole = 40 : "
            "i32, min_length = 5 : i32, pad = 2 : i32}");
  EXPECT_EQ(settingsOfPrompted(R"("eos_token_id": 2, "max_length": 400)"),
            "{eos = array<i32: 2>, max_target = 64 : i32, pad = 2 : i32}");
  // Both are counts of new tokens.
  EXPECT_EQ(settingsOfPrompted(R"("eos_token_id": 2, "max_length": 40,
              "max_new_tokens": 7)"),
            "{eos = array<i32: 2>, max_length = 7 : i32, "
            "max_target = 64 : i32, pad = 2 : i32}");
  EXPECT_EQ(settingsOfPrompted(R"("eos_token_id": 2, "max_length": 20)"),
            "{eos = array<i32: 2>, max_length = 20 : i32, "
            "max_target = 64 : i32, pad = 2 : i32}");
  EXPECT_EQ(settingsOfPrompted(R"("forced_bos_token_id": 2)"),
            "'g' has 'forced_bos_token_id' with the value 2 (supported: null)");
}

} // namespace
