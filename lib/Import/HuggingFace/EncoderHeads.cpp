//===- EncoderHeads.cpp - Heads that classes put on encoders --------------===//
//
// Labels and what becomes of their logits are those of the pipelines of
// transformers 4.57.6 and of sentence-transformers' CrossEncoder.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderHeads.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

std::string readHeadOfClass(ConfigReader &config) {
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  std::optional<StringRef> name = classes && classes->size() == 1
                                      ? classes->front().getAsString()
                                      : std::nullopt;
  return name ? name->split("For").second.str() : "";
}

/// Labels in the order of their logits: `id2label`, or LABEL_0, LABEL_1, ...
static std::vector<std::string> readLabels(ConfigReader &config) {
  constexpr int64_t most = 1 << 20;
  const json::Value *value = config.readNonNull("id2label");
  const json::Object *names = value ? value->getAsObject() : nullptr;
  if (value && !names)
    config.fail("id2label", "an object of texts");
  int64_t count =
      names ? int64_t(names->size()) : config.integer("num_labels", 2, 1, most);
  std::vector<std::string> labels;
  llvm::StringSet<> known;
  for (int64_t id = 0; id < count; ++id) {
    std::string key = std::to_string(id);
    const json::Value *name = names ? names->get(key) : nullptr;
    std::optional<StringRef> text = name ? name->getAsString() : std::nullopt;
    if (names && !text) {
      config.fail("id2label",
                  "a text for each number from 0 to " + Twine(count - 1));
      return {};
    }
    std::string label = text ? text->str() : "LABEL_" + key;
    if (!known.insert(label).second) {
      config.fail("id2label", "labels that differ");
      return {};
    }
    labels.push_back(std::move(label));
  }
  if (labels.empty())
    config.fail("id2label", "at least one label");
  return labels;
}

/// The activation that CrossEncoder reads in config.json, as a name of scores;
/// empty if it reads none.
static StringRef readCrossEncoderScores(ConfigReader &config) {
  StringRef field = "sbert_ce_default_activation_function";
  const json::Value *value = config.readNonNull(field);
  if (const json::Value *own = config.readNonNull("sentence_transformers"))
    if (const json::Object *settings = own->getAsObject())
      if (const json::Value *activation = settings->get("activation_fn")) {
        field = "sentence_transformers";
        value = activation;
      }
  if (!value || value->getAsNull())
    return "";
  StringRef name = value->getAsString().value_or("");
  bool isOfTorch = name.consume_front("torch.nn.");
  name = name.substr(name.rfind('.') + 1);
  if (isOfTorch && name == "Identity")
    return "none";
  if (isOfTorch && name == "Sigmoid")
    return "sigmoid";
  config.fail(field, "torch.nn.modules.linear.Identity, "
                     "torch.nn.modules.activation.Sigmoid");
  return "";
}

/// What becomes of logits of labels of texts.
static StringRef readScores(ConfigReader &config, size_t labels) {
  if (StringRef scores = readCrossEncoderScores(config); !scores.empty())
    return scores;
  config.require("problem_type", {"regression", "single_label_classification",
                                  "multi_label_classification"});
  std::string problem = config.text("problem_type", "");
  if (problem == "regression")
    return "none";
  bool isSingle = labels == 1 || problem == "multi_label_classification";
  return isSingle ? "sigmoid" : "softmax";
}

//===----------------------------------------------------------------------===//
// Their functions
//===----------------------------------------------------------------------===//

namespace {
class HeadWriter {
public:
  HeadWriter(HuggingFaceFolder &folder, LayerBuilder &layers,
             const EncoderHeads &heads, const HeadInputs &inputs,
             ImportedModel &model)
      : folder(folder), layers(layers), blocks(layers), heads(heads),
        inputs(inputs), model(model), builder(&folder.context) {}

  void addClassify();
  void addTag();
  void addAnswer();
  void addFill();

private:
  bool hasTensors(const std::string &name, StringRef task);
  SmallVector<Value> begin(StringRef task, int64_t width,
                           const LayerBuilder::Argument *other);
  std::vector<std::string> labelsFor(const std::string &name);
  void addTask(StringRef name, ArrayRef<NamedAttribute> settings);
  NamedAttribute labelsOf(ArrayRef<std::string> labels);

  HuggingFaceFolder &folder;
  LayerBuilder &layers;
  Blocks blocks;
  const EncoderHeads &heads;
  const HeadInputs &inputs;
  ImportedModel &model;
  Builder builder;
};
} // namespace

/// Whether the file has a head, whose weight is there. Random weights are.
bool HeadWriter::hasTensors(const std::string &name, StringRef task) {
  if (folder.options.randomSeed || layers.find(name + ".weight"))
    return true;
  model.warnings.push_back(
      ("'" + folder.path + "' is of a class for the task '" + task +
       "', but has no tensor '" + name + ".weight': the model is without it")
          .str());
  return false;
}

