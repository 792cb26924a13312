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

def ParameterOp : Transformer_Op<"parameter", [Symbol]> {
  let summary = "a tensor of the model";
  let description = [{
    Declares a parameter; its bytes stay in the memory-mapped checkpoint until
    the artifact is written. Without a source it is bound by name to the file
    given with `--weights`. `transposed` says that the file stores the transpose
    (of a rank-2 tensor). `place-weights` adds its place in the artifact.

    ```mlir
    transformer.parameter @encoder_l1_ffn_W1 : tensor<256x1536xf32>
      from <"model.bin", offset = 8192, encoding = intgemm8> transposed
    ```

    Constraints:
    - (C1) the shape is static, of at most 2^40 elements.
    - (C2) a transposed parameter has rank 2.
    - (C3) `placed` is a multiple of 64, at least 0.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<RankedTensorOf<[F32]>>:$type,
                       OptionalAttr<Transformer_Source>:$source,
                       UnitAttr:$transposed, OptionalAttr<I64Attr>:$placed);
  let assemblyFormat = [{
    $sym_name `:` $type (`from` $source^)? (`transposed` $transposed^)?
        (`placed` `at` $placed^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
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
