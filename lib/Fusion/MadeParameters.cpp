//===- MadeParameters.cpp - Parameters that passes make of others ---------===//
//
// A made parameter is known by what its bytes follow from, and stands behind
// the last of its parts, since parts are declared before what is made of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Fusion/MadeParameters.h"

using namespace mlir;
using namespace heddle;

MadeParameters::MadeParameters(ModuleOp module)
    : module(module), symbols(module) {
  for (auto parameter : module.getOps<ParameterOp>())
    if (!parameter.isStored() || parameter.isStoredAsIntegers())
      made.try_emplace(keyOf(parameter), parameter);
}

Attribute MadeParameters::keyOf(ParameterOp parameter) {
  Builder builder(parameter.getContext());
  auto orUnit = [&](Attribute attribute) {
    return attribute ? attribute : builder.getUnitAttr();
  };
  return builder.getArrayAttr(
      {parameter.getTypeAttr(), orUnit(parameter.getSourceAttr()),
       orUnit(parameter.getDerivationAttr()),
       orUnit(parameter.getNumbersAttr()), orUnit(parameter.getPartsAttr()),
       orUnit(parameter.getFactorAttr())});
}

ParameterOp MadeParameters::find(Value value) {
  auto weight = value ? value.getDefiningOp<WeightOp>() : WeightOp();
  return weight ? symbols.lookup<ParameterOp>(weight.getParameter())
                : ParameterOp();
}

Value MadeParameters::read(OpBuilder &builder, ParameterOp parameter) {
  return WeightOp::create(builder, parameter.getLoc(),
                          parameter.getTensorType(),
                          FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
}

/// `wq+wk+wv` for parameters of one layer: what the names start with in common,
/// up to a separator, is said once.
static std::string nameOfColumns(ArrayRef<ParameterOp> parts) {
  StringRef first = ParameterOp(parts.front()).getSymName();
  if (parts.size() > 3)
    return (first + "+" + Twine(parts.size() - 1)).str();
  size_t common = first.size();
  for (ParameterOp part : parts) {
    StringRef name = part.getSymName().take_front(common);
    common = std::mismatch(name.begin(), name.end(), first.begin()).first -
             name.begin();
  }
  size_t separator = first.take_front(common).find_last_of("._");
  std::string name = first.str();
  for (ParameterOp part : parts.drop_front())
    name += "+" + part.getSymName().drop_front(separator + 1).str();
  return name;
}

ParameterOp MadeParameters::declare(ParameterOp parameter, const Twine &name,
                                    ParameterOp last) {
  auto [entry, isNew] = made.try_emplace(keyOf(parameter), parameter);
  if (!isNew) {
    parameter.erase();
    return entry->second;
  }
  parameter.setSymName(name.str());
  symbols.insert(parameter, last ? std::next(Block::iterator(last))
                                 : module.getBody()->begin());
  return parameter;
}

/// Not in the module yet, without a name.
static ParameterOp createDetached(RankedTensorType type,
                                  ArrayRef<ParameterOp> parts, Location loc,
                                  Derivation derivation = Derivation::Columns) {
  OpBuilder builder(type.getContext());
  auto parameter = ParameterOp::create(builder, loc, "", type, SourceAttr(),
                                       /*transposed=*/false);
  SmallVector<Attribute> names;
  for (ParameterOp part : parts)
    names.push_back(FlatSymbolRefAttr::get(part.getSymNameAttr()));
  if (!names.empty()) {
    parameter.setPartsAttr(builder.getArrayAttr(names));
    parameter.setDerivation(derivation);
  }
  return parameter;
}

ParameterOp MadeParameters::concatenate(ArrayRef<ParameterOp> parts,
                                        int64_t turn) {
  ParameterOp last = parts.front();
  RankedTensorType type = last.getTensorType();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 0;
  SmallVector<Location> locations;
  for (ParameterOp part : parts) {
    shape.back() += part.getTensorType().getShape().back();
    if (last->isBeforeInBlock(part))
      last = part;
    locations.push_back(part.getLoc());
  }
  ParameterOp columns =
      createDetached(RankedTensorType::get(shape, type.getElementType()), parts,
                     FusedLoc::get(module.getContext(), locations));
  if (turn > 0)
    columns.setNumbers(ArrayRef(double(turn)));
  return declare(columns, nameOfColumns(parts), last);
}

ParameterOp MadeParameters::scale(ParameterOp parameter, float factor) {
  ParameterOp scaled =
      createDetached(parameter.getTensorType(), parameter, parameter.getLoc());
  scaled.setFactorAttr(Builder(module.getContext()).getF32FloatAttr(factor));
  return declare(scaled, parameter.getSymName() + ".scaled", parameter);
}

ParameterOp MadeParameters::zeros(int64_t length) {
  OpBuilder builder(module.getContext());
  ParameterOp zeros = createDetached(
      RankedTensorType::get(length, builder.getF32Type()), {}, module.getLoc());
  zeros.setZeros(true);
  return declare(zeros, "zeros." + Twine(length), ParameterOp());
}

ParameterOp MadeParameters::derive(Derivation derivation,
                                   ArrayRef<ParameterOp> parts, int64_t length,
                                   std::optional<float> factor) {
  ParameterOp first = parts.front(), last = parts.back();
  if (last->isBeforeInBlock(first))
    last = first;
  ParameterOp derived =
      createDetached(ParameterOp::derivedType(derivation, parts, length), parts,
                     first.getLoc(), derivation);
  if (factor)
    derived.setFactorAttr(
        Builder(module.getContext()).getF32FloatAttr(*factor));
  return declare(derived,
                 first.getSymName() + "." + stringifyDerivation(derivation),
                 last);
}

ParameterOp MadeParameters::integers(ParameterOp parameter) {
  OpBuilder builder(module.getContext());
  RankedTensorType type = parameter.getTensorType();
  auto integers = ParameterOp::create(
      builder, parameter.getLoc(), "",
      RankedTensorType::get(type.getShape(), builder.getI8Type()),
      *parameter.getSource(), parameter.getTransposed());
  return declare(integers, parameter.getSymName() + ".integers", parameter);
}
