//===- Base.td - The dialect, its types and classes of ops ----*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_BASE
#define HEDDLE_DIALECT_BASE

include "dialect/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::heddle";
  let summary = "Transformers, written as the mathematics of their papers";
  let description = [{
    Tensor-level and functional, dynamic in batch and length. A model is a set
    of functions over `transformer.parameter`s; attention takes its mask as a
    symbolic value; states and caches appear only after `split-phases` has
    derived a decode step.

    Widths (the last dimension of an activation, both of a weight) are static,
    batch and lengths are dynamic. Every layer op has two forms:

    - on tensors it is a pure function, mostly with one result;
    - on memrefs it writes its results to the operands behind `into` and has
      none.

    In the tensor form `into` is optional: it names tensors whose buffers the
    results are to take (a function's result, a state).

    Attributes of modules, functions and their arguments and results. Any other
    with the dialect's prefix is an error, and so is an attribute of an op that
    is neither its own nor has the prefix of another dialect.

    | attribute | on | meaning |
    |---|---|---|
    | `transformer.family` | module | the kind of model, for people |
    | `transformer.source` | module | of texts that are read: `vocabulary` and, if it is bounded, `positions` |
    | `transformer.tasks` | module | what it does, in the manifest's keys: `generate`, with a `vocabulary` and how to generate; `embed`; `classify` and `tag`, with `labels`; `fill`, with the `mask` that is guessed; nothing if hidden states are all that is wanted |
    | `transformer.task` | function | the task that it computes from what the encoder returns: `"embed"`, `"classify"`, `"tag"`, `"answer"` or `"fill"` |
    | `transformer.forms` | function | forms to compile: `"full"`, `"step"`, `"extend"`, `"chunk"`, `"align"` |
    | `transformer.alignment` | function | which attention to the memory shows alignments: that of `layer`, from 0 or, if it is negative, from the end (-1), and of its `heads` the first ones, or all if it is 0 (0) |
    | `transformer.heads` | function | of an align form: how many heads `queries` and `keys` have, how many of the first ones are `aligned`, and the `scale` of products |
    | `transformer.role` | function | what the runtime calls it for, see split-phases |
    | `transformer.decoder` | function | the decoder that it is a form of |
    | `transformer.name` | argument, result | its name in the artifact |
    | `transformer.dims` | argument, result | names of its dynamic dimensions, in order |
    | `transformer.dims` | function | names of the sizes that an entry point takes |
    | `transformer.target` | argument | the target, ids or vectors: dimension 1 is time |
    | `transformer.prepared` | argument | a result of the prepare function |
    | `transformer.state` | argument | carried from step to step, updated in place |
    | `transformer.pinned` | argument | of a ring that is a state, slots of the first positions |
    | `transformer.output` | argument | a result's buffer, given by the caller |
    | `transformer.arena` | argument | scratch memory |
    | `transformer.arena` | function | the function whose scratch it measures |
    | `transformer.entry` | function | an entry point, in the manifest's words |
    | `transformer.kernel` | function | called by entry points, unknown outside |
    | `transformer.work` | function | the function that counts a kernel's work |
    | `transformer.kernels` | module | names of the kernels that a profile counts |
    | `transformer.kernel_types` | module | what each of them multiplies: `"f32"`, `"bf16"`, `"f16"`, `"i8"` |
    | `transformer.layers` | module | names of the layers that kernels compute |
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Transformer_HasKnownAttributes : NativeOpTrait<"HasKnownAttributes"> {
  let cppNamespace = "::heddle";
}

class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic,
         !listconcat(traits, [Transformer_HasKnownAttributes])>;

class Transformer_Cases<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::heddle";
  let genSpecializedAttr = 0;
}
class Transformer_Enum<EnumAttrInfo cases, string mnemonic>
    : EnumAttr<Transformer_Dialect, cases, mnemonic> {
  let assemblyFormat = "$value";
}

def Transformer_ShorteningCases : Transformer_Cases<"Shortening", [
    I32EnumAttrCase<"Quantize", 0, "quantize">,
    I32EnumAttrCase<"Round", 1, "round">,
    I32EnumAttrCase<"RoundToF16", 2, "round_to_f16">,
    I32EnumAttrCase<"QuantizeRotated", 3, "quantize_rotated">
  ]>;
def Transformer_Shortening : Transformer_Enum<Transformer_ShorteningCases, "shortening"> {
  let summary = "how vectors get fewer bits";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Transformer_Mask : TypeDef<Transformer_Dialect, "Mask"> {
  let mnemonic = "mask";
  let summary = "a set of (batch, head, query, key), never a matrix";
  let description = [{
    Coordinates are absolute positions, so that one mask serves the full form,
    a prefill chunk and a decode step. A mask is always built by ops that
    implement `MaskOpInterface`, never a block argument.
  }];
}

class Transformer_Shaped<list<Type> elements, string elementNames,
                         string condition, string summary>
    : Type<And<[AnyTypeOf<[RankedTensorOf<elements>,
                           MemRefOf<elements>]>.predicate,
                CPred<"::llvm::cast<::mlir::ShapedType>($_self)" # condition>]>,
           summary # " (" # elementNames # " tensor or memref)">;
class Transformer_ValuesOf<list<Type> elements, string elementNames>
    : Transformer_Shaped<elements, elementNames, ".getRank() > 0",
                         "values of rank 1 or more">;
/// The last dimension is the width.
class Transformer_VectorsOf<list<Type> elements, string elementNames>
    : Transformer_Shaped<elements, elementNames,
                         ".getRank() > 0 && "
                         "::llvm::cast<::mlir::ShapedType>($_self)"
                         ".getShape().back() > 0",
                         "vectors of a static width">;
def Transformer_Values : Transformer_ValuesOf<[F32], "f32">;
def Transformer_Vectors : Transformer_VectorsOf<[F32], "f32">;
/// What attention multiplies; short floats come from `round`.
def Transformer_FloatVectors
    : Transformer_VectorsOf<[F32, BF16, F16], "f32, bf16 or f16">;
def Transformer_Floats
    : Transformer_ValuesOf<[F32, BF16, F16], "f32, bf16 or f16">;
/// What a product multiplies, or a cache keeps; short floats and i8 come from
/// `round` and `quantize`.
def Transformer_Factors : Transformer_VectorsOf<[F32, BF16, F16, I8],
                                                "f32, bf16, f16 or i8">;
/// What a table holds, or what is looked up in one.
def Transformer_Entries : Transformer_ValuesOf<[F32, BF16, F16, I8],
                                               "f32, bf16, f16 or i8">;
/// What `round` makes.
def Transformer_ShortFloat : TypeAttrOf<AnyTypeOf<[BF16, F16]>>;
/// What products multiply in place of f32.
def Transformer_ShortType : TypeAttrOf<AnyTypeOf<[BF16, F16, I8]>>;
def Transformer_Count : ConfinedAttr<I64Attr, [IntPositive]>;
def Transformer_Ids
    : AnyTypeOf<[RankedTensorOf<[I32]>, MemRefOf<[I32]>],
                "ids (i32 tensor or memref)">;
/// One i32 a row: lengths, positions, rows of another tensor.
def Transformer_PerRow
    : AnyTypeOf<[1DTensorOf<[I32]>, MemRefRankOf<[I32], [1]>],
                "one i32 a row (rank-1 tensor or memref)">;

//===----------------------------------------------------------------------===//
// Classes of ops
//===----------------------------------------------------------------------===//

/// An op computed from its operands alone; see the dialect's description for its
/// two forms. Unless an op says otherwise it has at most one result, whose
/// leading dimensions are those of the first operand.
class Transformer_LayerOp<string mnemonic, list<Trait> traits = [],
                          list<string> incrementalMethods = [],
                          list<string> workMethods = [],
                          list<string> destinationMethods = [],
                          list<string> layerMethods = []>
    : Transformer_Op<mnemonic, !listconcat(traits, [
        InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<IncrementalOpInterface, incrementalMethods>,
        DeclareOpInterfaceMethods<DestinationOpInterface, destinationMethods>,
        DeclareOpInterfaceMethods<LayerOpInterface, layerMethods>,
        DeclareOpInterfaceMethods<WorkOpInterface, workMethods>
      ])> {
  let results = (outs Optional<AnyRankedTensor>:$output);
  let hasVerifier = 1;
  code reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::heddle::reifyLeadingShape(getOperation(), builder, shapes);
    }
  }];
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::heddle::addDestinationEffects(getOperation(), effects);
    }
  }] # reifyMethod;
}

/// One whose vectors may be written in fewer bits, too.
class Transformer_RowsOp<string mnemonic, list<string> incrementalMethods = [],
                         list<string> workMethods = [],
                         list<string> layerMethods = []>
    : Transformer_LayerOp<mnemonic,
                          [AttrSizedOperandSegments, ShortRowsOpInterface],
                          incrementalMethods, workMethods, [], layerMethods> {
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
}

#endif // HEDDLE_DIALECT_BASE
