//===- LayerAssembly.h - Assembly of the parts of fused ops -----*- C++ -*-===//
//
//   epilogue ::= (`activation` `(` kind `)`)? (`residual` `(` value `)`)?
//                (`norm` `(` kind `,` value (`,` value)? `,` float `)`)?
//   rounds ::= (`round` (`(` type `)`)?)?
//   rounded-type ::= (`to` type)?
//   also ::= (`also` (`quantize` (`(` value `)`)? | `round` (`(` type `)`)?))?
//   positions ::= (`positions` `(` (`sinusoidal` `,` integer `,` layout
//                                   | `learned` `,` value `,` integer) `)`)?
//   ffn-weights ::= value `,` value (`,` value `,` value)?
//   derivation ::= (keyword (`(` integer (`,` integer)* `)`)?
//                   `of` `[` symbol (`,` symbol)* `]`)?
//   modes ::= `[` mode (`,` mode)* `]`
//   ragged-lists ::= (`ragged` `(` value `,` value `)`
//                     | `ragged_keys` `(` value `,` value `)`)?
//
// A type is f16, or bf16 if none stands.
//
// Called by the code that is generated from the assembly formats.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LAYERASSEMBLY_H
#define HEDDLE_DIALECT_LAYERASSEMBLY_H

#include "dialect/Transformer.h"

namespace heddle {

using ParsedOperand = mlir::OpAsmParser::UnresolvedOperand;

mlir::ParseResult
parseEpilogue(mlir::OpAsmParser &parser, ActivationKindAttr &activation,
              std::optional<ParsedOperand> &residual, NormKindAttr &norm,
              std::optional<ParsedOperand> &gamma,
              std::optional<ParsedOperand> &beta, mlir::FloatAttr &epsilon);
void printEpilogue(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   ActivationKindAttr activation, mlir::Value residual,
                   NormKindAttr norm, mlir::Value gamma, mlir::Value beta,
                   mlir::FloatAttr epsilon);

/// The same of an op whose residual may be a gate.
mlir::ParseResult parseGatedEpilogue(mlir::OpAsmParser &parser,
                                     ActivationKindAttr &activation,
                                     std::optional<ParsedOperand> &residual,
                                     mlir::UnitAttr &gates, NormKindAttr &norm,
                                     std::optional<ParsedOperand> &gamma,
                                     std::optional<ParsedOperand> &beta,
                                     mlir::FloatAttr &epsilon);
void printGatedEpilogue(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        ActivationKindAttr activation, mlir::Value residual,
                        mlir::UnitAttr gates, NormKindAttr norm,
                        mlir::Value gamma, mlir::Value beta,
                        mlir::FloatAttr epsilon);

mlir::ParseResult parseRounds(mlir::OpAsmParser &parser,
                              mlir::TypeAttr &rounds);
void printRounds(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::TypeAttr rounds);
mlir::ParseResult parseRoundedType(mlir::OpAsmParser &parser,
                                   mlir::TypeAttr &type);
void printRoundedType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::TypeAttr type);

mlir::ParseResult parseAlso(mlir::OpAsmParser &parser, ShorteningAttr &also,
                            std::optional<ParsedOperand> &multiplier);
void printAlso(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               ShorteningAttr also, mlir::Value multiplier);

mlir::ParseResult parseRaggedLists(mlir::OpAsmParser &parser,
                                   std::optional<ParsedOperand> &blocks,
                                   std::optional<ParsedOperand> &starts,
                                   std::optional<ParsedOperand> &lengths);
void printRaggedLists(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Value blocks, mlir::Value starts,
                      mlir::Value lengths);

mlir::ParseResult parsePositions(mlir::OpAsmParser &parser,
                                 std::optional<ParsedOperand> &table,
                                 mlir::IntegerAttr &timescales,
                                 PositionLayoutAttr &layout,
                                 mlir::IntegerAttr &offset);
void printPositions(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Value table, mlir::IntegerAttr timescales,
                    PositionLayoutAttr layout, mlir::IntegerAttr offset);

mlir::ParseResult parseFfnWeights(mlir::OpAsmParser &parser,
                                  ParsedOperand &weight1,
                                  std::optional<ParsedOperand> &scales1,
                                  std::optional<ParsedOperand> &bias1,
                                  ParsedOperand &weight2,
                                  std::optional<ParsedOperand> &scales2,
                                  std::optional<ParsedOperand> &bias2);
void printFfnWeights(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::Value weight1, mlir::Value scales1,
                     mlir::Value bias1, mlir::Value weight2,
                     mlir::Value scales2, mlir::Value bias2);

mlir::ParseResult parseDerivation(mlir::OpAsmParser &parser,
                                  DerivationAttr &derivation,
                                  mlir::DenseF64ArrayAttr &numbers,
                                  mlir::ArrayAttr &parts);
void printDerivation(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     DerivationAttr derivation, mlir::DenseF64ArrayAttr numbers,
                     mlir::ArrayAttr parts);

mlir::ParseResult parseModes(mlir::OpAsmParser &parser, mlir::ArrayAttr &modes);
void printModes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::ArrayAttr modes);

} // namespace heddle

#endif // HEDDLE_DIALECT_LAYERASSEMBLY_H
