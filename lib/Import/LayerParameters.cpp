//===- LayerParameters.cpp - Parameters of a model's layers ---------------===//
//
// What LayerBuilder reads of checkpoints, and what it makes of that. Parameters
// stand in front of the functions, in the order in which the model first uses
// them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/LayerBuilder.h"
#include "lib/Support/Error.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Whether two shapes are equal once leading ones are dropped: files give a
/// vector as [n] or as [1, n].
static bool isSameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isOne = [](int64_t extent) { return extent == 1; };
  return a.drop_while(isOne) == b.drop_while(isOne);
}

/// Says of a tensor that is not there which one is: of the same name behind a
/// prefix, as `module.` of torch's DataParallel is, or without one.
static std::string describeNearest(StringRef name,
                                   const WeightSource &weights) {
  auto isBehind = [](StringRef tail, StringRef whole) {
    return whole.size() > tail.size() && whole.ends_with(tail) &&
           whole.drop_back(tail.size()).ends_with(".");
  };
  for (const TensorFile &file : weights.getFiles())
    for (const TensorInfo &tensor : file.getTensors())
      if (isBehind(name, tensor.name))
        return (", but '" + tensor.name + "', with '" +
                StringRef(tensor.name).drop_back(name.size()) +
                "' in front of its name")
            .str();
  for (const TensorFile &file : weights.getFiles())
    for (const TensorInfo &tensor : file.getTensors())
      if (isBehind(tensor.name, name))
        return ", but '" + tensor.name + "'";
  return "";
}

void LayerBuilder::expectEqual(ParameterOp declared,
                               const Parameter &parameter) {
  auto name = cast<NameLoc>(declared.getLoc()).getName();
  ArrayRef<int64_t> shape = declared.getTensorType().getShape();
  if (name != parameter.name)
    fail("tensors '" + name.str() + "' and '" + parameter.name +
         "' would both be the parameter '" + parameter.symbol + "'");
  else if (shape != ArrayRef(parameter.shape) ||
           declared.getTransposed() != parameter.transposed)
    fail("tensor '" + parameter.name + "' is used with shape " +
         formatShape(shape) + (declared.getTransposed() ? " transposed" : "") +
         " and with shape " + formatShape(parameter.shape) +
         (parameter.transposed ? " transposed" : ""));
  else if (std::optional<SourceAttr> source = declared.getSource();
           source && source->getEncoding() == Encoding::IntGemm8 &&
           source->getInputMultiplier() != inputMultiplierOf(parameter))
    fail("tensor '" + parameter.name + "' is used with two input multipliers");
}

FloatAttr LayerBuilder::inputMultiplierOf(const Parameter &parameter) {
  return parameter.inputMultiplier
             ? builder.getF32FloatAttr(*parameter.inputMultiplier)
             : FloatAttr();
}

void LayerBuilder::declare(const Parameter &parameter) {
  if (auto declared = symbols.lookup<ParameterOp>(parameter.symbol))
    return expectEqual(declared, parameter);
  std::optional<WeightSource::Entry> entry = weights.find(parameter.name);
  SourceAttr source;
  if (!entry) {
    // Without a failure the parameter has no source, which others give it.
    if (missing == MissingTensors::Fail)
      fail("the model has no tensor '" + parameter.name + "' (expected shape " +
           formatShape(parameter.fileShape) + ")" +
           describeNearest(parameter.name, weights));
  } else if (!entry->tensor->encoding) {
    fail("tensor '" + parameter.name + "' of '" + entry->file +
         "' has the unsupported element type '" + entry->tensor->elementType +
         "' (supported: F32, F16, BF16)");
  } else if (!isSameShape(entry->tensor->shape, parameter.fileShape)) {
    fail("tensor '" + parameter.name + "' of '" + entry->file + "' has shape " +
         formatShape(entry->tensor->shape) + " but the model needs " +
         formatShape(parameter.fileShape));
  } else {
    bool isQuantized = entry->tensor->encoding == Encoding::IntGemm8;
    source = SourceAttr::get(
        builder.getContext(), entry->file, offsetOf(parameter, *entry->tensor),
        *entry->tensor->encoding,
        isQuantized ? inputMultiplierOf(parameter) : FloatAttr(),
        entry->tensor->multipliersFrom(parameter.firstRow.value_or(0)));
    // Now, and not when it is written.
    if (Error error = weights.prepare(*entry))
      fail(toString(std::move(error)));
  }
  addParameter(parameter, source);
}

