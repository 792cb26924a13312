//===- Weights.td - Parameters and their bytes ----------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_WEIGHTS
#define HEDDLE_DIALECT_WEIGHTS

include "dialect/Base.td"
include "mlir/IR/SymbolInterfaces.td"

def Transformer_EncodingCases : Transformer_Cases<"Encoding", [
    I32EnumAttrCase<"F32", 0, "f32">,
    I32EnumAttrCase<"F16", 1, "f16">,
    I32EnumAttrCase<"BF16", 2, "bf16">,
    I32EnumAttrCase<"IntGemm8", 3, "intgemm8">
  ]>;
def Transformer_Encoding : Transformer_Enum<Transformer_EncodingCases, "encoding"> {
  let summary = "how a file stores a tensor";
}

def Transformer_Source : AttrDef<Transformer_Dialect, "Source"> {
  let mnemonic = "source";
  let summary = "where the bytes of a parameter stand";
  let description = [{
    `file` is one of the files of the model's weight source, `offset` >= 0 counts
    bytes. `intgemm8` is Marian's: int8 values, then one f32 multiplier m; the
    weight is value / m.
  }];
  let parameters = (ins StringRefParameter<"file">:$file, "int64_t":$offset,
                        EnumParameter<Transformer_EncodingCases>:$encoding);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` $file `,` `offset` `=` $offset `,` `encoding` `=` $encoding `>`
  }];
}

def ParameterOp : Transformer_Op<"parameter",
    [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor of the model";
  let description = [{
    Declares a parameter; its bytes stay in the memory-mapped checkpoint until
    the artifact is written. Without a source it is bound by name to the file
    given with `--weights`. `transposed` says that the file stores the transpose
    (of a rank-2 tensor). `place-weights` adds its place in the artifact.

    Fusion passes make parameters of others: `columns of` concatenates them along
    the last axis, `zeros` has no bytes in any file, `scaled by` multiplies each
    element, rounded to f32. They, too, are computed while the artifact is
    written, a block of rows at a time.

    `packed [n0, n1, ...]`, from `pack-weights`, says that the parameter is a
    weight [in, n0 + n1 + ...] in panels: each part is cut into panels of 32
    columns, filled up with zeros, and a panel has its columns side by side for
    one input after the other: [panels, in, 32]. A kernel reads a panel from its
    beginning to its end.

    ```mlir
    transformer.parameter @encoder_l1_ffn_W1 : tensor<256x1536xf32>
      from <"model.bin", offset = 8192, encoding = intgemm8> transposed
    transformer.parameter @qkv : tensor<256x768xf32> columns of [@q, @k, @v]
    transformer.parameter @none : tensor<256xf32> zeros
    transformer.parameter @half : tensor<256xf32> columns of [@b] scaled by 0.5
    ```

    Constraints:
    - (C1) the shape is static, of at most 2^40 elements.
    - (C2) a transposed parameter has rank 2.
    - (C3) `placed` is a multiple of 64, at least 0.
    - (C4) at most one of source, `columns of` and `zeros` is given;
      `transposed` and either of the last two do not go together.
    - (C5) there is a part, each is a parameter declared before, and they have
      the leading dimensions of this one and widths that add up to its.
    - (C6) the factor is finite.
    - (C7) a packed parameter is [panels, in, 32] with the panels of its parts,
      each of at least one column.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<RankedTensorOf<[F32]>>:$type,
                       OptionalAttr<Transformer_Source>:$source,
                       UnitAttr:$transposed,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$parts,
                       UnitAttr:$zeros, OptionalAttr<F32Attr>:$factor,
                       OptionalAttr<DenseI64ArrayAttr>:$packed,
                       OptionalAttr<I64Attr>:$placed);
  let assemblyFormat = [{
    $sym_name `:` $type (`from` $source^)? (`transposed` $transposed^)?
        (`columns` `of` $parts^)? (`zeros` $zeros^)?
        (`scaled` `by` $factor^)? (`packed` $packed^)?
        (`placed` `at` $placed^)? attr-dict
  }];
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$symbol,
                   "::mlir::RankedTensorType":$type,
                   "::heddle::SourceAttr":$source, "bool":$transposed), [{
      build($_builder, $_state, $_builder.getStringAttr(symbol),
            ::mlir::TypeAttr::get(type), source,
            transposed ? $_builder.getUnitAttr() : ::mlir::UnitAttr(),
            /*parts=*/::mlir::ArrayAttr(), /*zeros=*/::mlir::UnitAttr(),
            /*factor=*/::mlir::FloatAttr(),
            /*packed=*/::mlir::DenseI64ArrayAttr(),
            /*placed=*/::mlir::IntegerAttr());
    }]>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The parameters it is made of; null where one is not declared.
    ::llvm::SmallVector<ParameterOp, 0> getPartOps();
    /// Whether its bytes stand in one place of a file.
    bool isStored() { return !getParts() && !getZeros(); }
    /// The shape before it was packed: that of the tensor in the checkpoint.
    ::llvm::SmallVector<int64_t> getLogicalShape();
  }];
}

def WeightOp : Transformer_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a parameter";
  let description = [{
    ```mlir
    %w = transformer.weight @encoder_l1_ffn_W1 : tensor<256x1536xf32>
    ```

    Constraints:
    - (C1) `parameter` names a `transformer.parameter` of the same shape.
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Transformer_Values:$value);
  let assemblyFormat = "$parameter attr-dict `:` type($value)";
}

#endif // HEDDLE_DIALECT_WEIGHTS
