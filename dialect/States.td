//===- States.td - Recurrences, states and caches -------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_STATES
#define HEDDLE_DIALECT_STATES

include "dialect/Base.td"

def RecurrenceOp : Transformer_LayerOp<"recurrence", [],
                                       ["stateTypes", "buildStep", "isStep"],
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

def CacheAppendOp : Transformer_Op<"cache.append", [
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
      DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
      DeclareOpInterfaceMethods<WorkOpInterface, ["buildBytes"]>,
      DeclareOpInterfaceMethods<DestinationOpInterface, ["readsDestinations"]>
    ]> {
  let summary = "writes one position a row to a cache, in place";
  let description = [{
        cache[r, positions[r] mod slots, :] = x[r, :]

    x [rows, d], positions [rows], cache [rows, slots, d] -> the cache. With as
    many slots as positions it is the usual cache; with the reach of a window
    plus one it is a ring buffer. The first `pinned` positions have slots of their
    own, before the ring: p goes to pinned + (p - pinned) mod (slots - pinned).

    ```mlir
    %k1 = transformer.cache.append %k at %positions into %k0
      : (tensor<?x256xf32>, tensor<?xi32>, tensor<?x?x256xf32>)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) x is [rows, d], the cache [rows, slots, d] with slots > 0.
    - (C2) both have one element type.
    - (C3) pinned is 0 or more.
  }];
  let arguments = (ins Transformer_FloatVectors:$input,
                       Transformer_PerRow:$positions,
                       Transformer_FloatVectors:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$pinned);
  let results = (outs Optional<AnyRankedTensor>:$output);
  let assemblyFormat = [{
    $input `at` $positions `into` $destination attr-dict
        `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    /// What is not written stays.
    bool $cppClass::readsDestinations() { return true; }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::heddle::addDestinationEffects(getOperation(), effects);
    }
  }];
}

#endif // HEDDLE_DIALECT_STATES
