//===- Attention.h - Regions of attention, and its normalizer ---*- C++ -*-===//
//
//   normalizer ::= (`normalizer` (`softmax` | `sum` | `none` | region))?
//
// Parsed and printed for the code that is generated from the assembly format;
// masks, projected keys and regions are checked, these for what tilers make of
// attention, too, and their work is counted.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ATTENTION_ATTENTION_H
#define HEDDLE_DIALECT_ATTENTION_ATTENTION_H

#include "dialect/Transformer.h"

namespace heddle {

/// The assembly of a function that an op knows by a name, or that the model
/// writes as a region: (keyword (name | region))?. The last case of its
/// enumeration is `Region`.
struct KindOrRegionSyntax {
  llvm::StringRef keyword;
  /// What may stand behind it, and what that says, for errors.
  llvm::StringRef choices, meaning;
};

/// `kind` has its default, which stays where there is no keyword.
template <typename KindAttr>
mlir::ParseResult parseKindOrRegion(mlir::OpAsmParser &parser, KindAttr &kind,
                                    mlir::Region &region,
                                    const KindOrRegionSyntax &syntax) {
  using Kind = decltype(kind.getValue());
  mlir::MLIRContext *context = parser.getContext();
  if (failed(parser.parseOptionalKeyword(syntax.keyword)))
    return mlir::success();
  mlir::OptionalParseResult parsed = parser.parseOptionalRegion(region);
  if (parsed.has_value()) {
    kind = KindAttr::get(context, Kind::Region);
    return parsed.value();
  }
  llvm::StringRef name;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return mlir::failure();
  std::optional<Kind> value = symbolizeEnum<Kind>(name);
  if (!value || *value == Kind::Region)
    return parser.emitError(loc, "expected ")
           << syntax.choices << ", found '" << name << "'";
  kind = KindAttr::get(context, *value);
  loc = parser.getCurrentLocation();
  if (parser.parseOptionalRegion(region).has_value())
    return parser.emitError(loc, "expected no region beside '")
           << name << "', which says " << syntax.meaning;
  return mlir::success();
}

mlir::ParseResult parseNormalizer(mlir::OpAsmParser &parser,
                                  NormalizerAttr &kind, mlir::Region &region);
void printNormalizer(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     NormalizerAttr kind, mlir::Region &region);

/// Attention's C8 and C15: what its masks tell apart and read.
llvm::LogicalResult verifyMaskOf(AttentionOp op);
/// Attention's C12 of what it multiplies, and C18.
llvm::LogicalResult verifyFactorTypes(AttentionOp op);
/// Attention's C13.
llvm::LogicalResult verifyProjected(AttentionOp op);
/// Attention's C16.
llvm::LogicalResult verifyTaken(AttentionOp op);
/// Attention's C17.
llvm::LogicalResult verifyRelative(AttentionOp op);
/// Attention's C19.
llvm::LogicalResult verifyParts(AttentionOp op);

/// Verifies a region of `op`, which may be empty: attention's C5, C9 and C10,
/// or what masks ask of theirs. Vectors stand in those called similarity alone;
/// `expected` are the types of its arguments, `yielded` that of its result, by
/// default f32.
llvm::LogicalResult verifyRegion(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Region &region,
                                 llvm::ArrayRef<mlir::Type> expected,
                                 mlir::Type yielded = {});
/// Verifies regions of scores and normalizers.
llvm::LogicalResult verifyScoreRegions(mlir::Operation *op, mlir::Region &score,
                                       mlir::Region &normalizer);

/// The type of probabilities that multiply values of type `values`: `values`,
/// or f32 if its range is too small. Softmax gives about 1 at most, and much
/// smaller probabilities do not matter; other normalizers give any size, and
/// f16 has not this range.
mlir::Type probabilityTypeBeside(mlir::Type values, Normalizer normalizer);
inline mlir::Type probabilityTypeOf(AttentionOp op) {
  return probabilityTypeBeside(op.getFactorType(), op.getNormalizer());
}

/// Operations that the similarity of one pair takes: two an element of each
/// scaled product; of a region one an element that is computed or added, and
/// `function` if the op is one of math.
int64_t similarityOperations(AttentionOp op, int64_t function = 1);

/// Whether keys are made of all positions by `project_sequence`, as they are or
/// each by itself through layers behind it: they have no positions of their
/// own.
bool hasProjectedKeys(AttentionOp op);

/// Parts that the past of a row has at most, each some tiles long, and two at
/// least; and rows at most whose pasts are divided, among threads or because
/// rows share them: more rows are enough for all threads.
inline constexpr int64_t kMostParts = 16, kPartTile = 256, kLeastPartTiles = 2,
                         kDividedRows = 16;
/// Elements of `parts` for a part of one head: its sums, and a state for the
/// widest vector of any level.
int64_t partElements(AttentionOp op);

/// Whether a step reads a ring, in which later positions take slots of earlier
/// ones.
bool readsRing(AttentionOp op);

/// Whether queries are rows that `take_rows` lists, as they are or each by
/// itself through layers behind it: they have no positions of their own.
bool hasTakenQueries(AttentionOp op);

/// Whether each query sees all keys of its sentence, and no others: the mask is
/// padding alone.
bool seesWholeSentences(AttentionOp op);

} // namespace heddle

#endif // HEDDLE_DIALECT_ATTENTION_ATTENTION_H
