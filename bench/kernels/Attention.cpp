#include "bench/kernels/AttentionMasks.h"
#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"

#include <cmath>
#include <cstring>
#include <regex>

namespace heddle::bench {

namespace {
/// A score in place of the scaled product; of element d of a query and a key,
/// and of a table where it has one, %x is what is summed.
struct Similarity {
  std::string name, terms;
  /// Operations an element, of which tanh is one.
  double operations;
  /// Whether it is a score region in its place: it makes %x of the product %s.
  bool isScore = false;
};

/// Attention of a batch, all lengths equal; `mask` is one of attentionMasks().
/// A step has one query a row.
struct Shape {
  std::string mask;
  int64_t batch, heads, width, length;
  bool isStep = false;
  /// Of what is multiplied: f32 or bf16.
  std::string element = "f32";
  Similarity similarity = {"", "", 2};

  int64_t columns() const { return heads * width; }
  int64_t queries() const { return isStep ? 1 : length; }
  bool isOfBf16() const { return element == "bf16"; }
  std::string name() const {
    return (isStep ? "step " : "attention ") + similarity.name + mask + " d" +
           std::to_string(width) + " n" + std::to_string(length) + " " +
           std::to_string(batch) + "x" + std::to_string(heads) +
           (isOfBf16() ? " bf16" : "");
  }
  Work work() const {
    int64_t pairs = 0;
    for (int64_t i = length - queries(); i < length; ++i)
      pairs += attentionMasks().at(mask).keys(i, length);
    // Queries, keys and values are read, results of f32 written.
    double bytes = isOfBf16() ? 2 : 4;
    return {(similarity.operations + 2) * batch * heads * width * pairs,
            batch * columns() *
                (bytes * (2 * length + queries()) + 4.0 * queries())};
  }
};
} // namespace

/// Bahdanau's score: 19 instructions a vector of scores and element, one of
/// them a division, of which tanh takes 17. They bound it: 9.5 cycles where two
/// start in each, about 13 measured, since each tanh is one chain.
static const Similarity kAdditive = {"additive ",
                                     R"(
  %sum = arith.addf %a, %b : VECTOR
  %hidden = math.tanh %sum : VECTOR
  %w = transformer.lookup %table[] : TABLE -> VECTOR
  %x = arith.mulf %hidden, %w : VECTOR)",
                                     4};
/// Two instructions for its three operations, a multiply-add for a value's two:
/// five in the time of six, at most 5/6 of the peak.
static const Similarity kDistance = {"rbf ",
                                     R"(
  %difference = arith.subf %a, %b : VECTOR
  %away = arith.negf %difference : VECTOR
  %x = arith.mulf %difference, %away : VECTOR)",
                                     3};

/// ALiBi's bias, of one slope.
static const Similarity kDistanceBias = {"alibi ",
                                         R"(
  %back = arith.subi %i, %j : i32
  %distance = math.absi %back : i32
  %steps = arith.sitofp %distance : i32 to f32
  %slope = arith.constant 0.0625 : f32
  %bias = arith.mulf %slope, %steps : f32
  %x = arith.subf %s, %bias : f32)",
                                         2,
                                         /*isScore=*/true};

static std::string regionOf(const Shape &shape) {
  if (shape.similarity.terms.empty())
    return "";
  if (shape.similarity.isScore)
    return R"( score {
^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):)" +
           shape.similarity.terms + R"(
  transformer.yield %x : f32
})";
  std::string width = std::to_string(shape.width);
  std::string text = R"( similarity {
^bb0(%a: VECTOR, %b: VECTOR):)" +
                     shape.similarity.terms + R"(
  %s = vector.reduction <add>, %x : VECTOR into f32
  transformer.yield %s : f32
})";
  return std::regex_replace(std::regex_replace(text, std::regex("VECTOR"),
                                               "vector<" + width + "xf32>"),
                            std::regex("TABLE"), "tensor<" + width + "xf32>");
}

/// The same in three primitives, for one head.
static Peer peerOf(const Shape &shape, test::EntryCall &call) {
  auto onednn = std::make_shared<OneDnn>();
  std::vector<float> q = call.get("q");
  for (float &value : q)
    value /= std::sqrt(float(shape.width));
  OneDnn::Memory scores = onednn->memory({shape.length, shape.length});
  OneDnn::Memory y = onednn->memory({shape.length, shape.width});
  onednn->matmul(onednn->memory({shape.length, shape.width}, q),
                 onednn->transposed({shape.width, shape.length}, call.get("k")),
                 scores);
  onednn->softmax(scores, scores);
  onednn->matmul(scores,
                 onednn->memory({shape.length, shape.width}, call.get("v")), y);
  return OneDnn::peer(onednn, y);
}

static Module moduleOf(const Shape &shape) {
  std::string columns = std::to_string(shape.columns());
  Sizes memory = {"batch", "source", columns}, query = memory;
  if (shape.isStep) {
    memory = {"rows", "capacity", columns};
    query = {"rows", columns};
  }
  Module module;
  EntryText entry(module, "attention");
  for (auto [name, sizes] :
       {std::pair("q", query), {"k", memory}, {"v", memory}})
    entry.input(name, sizes, shape.element);
  entry.weight("table", {shape.width}, values(shape.width, 4));
  if (shape.isStep)
    entry.ids("positions", {"rows"}).ids("sentences", {"rows"});
  else
    entry.ids("lengths", {"batch"});
  const AttentionMask &mask = attentionMasks().at(shape.mask);
  for (const MaskArgument &argument : mask.arguments)
    entry.input(argument.name, argument.sizes(shape.length), argument.element);
  for (auto [value, op] : mask.ops) {
    for (const MaskArgument &argument : mask.arguments)
      op = std::regex_replace(
          op, std::regex(argument.name + "\\(TYPE\\)"),
          typeOf(argument.sizes(shape.length), argument.element));
    entry.mask(op, value);
  }
  std::string form = shape.isStep ? " at %positions of %sentences" : "";
  entry.yields("attention %q, %k, %v mask(%mask)" + form +
                   " {heads = " + std::to_string(shape.heads) + " : i64}",
               query, regionOf(shape));
  return module;
}

