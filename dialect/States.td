//===- States.td - Recurrences, states and caches -------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_STATES
#define HEDDLE_DIALECT_STATES

include "dialect/Base.td"

def RecurrenceOp : Transformer_LayerOp<"recurrence", [],
                                       ["stateTypes", "buildStep",
                                        "buildChunk", "isStep"],
                                       [], ["readsDestinations"]> {
  let summary = "the simpler simple recurrent unit (SSRU)";
  let description = [{
        c_t = sigmoid(f_t) * c_(t-1) + (1 - sigmoid(f_t)) * v_t,   c_(-1) = 0

    element by element along axis 1 (Kim et al. 2019, D19-5632, section 3.2).
    f and v [batch, length, d] -> [batch, length, d].

    The step form advances one position: f and v [rows, d]; the state
    [rows, d] behind `into` holds c_(t-1) and then c_t, which is the result.

    ```mlir
    %c = transformer.recurrence %f, %v
      : (tensor<?x?x256xf32>, tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) f and v have the same type, of rank 3, or of rank 2 in the step form.
    - (C2) the step form has a state.
  }];
  let arguments = (ins Transformer_Vectors:$forget, Transformer_Vectors:$value,
                       Optional<Transformer_Values>:$destination,
                       UnitAttr:$step);
  let assemblyFormat = [{
    (`step` $step^)? $forget `,` $value (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

/// An op that writes to a state, which is its result.
class Transformer_StateOp<string mnemonic,
                          list<string> destinationMethods = []>
    : Transformer_Op<mnemonic, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<WorkOpInterface, ["buildBytes"]>,
        DeclareOpInterfaceMethods<DestinationOpInterface, destinationMethods>
      ]> {
  let results = (outs Optional<AnyRankedTensor>:$output);
  let hasVerifier = 1;
  code effectsMethod = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::heddle::addDestinationEffects(getOperation(), effects);
    }
  }];
}

def CacheAppendOp : Transformer_StateOp<"cache.append",
                                        ["readsDestinations"]> {
  let summary = "writes one position a row to a cache, in place";
  let description = [{
        cache[caches[r], positions[r] mod slots, :] = x[r, :]

    x [rows, d], positions [rows], caches [rows], cache [number of caches, slots,
    d] -> the cache. Without `in` row r has cache r. With `in` a row keeps its cache
    when rows before it end and other rows take their place: entries of a cache
    never move. No two rows of a call write to one slot of a cache.

    With as many slots as positions it is the usual cache; with the reach of a
    window plus one it is a ring buffer. The first `pinned` positions have slots of
    their own, before the ring: p goes to pinned + (p - pinned) mod (slots -
    pinned).

    ```mlir
    %k1 = transformer.cache.append %k at %positions in %caches into %k0
      : (tensor<?x256xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x256xf32>)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) x is [rows, d], the cache [caches, slots, d] with slots > 0.
    - (C2) both have one element type.
    - (C3) pinned is 0 or more.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Transformer_PerRow:$positions,
                       Optional<Transformer_PerRow>:$caches,
                       Transformer_Factors:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$pinned);
  let assemblyFormat = [{
    $input `at` $positions (`in` $caches^)? `into` $destination attr-dict
        `:` functional-type(operands, results)
  }];
  /// What is not written stays.
  let extraClassDefinition = effectsMethod # [{
    bool $cppClass::readsDestinations() { return true; }
  }];
}

def CacheFillOp : Transformer_StateOp<"cache.fill", ["readsDestinations"]> {
  let summary = "writes the first positions of sentences to a cache, in place";
  let description = [{
    Writes the same as `cache.append`, called for the positions 0 ... lengths[b] - 1
    of sentence b one after the other:

        cache[caches[b], slot(j), :] = x[b, j, :]

    for each position j, unless a later position takes its slot. x [batch, n, d],
    lengths [batch] of at most n, caches [batch], cache [number of caches, slots, d]
    -> the cache; without `in` sentence b has cache b. A chunk leaves its keys and
    values so.

    ```mlir
    %k1 = transformer.cache.fill %k lengths(%n) in %caches into %k0
      : (tensor<?x?x256xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x256xf32>)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) x is [batch, n, d], the cache [caches, slots, d] with slots > 0.
    - (C2) both have one element type.
    - (C3) pinned is 0 or more.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Transformer_PerRow:$lengths,
                       Optional<Transformer_PerRow>:$caches,
                       Transformer_Factors:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$pinned);
  let assemblyFormat = [{
    $input `lengths` `(` $lengths `)` (`in` $caches^)? `into` $destination
        attr-dict `:` functional-type(operands, results)
  }];
  /// What is not written stays.
  let extraClassDefinition = effectsMethod # [{
    bool $cppClass::readsDestinations() { return true; }
  }];
}

def LastRowsOp : Transformer_StateOp<"last_rows"> {
  let summary = "the last row of each sentence, a state of what follows";
  let description = [{
        y[b, :] = x[b, lengths[b] - 1, :],   0 if the length is 0

    x [batch, n, d], lengths [batch] of at most n, the state [batch, d] behind
    `into` -> y. A chunk leaves the state of a recurrence so.

    ```mlir
    %c1 = transformer.last_rows %c lengths(%n) into %c0
      : (tensor<?x?x256xf32>, tensor<?xi32>, tensor<?x256xf32>)
        -> tensor<?x256xf32>
    ```

    Constraints:
    - (C1) x is [batch, n, d], the state [batch, d].
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_PerRow:$lengths,
                       Transformer_Vectors:$destination);
  let assemblyFormat = [{
    $input `lengths` `(` $lengths `)` `into` $destination attr-dict
        `:` functional-type(operands, results)
  }];
  let extraClassDefinition = effectsMethod;
}

#endif // HEDDLE_DIALECT_STATES
