//===- Interfaces.td - What a mask, a layer and a state promise -*- tablegen -*-=//

#ifndef HEDDLE_DIALECT_INTERFACES
#define HEDDLE_DIALECT_INTERFACES

include "mlir/IR/OpBase.td"

def MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    A set of (batch, head, query, key). Every lowering, tiler and cache uses
    these methods alone, so that a new variant is one op with two methods.

    Masks among the operands of such an op are results of such ops, too.
  }];
  let verify = "return ::heddle::verifyMaskOperands($_op);";
  let methods = [
    InterfaceMethod<[{
      The predicate: whether the pair at `point` belongs to the set. Coordinates
      are i32 or vectors of i32; the body computes through `lanes`, which splats
      scalars where they meet vectors, so that one body serves both. Masks among
      the operands are asked through `lanes.contains`, which writes each once.
    }], "::mlir::Value", "contains",
      (ins "::heddle::Lanes &":$lanes, "const ::heddle::MaskPoint &":$point)>,
    InterfaceMethod<[{
      The keys that a block of queries may touch, in closed form: ranges whose
      union holds every member, each with a part that holds members only. An
      empty part may be written anywhere. Ranges may overlap; at most
      `kMaxKeyRanges` of them. None if there are more, or if their number
      is known at run time alone: `segmentAt` speaks for these. The default is
      one partial range over all keys: correct, only slower.
    }], "::std::optional<::llvm::SmallVector<::heddle::KeyRange>>", "keyRanges",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::heddle::QueryBlock &":$block),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return {{::heddle::wholeRange(builder, loc, block)}};
      }]>,
    InterfaceMethod<[{
      What a block of queries sees from `key` on, 0 <= key < key count: none of
      the next keys, some of their pairs, or all, and up to where that holds.
      Whoever asks again there walks over any number of ranges, kept nowhere; a
      mask with a list looks the next element up. The default is what `keyRanges`
      says, without which a mask has to write this method.
    }], "::heddle::KeySegment", "segmentAt",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::heddle::QueryBlock &":$block, "::mlir::Value":$key),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::segmentOfRanges(builder, loc, block, $_op->getResult(0),
                                         key);
      }]>,
    InterfaceMethod<[{
      How far before and behind its own position a query may see. Causality, the
      size of a cache and whether a step form exists follow from it. The default
      is unbounded on both sides.
    }], "::heddle::Reach", "reach", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Whether every pair in the band is a member: a key that each query at i sees
      in [i - lookback, i + lookahead], wherever the keys begin and end. With
      `reach`, the other direction, it says that one mask implies another. The
      default is that nobody knows.
    }], "bool", "containsBand", (ins "::heddle::Reach":$band),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{
      A number that divides i - j of every pair, at least 1: positions whose
      remainders differ do not see each other, and each remainder can be tiled by
      itself. The default is 1.
    }], "int64_t", "stride", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return 1;">,
    InterfaceMethod<[{
      Whether the op itself may compare the position of a query, masks among its
      operands not counted. Queries from `take_rows` have none, and no mask that
      does. The default is that it may.
    }], "bool", "knowsQueries", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      Operands of the op itself that have an element for each sentence. The
      default is none.
    }], "::llvm::SmallVector<::mlir::Value>", "operandsOfSentences", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      How many heads the op itself tells apart, masks among its operands not
      counted. The default is none: the same formula for every head, however many
      there are.
    }], "::std::optional<int64_t>", "numHeads", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      The same mask for one head, whose attributes are that head's: kernels of
      heads that differ have constants. The default is the mask itself.
    }], "::mlir::Value", "forHead",
      (ins "::mlir::OpBuilder &":$builder, "int64_t":$head),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op->getResult(0);
      }]>
  ];
}

def KeyListOpInterface : OpInterface<"KeyListOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    A mask that lists the keys of each query, single ones anywhere. Tiles of
    neighbours would hold little else: lowerings gather the keys instead.
  }];
  let methods = [
    InterfaceMethod<[{
      How many places the list of a query has: i32. `point.j` is not read; the
      other coordinates are scalars.
    }], "::mlir::Value", "listSize",
      (ins "::heddle::Lanes &":$lanes, "const ::heddle::MaskPoint &":$point)>,
    InterfaceMethod<[{
      The keys at the places `at`, i32 or lanes of i32 below the size; negative
      if there is none. A key stands at one place at most.
    }], "::mlir::Value", "listedKey",
      (ins "::heddle::Lanes &":$lanes, "const ::heddle::MaskPoint &":$point,
           "::mlir::Value":$at)>
  ];
}