int64_t LayerBuilder::offsetOf(const Parameter &parameter,
                               const TensorInfo &tensor) {
  int64_t offset = int64_t(tensor.offset);
  if (!parameter.firstRow)
    return offset;
  // One multiplier stands behind all of its rows.
  if (tensor.encoding == Encoding::IntGemm8)
    fail("tensor '" + tensor.name + "' is of type '" + tensor.elementType +
         "' and has rows of several parameters");
  uint64_t width = 1;
  for (int64_t extent : ArrayRef(parameter.fileShape).drop_front())
    width *= uint64_t(extent);
  return offset + int64_t(storedSize(*tensor.encoding,
                                     uint64_t(*parameter.firstRow) * width));
}

ParameterOp LayerBuilder::addParameter(const Parameter &parameter,
                                       SourceAttr source) {
  OpBuilder::InsertionGuard guard(builder);
  if (auto functions = module.getOps<func::FuncOp>(); !functions.empty())
    builder.setInsertionPoint(*functions.begin());
  else
    builder.setInsertionPointToEnd(module.getBody());
  auto type = RankedTensorType::get(parameter.shape, builder.getF32Type());
  auto op =
      ParameterOp::create(builder, nameLoc(parameter.name), parameter.symbol,
                          type, source, parameter.transposed);
  symbols.insert(op);
  return op;
}

Value LayerBuilder::derive(const Parameter &parameter, Derivation derivation,
                           ArrayRef<double> numbers,
                           ArrayRef<std::string> parts) {
  if (!symbols.lookup(parameter.symbol)) {
    SmallVector<Attribute> names;
    for (const std::string &part : parts)
      names.push_back(FlatSymbolRefAttr::get(builder.getContext(), part));
    ParameterOp made = addParameter(parameter, SourceAttr());
    made.setDerivation(derivation);
    if (!numbers.empty())
      made.setNumbersAttr(builder.getDenseF64ArrayAttr(numbers));
    made.setPartsAttr(builder.getArrayAttr(names));
  }
  return read(parameter);
}

Value LayerBuilder::weight(const Parameter &parameter) {
  declare(parameter);
  return read(parameter);
}

Value LayerBuilder::read(const Parameter &parameter) {
  return WeightOp::create(
      builder, nameLoc(parameter.name),
      RankedTensorType::get(parameter.shape, builder.getF32Type()),
      parameter.symbol);
}

Value LayerBuilder::scaledWeight(const Parameter &parameter, float factor) {
  declare(parameter);
  Parameter scaled;
  scaled.name = parameter.name;
  scaled.shape = parameter.shape;
  scaled.symbol = parameter.symbol + ".scaled";
  Value value = derive(scaled, Derivation::Columns, {}, parameter.symbol);
  setFactor(scaled.symbol, factor);
  return value;
}

Value LayerBuilder::shiftedWeight(const Parameter &parameter, float number,
                                  float factor) {
  declare(parameter);
  Parameter shifted;
  shifted.name = parameter.name;
  shifted.shape = parameter.shape;
  shifted.symbol = parameter.symbol + ".shifted";
  Value value =
      derive(shifted, Derivation::Shifted, double(number), parameter.symbol);
  setFactor(shifted.symbol, factor);
  return value;
}