/// Begins the function of a task over hidden states and perhaps something else,
/// with so many logits.
SmallVector<Value> HeadWriter::begin(StringRef task, int64_t width,
                                     const LayerBuilder::Argument *other) {
  LayerBuilder::Function function;
  function.name = function.task = task;
  function.arguments = {{"memory", {"batch", "source"}, inputs.width}};
  if (other)
    function.arguments.push_back(*other);
  function.resultName = "logits";
  function.resultWidth = width;
  function.isOfTokens = task != kClassifyTask;
  return layers.beginFunction(function);
}

static Value applyBlock(LayerBuilder &layers, Value x, const HeadBlock &block) {
  Blocks blocks(layers);
  if (block.dense)
    x = blocks.linear(x, *block.dense);
  if (block.activation)
    x = layers.activation(*block.activation, x);
  return block.norm ? blocks.norm(x, *block.norm) : x;
}

/// The labels of a head, of which its weight has a row for each.
std::vector<std::string> HeadWriter::labelsFor(const std::string &name) {
  std::vector<std::string> labels = readLabels(folder.config);
  const TensorInfo *weight = layers.find(name + ".weight");
  if (weight && weight->shape.size() == 2 && !labels.empty() &&
      weight->shape.front() != int64_t(labels.size()))
    layers.fail("'" + folder.config.getPath() + "' has " +
                Twine(labels.size()) +
                (labels.size() == 1 ? " label" : " labels") +
                " ('id2label', 'num_labels'), but tensor '" + name +
                ".weight' has " + Twine(weight->shape.front()) + " rows");
  return labels;
}

void HeadWriter::addTask(StringRef name, ArrayRef<NamedAttribute> settings) {
  NamedAttrList task(settings);
  if (inputs.maxTokens)
    task.set(kMaxTokensKey,
             builder.getI32IntegerAttr(int32_t(*inputs.maxTokens)));
  setTask(*model.module, name, task.getDictionary(&folder.context));
}

NamedAttribute HeadWriter::labelsOf(ArrayRef<std::string> labels) {
  SmallVector<StringRef> names(labels.begin(), labels.end());
  return builder.getNamedAttr(kLabelsKey, builder.getStrArrayAttr(names));
}

void HeadWriter::addClassify() {
  if (!hasTensors(heads.classifier, kClassifyTask))
    return;
  std::vector<std::string> labels = labelsFor(heads.classifier);
  auto count = int64_t(labels.size());
  LayerBuilder::Argument lengths = {"lengths", {"batch"}};
  auto values = begin(kClassifyTask, count, &lengths);
  Value x = layers.pool({heads.pooling}, values[0], values[1], Value());
  x = blocks.linear(applyBlock(layers, x, heads.classify),
                    {heads.classifier, count});
  layers.endFunction(x);
  StringRef scores = readScores(folder.config, labels.size());
  addTask(kClassifyTask,
          {labelsOf(labels),
           builder.getNamedAttr(kScoresKey, builder.getStringAttr(scores))});
}

void HeadWriter::addTag() {
  if (!hasTensors(heads.tagger, kTagTask))
    return;
  std::vector<std::string> labels = labelsFor(heads.tagger);
  auto count = int64_t(labels.size());
  auto values = begin(kTagTask, count, /*other=*/nullptr);
  layers.endFunction(blocks.linear(applyBlock(layers, values[0], heads.tag),
                                   {heads.tagger, count}));
  addTask(kTagTask, labelsOf(labels));
}

/// The pipeline reads windows of no more tokens.
static constexpr int64_t kMostAnswerTokens = 384;

void HeadWriter::addAnswer() {
  if (!hasTensors(heads.answerer, kAnswerTask))
    return;
  if (inputs.padsLeft) {
    model.warnings.push_back("the tokenizer in '" + folder.path +
                             "' pads on the left, so that a text stands in "
                             "front of its question: the model is without the "
                             "task 'answer'");
    return;
  }
  auto values = begin(kAnswerTask, /*width=*/2, /*other=*/nullptr);
  layers.endFunction(blocks.linear(applyBlock(layers, values[0], heads.answer),
                                   {heads.answerer, 2}));
  int64_t most =
      std::min(inputs.maxTokens.value_or(kMostAnswerTokens), kMostAnswerTokens);
  NamedAttrList task;
  auto set = [&](StringRef key, int64_t value) {
    task.set(key, builder.getI32IntegerAttr(int32_t(value)));
  };
  set(kMaxTokensKey, most);
  if (heads.separator) {
    // The class counts these, and runs on no others.
    if (inputs.end && inputs.end != heads.separator)
      folder.config.fail("sep_token_id",
                         Twine(*inputs.end) +
                             ", with which the tokenizer ends texts");
    set(kSeparatorKey, *heads.separator);
  }
  setTask(*model.module, kAnswerTask, task.getDictionary(&folder.context));
}