def IncrementalOpInterface : OpInterface<"IncrementalOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    An op of a decoder that can be evaluated position by position. In the full
    form a value that depends on the target has an axis of time; in a step that
    axis is gone and the leading axis counts rows, each at a position of its
    own. Everything else is the same for all positions and is prepared once. A
    chunk is the full form over the first positions of sentences, which leaves
    behind the states that a step goes on from.
  }];
  let methods = [
    InterfaceMethod<[{
      The axis of time of the results, given that of each operand (none for an
      operand that does not depend on the target; at least one has it). Emits an
      error that gives the reason when the op cannot be evaluated position by
      position.
    }], "::llvm::FailureOr<int64_t>", "timeAxis",
      (ins "::heddle::TimeAxes":$axes)>,
    InterfaceMethod<[{
      The states that the step form keeps.
    }], "::llvm::SmallVector<::heddle::StateType>", "stateTypes",
      (ins "::heddle::TimeAxes":$axes),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Builds the step form; returns its results and then the new states. The
      default clones the op, for ops that act on each position alone.
    }], "::llvm::SmallVector<::mlir::Value>", "buildStep",
      (ins "::mlir::OpBuilder &":$builder,
           "::heddle::StepContext &":$step),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::cloneForStep($_op, builder, step);
      }]>,
    InterfaceMethod<[{
      Builds the full form once more, of the first positions, and what leaves the
      states behind them; returns its results and then the new states. The default
      clones the op, for ops without states.
    }], "::llvm::SmallVector<::mlir::Value>", "buildChunk",
      (ins "::mlir::OpBuilder &":$builder,
           "::heddle::ChunkContext &":$chunk),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::cloneForChunk($_op, builder, chunk);
      }]>,
    InterfaceMethod<[{
      Builds the ragged form, if at least one operand is ragged: sequences of a
      batch one behind the other, without padding. Returns its results; fails,
      without an error, if there is none. The default clones ops of which each row
      of the result follows from the rows at the same place.
    }], "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildRagged",
      (ins "::mlir::OpBuilder &":$builder,
           "::heddle::RaggedContext &":$ragged),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::cloneRows($_op, builder, ragged);
      }]>,
    InterfaceMethod<[{
      Whether this is a step form. The default is that the op has one form, which
      acts on each position alone.
    }], "bool", "isStep", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">
  ];
}

def DestinationOpInterface : OpInterface<"DestinationOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    An op that can write its results to operands, one a result and in order.
    Unlike MLIR's DestinationStyleOpInterface the operands are optional in the
    tensor form, all of them together, so that a module reads as mathematics
    until it is bufferised. Operands are all tensors, or all memrefs, and then
    there is no result.
  }];
  let verify = "return ::heddle::verifyForm($_op);";
  let methods = [
    InterfaceMethod<"The operands to write to: one a result, or none.",
      "::mlir::MutableOperandRange", "getDestinationsMutable", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op.getDestinationMutable();
      }]>,
    InterfaceMethod<[{
      Whether destinations are read before they are written, as states are; of a
      cache, what is not written. The default is that they are not.
    }], "bool", "readsDestinations", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">
  ];
  let extraClassDeclaration = [{
    ::mlir::OperandRange getDestinations() { return getDestinationsMutable(); }
    bool hasDestinations() { return !getDestinationsMutable().empty(); }
    bool isDestination(::mlir::OpOperand &operand) {
      return ::llvm::is_contained(
          ::llvm::make_pointer_range(getDestinationsMutable()), &operand);
    }
    void setDestinations(::mlir::ValueRange destinations) {
      getDestinationsMutable().assign(destinations);
    }
  }];
}