Value LayerBuilder::relativeBuckets(const Parameter &table,
                                    const Buckets &buckets) {
  declare(table);
  Parameter spread;
  spread.name = table.name;
  spread.shape = {table.shape[1], 2 * buckets.far + 1};
  spread.symbol = table.symbol + ".distances";
  SmallVector<double, 3> numbers = {double(buckets.count), double(buckets.far)};
  if (buckets.isCausal)
    numbers.push_back(1);
  return derive(spread, Derivation::RelativeBuckets, numbers, table.symbol);
}

Value LayerBuilder::relativeVectors(const RelativeTable &table) {
  auto symbolOf = [](Value weight) {
    return weight.getDefiningOp<WeightOp>().getParameter().str();
  };
  auto size = [](Value weight, int64_t axis) {
    return cast<RankedTensorType>(weight.getType()).getDimSize(axis);
  };
  auto madeOf = [&](Value weight, StringRef suffix, int64_t rows,
                    int64_t columns) {
    Parameter made;
    made.name = symbolOf(weight);
    made.shape = {rows, columns};
    made.symbol = made.name + suffix.str();
    return made;
  };
  Value rows = table.rows;
  int64_t count = size(rows, 0), columns = size(table.weight, 1);
  if (table.gamma)
    rows =
        derive(madeOf(rows, ".norms", count, size(rows, 1)),
               Derivation::RowNorms, double(table.epsilon),
               {symbolOf(rows), symbolOf(table.gamma), symbolOf(table.beta)});
  Value products = derive(
      madeOf(table.weight, ".positions", count, columns), Derivation::Product,
      {}, {symbolOf(rows), symbolOf(table.weight), symbolOf(table.bias)});
  return derive(madeOf(table.weight, ".distances", columns, 2 * table.far + 1),
                Derivation::LogBuckets,
                {double(table.buckets), double(table.most), double(table.far)},
                symbolOf(products));
}

Value LayerBuilder::rotaryFrequencies(const Rotary &rotary) {
  Parameter frequencies;
  frequencies.name = "rotary_frequencies";
  frequencies.shape = {rotary.count};
  SmallVector<double> numbers = {rotary.base};
  append_range(numbers, rotary.scaling);
  frequencies.symbol = frequencies.name + "_" + std::to_string(rotary.count);
  for (double number : numbers) {
    SmallString<24> digits("_");
    APFloat(number).toString(digits);
    frequencies.symbol += digits;
  }
  return derive(frequencies, Derivation::RotaryFrequencies, numbers, {});
}

Value LayerBuilder::splitPairs(const Parameter &parameter,
                               const HeadPairs &pairs) {
  declare(parameter);
  Parameter split;
  split.name = parameter.name;
  split.shape = parameter.shape;
  split.symbol = parameter.symbol + ".split";
  return derive(split, Derivation::SplitPairs,
                {double(pairs.headWidth), double(pairs.count)},
                parameter.symbol);
}

Value LayerBuilder::alibiSlopes(int64_t heads, float factor) {
  Parameter slopes;
  slopes.name = "alibi_slopes";
  slopes.symbol = slopes.name + "_" + std::to_string(heads);
  slopes.shape = {heads};
  if (factor != 1)
    slopes.symbol += ".scaled";
  Value value = derive(slopes, Derivation::AlibiSlopes, {}, {});
  setFactor(slopes.symbol, factor);
  return value;
}

void LayerBuilder::setFactor(StringRef symbol, float factor) {
  if (factor != 1)
    symbols.lookup<ParameterOp>(symbol).setFactorAttr(
        builder.getF32FloatAttr(factor));
}

Value LayerBuilder::sinusoidTable(int64_t rows, int64_t width, int64_t pad) {
  Parameter table;
  table.name = table.symbol = "sinusoids";
  for (int64_t number : {rows, width, pad})
    table.symbol += "_" + std::to_string(number);
  table.shape = {rows, width};
  return derive(table, Derivation::Sinusoids, double(pad), {});
}

} // namespace heddle