/// Whether the file has the head of masked words. Bare encoders often keep the
/// name of the class that they were trained as.
static bool hasWordHead(const HuggingFaceFolder &folder,
                        const LayerBuilder &layers, const EncoderHeads &heads) {
  const std::optional<LinearBlock> &dense = heads.fill.dense;
  return dense &&
         (folder.options.randomSeed || layers.find(dense->name + ".weight"));
}

/// See buildWordLogits; the file has the head.
static Value wordLogits(HuggingFaceFolder &folder, LayerBuilder &layers,
                        const EncoderHeads &heads, const HeadInputs &inputs,
                        Value x) {
  x = applyBlock(layers, x, heads.fill);
  bool isTied = folder.config.truth("tie_word_embeddings", true);
  TableBlock table{isTied ? heads.words : heads.untiedWords, inputs.vocabulary,
                   inputs.tableWidth};
  Value bias;
  if (!heads.fillBiases.empty()) {
    auto found = find_if(heads.fillBiases, [&](const std::string &each) {
      return layers.find(each) != nullptr;
    });
    bool isFound = found != heads.fillBiases.end();
    bias = layers.weight({isFound ? *found : heads.fillBiases.front(),
                          {inputs.vocabulary},
                          /*transposed=*/false,
                          {inputs.vocabulary}});
  }
  return Blocks(layers).logits(x, table, isTied, bias);
}

Expected<Value> buildWordLogits(HuggingFaceFolder &folder, LayerBuilder &layers,
                                const EncoderHeads &heads,
                                const HeadInputs &inputs, Value x) {
  if (!heads.fill.dense)
    return makeError("'" + folder.path +
                     "' is of a family without a head of "
                     "masked words, which sparse vectors are made of");
  if (!hasWordHead(folder, layers, heads))
    return makeError("'" + folder.path + "' has no tensor '" +
                     heads.fill.dense->name +
                     ".weight' of the head of masked "
                     "words, which sparse vectors are made of");
  return wordLogits(folder, layers, heads, inputs, x);
}

void HeadWriter::addFill() {
  if (!hasWordHead(folder, layers, heads))
    return;
  if (!inputs.mask || *inputs.mask >= inputs.vocabulary) {
    model.warnings.push_back("the tokenizer of '" + folder.path +
                             "' has no mask of the vocabulary: the model is "
                             "without the task 'fill'");
    return;
  }
  LayerBuilder::Argument masks = {"masks", {"batch", "masks"}};
  auto values = begin(kFillTask, inputs.vocabulary, &masks);
  layers.endFunction(wordLogits(folder, layers, heads, inputs,
                                layers.takeRows(values[0], values[1])));
  addTask(kFillTask,
          builder.getNamedAttr(
              kMaskKey, builder.getI32IntegerAttr(int32_t(*inputs.mask))));
}

/// Says that a head goes unused if no class tells which it is.
static void warnOfUnknownHead(HuggingFaceFolder &folder,
                              const LayerBuilder &layers,
                              const EncoderHeads &heads, ImportedModel &model) {
  const json::Value *value = folder.config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  if (classes && classes->size() == 1 && classes->front().getAsString())
    return;
  for (const std::string &name :
       {heads.classifier, heads.tagger, heads.answerer})
    if (layers.find(name + ".weight")) {
      model.warnings.push_back(
          "'" + folder.path + "' has a tensor '" + name +
          ".weight', but no class in 'architectures' of config.json that says "
          "what it is for: the model is without it");
      return;
    }
}

Error addHeads(HuggingFaceFolder &folder, LayerBuilder &layers,
               const EncoderHeads &heads, const HeadInputs &inputs,
               ImportedModel &model) {
  HeadWriter writer(folder, layers, heads, inputs, model);
  std::string head = readHeadOfClass(folder.config);
  if (head == "SequenceClassification")
    writer.addClassify();
  else if (head == "TokenClassification")
    writer.addTag();
  else if (head == "QuestionAnswering")
    writer.addAnswer();
  else if (head == "MaskedLM" || head == "PreTraining")
    writer.addFill();
  else if (head.empty())
    warnOfUnknownHead(folder, layers, heads, model);
  else
    model.warnings.push_back("'" + folder.path + "' is of a class for " + head +
                             ", a head that is not supported: the model is "
                             "without it");
  return folder.config.takeError();
}

} // namespace heddle