def ShortRowsOpInterface : OpInterface<"ShortRowsOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    An op whose vectors of f32 it can write in fewer bits as well, for the next
    product to read: with `also quantize`, `also quantize(a)` or `also round`, what
    the ops `quantize`, with multiplier a, and `round` make of them, bit for bit.
    Results, and destinations, are then y, these and, of `also quantize`, their
    scales. fuse-short-rows adds it.
  }];
  let verify = "return ::heddle::verifyShortRows($_op);";
  let methods = [
    InterfaceMethod<"What becomes of the vectors, beside f32.",
      "::std::optional<::heddle::Shortening>", "getAlso">,
    InterfaceMethod<"That of `also quantize(a)`, [1]; null elsewhere.",
      "::mlir::Value", "getAlsoMultiplier">
  ];
  let extraTraitClassDeclaration = [{
    /// The result and the operand to write it to if there is one of each;
    /// otherwise null.
    ::mlir::Value getOutput() {
      return $_op->getNumResults() == 1 ? $_op->getResult(0) : ::mlir::Value();
    }
    ::mlir::Value getDestination() {
      ::mlir::OperandRange all = $_op.getDestinations();
      return all.size() == 1 ? all.front() : ::mlir::Value();
    }
  }];
}

def RangedLogitsOpInterface : OpInterface<"RangedLogitsOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    An op that keeps a few of the logits x W + b of each range of a vocabulary and
    stores none of the others. Ranges have `getRange()` ids, the last one may be
    shorter. What a row forbids is not among those that it keeps.
  }];
  let methods = [
    InterfaceMethod<"x, and its scales or null.", "::mlir::Value", "getInput">,
    InterfaceMethod<"", "::mlir::Value", "getInputScales">,
    InterfaceMethod<"", "::mlir::IntegerAttr", "getShiftAttr">,
    InterfaceMethod<"W, its scales or null, and b or null.",
      "::mlir::Value", "getWeight">,
    InterfaceMethod<"", "::mlir::OpOperand &", "getWeightMutable">,
    InterfaceMethod<"", "::mlir::Value", "getWeightScales">,
    InterfaceMethod<"", "::mlir::Value", "getBias">,
    InterfaceMethod<"Ids [rows, any number].", "::mlir::Value", "getForbidden">,
    InterfaceMethod<"", "uint64_t", "getRange">,
    InterfaceMethod<"", "uint64_t", "getVocabulary">,
    InterfaceMethod<"", "int64_t", "getNumRanges">
  ];
}

def LayerOpInterface : OpInterface<"LayerOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    What passes ask of a layer op, so that none of them has a list of ops.
  }];
  let methods = [
    InterfaceMethod<[{
      Operands of which each row of the result follows from the row at the same
      place alone, among whatever else. The default is none.
    }], "::llvm::SmallVector<::mlir::Value>", "getRowInputs", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Operands that choose-precision stores in fewer bits if they are parameters.
      The default is none.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "getStoredFactors", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Operands that are multiplied by each other and are no parameters: they may
      be of bf16 or f16, to which choose-precision rounds them. The default is
      none.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "getComputedFactors", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">
  ];
}

def WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::heddle";
  let description = [{
    What a profile says of a layer op on memrefs. What it has to do are index
    values, computed from sizes and masks, never from other contents.
  }];
  let methods = [
    InterfaceMethod<[{
      The name of its kernel: the op, its form and the sizes that are static, as
      in "linear_256x1536", "attention_step_8x32" or "norm_256_quantize". The
      default has the widths of the first operand and of what is written.
    }], "::std::string", "describe", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::describeRows($_op, {});
      }]>,
    InterfaceMethod<[{
      Multiplications and additions. What grows with the result alone (biases,
      activations, norms, exponentials) is not counted, so that a rate above the
      peak of multiply-adds is impossible.
    }], "::mlir::Value", "buildFlops", (ins "::mlir::OpBuilder &":$builder),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::buildByteSize(builder, $_op.getLoc(), {});
      }]>,
    InterfaceMethod<[{
      Bytes to read and to write, each once. The default is the size of all
      operands.
    }], "::mlir::Value", "buildBytes", (ins "::mlir::OpBuilder &":$builder),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::heddle::buildByteSize(
            builder, $_op.getLoc(), $_op->getOperands());
      }]>
  ];
}

#endif // HEDDLE_DIALECT_INTERFACES