/// Sets an argument of the shape's type. These values have few digits: the
/// upper half of their bits is near enough.
static void setValues(const Shape &shape, test::EntryCall &call,
                      const char *name, const std::vector<float> &values) {
  if (!shape.isOfBf16())
    return call.set(name, values);
  std::vector<uint16_t> halves;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    halves.push_back(uint16_t(bits >> 16));
  }
  call.set(name, halves);
}

static std::string addShape(const Shape &shape, const std::string &target) {
  LayerCase layer{shape.name(),
                  "attention",
                  {{Dim::Batch, shape.batch},
                   {Dim::Source, shape.length},
                   {Dim::Rows, shape.batch},
                   {Dim::Capacity, shape.length}},
                  shape.work(),
                  {}};
  layer.fill = [shape](test::EntryCall &call) {
    setValues(shape, call, "q", values(call.size("q"), 1, 2));
    setValues(shape, call, "k", values(call.size("k"), 2, 2));
    setValues(shape, call, "v", values(call.size("v"), 3, 1));
    if (shape.isStep)
      call.set("positions",
               std::vector<int32_t>(shape.batch, int32_t(shape.length - 1)));
    else
      call.set("lengths",
               std::vector<int32_t>(shape.batch, int32_t(shape.length)));
    for (const MaskArgument &argument :
         attentionMasks().at(shape.mask).arguments) {
      std::vector<int32_t> values = argument.values(shape.length);
      if (argument.element == "i8")
        call.set(argument.name,
                 std::vector<int8_t>(values.begin(), values.end()));
      else
        call.set(argument.name, values);
    }
  };
  if (shape.mask == "full" && shape.batch == 1 && shape.heads == 1 &&
      !shape.isOfBf16() && shape.similarity.terms.empty())
    layer.peer = [shape](test::EntryCall &call) { return peerOf(shape, call); };
  return addCases(moduleOf(shape), {layer}, target);
}

std::string addAttention(const std::string &target) {
  std::vector<Shape> shapes;
  for (int64_t width : {8, 16, 32, 48, 64, 128})
    for (const char *mask : {"full", "causal"})
      shapes.push_back({mask, 1, 1, width, 2048});
  shapes.push_back({"full", 1, 1, 64, 8192});
  shapes.push_back({"window", 1, 1, 64, 8192});
  // Variants that skip work, beside all pairs.
  for (const char *mask :
       {"full", "near", "global", "bigbird", "dilated", "drawn"})
    for (const char *element : {"f32", "bf16"})
      for (int64_t length : {8192, 16384})
        if (mask != std::string("full") || length > 8192 ||
            element != std::string("f32"))
          shapes.push_back({mask, 1, 1, 64, length, /*isStep=*/false, element});
  for (const char *mask : {"causal", "prefix", "segments", "tokens", "random",
                           "blocks", "listed", "where", "table"})
    for (const char *element : {"f32", "bf16"})
      shapes.push_back({mask, 1, 1, 64, 8192, /*isStep=*/false, element});
  for (int64_t length : {4096, 65536, 262144, 1048576})
    for (const char *element : {"f32", "bf16"})
      shapes.push_back({"near", 1, 1, 64, length, /*isStep=*/false, element});
  // Longformer's.
  for (const char *element : {"f32", "bf16"})
    shapes.push_back({"near", 1, 12, 64, 16384, /*isStep=*/false, element});
  // The translation models: encoders, and steps of a batch or a sentence.
  for (int64_t length : {10, 16, 30, 60})
    shapes.push_back({"full", 16, 8, 32, length});
  // Encoders of BART's shape.
  shapes.push_back({"full", 1, 12, 64, 128});
  shapes.push_back({"full", 8, 12, 64, 512});
  for (int64_t batch : {1, 16})
    shapes.push_back({"causal", batch, 8, 32, 30, /*isStep=*/true});
  shapes.push_back({"causal", 4, 8, 64, 512, /*isStep=*/true});
  shapes.push_back({"causal", 1, 32, 64, 2048, /*isStep=*/true});
  for (int64_t width : {64, 128})
    for (int64_t length : {512, 2048})
      for (const char *mask : {"full", "causal"})
        for (const char *element : {"f32", "bf16"})
          if (length != 2048 || element == std::string("bf16"))
            shapes.push_back(
                {mask, 1, 1, width, length, /*isStep=*/false, element});
  for (int64_t length : {16, 60})
    shapes.push_back({"full", 16, 8, 32, length, /*isStep=*/false, "bf16"});
  shapes.push_back({"causal", 16, 8, 32, 30, /*isStep=*/true, "bf16"});
  shapes.push_back({"causal", 4, 8, 64, 512, /*isStep=*/true, "bf16"});
  shapes.push_back({"causal", 1, 32, 64, 2048, /*isStep=*/true, "bf16"});
  for (const Similarity &similarity : {kAdditive, kDistance, kDistanceBias})
    for (const char *element : {"f32", "bf16"}) {
      shapes.push_back(
          {"full", 1, 1, 64, 2048, /*isStep=*/false, element, similarity});
      shapes.push_back(
          {"causal", 4, 8, 64, 512, /*isStep=*/true, element, similarity});
    }
  for (const Shape &shape : shapes) {
    std::string error = addShape(shape, target);
    if (!error.empty())
      return error;
  }
  return "";
}

} // namespace heddle::bench
