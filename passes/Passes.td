//===- Passes.td - Heddle's passes, in pipeline order ---------*- tablegen -*-===//

#ifndef HEDDLE_PASSES_PASSES
#define HEDDLE_PASSES_PASSES

include "mlir/Pass/PassBase.td"

def SplitPhasesPass : Pass<"transformer-split-phases", "::mlir::ModuleOp"> {
  let summary = "Derive prepare and step from a decoder";
  let description = [{
    Comes in: functions with `transformer.forms`, written over whole sequences.
    For each one whose forms include "step", an analysis marks the values that
    depend on the target (the argument with `transformer.target`) and which of
    their dimensions is time. Then

    - `@f.prepare` computes what does not depend on the target and is used by
      what does, once a sentence;
    - `@f.step` computes one position of each of its rows: ops rewrite themselves
      through `IncrementalOpInterface`, weights and masks are cloned, states
      become arguments with `transformer.state`.

    The function itself stays where its forms include "full". No symbol name and
    no model type is read: only interfaces and attributes.

    ```mlir
    func.func @decode(%ids: tensor<?x?xi32> {transformer.target, ...},
                      %memory: tensor<?x?x8xf32>, %lengths: tensor<?xi32>)
      %k = transformer.linear %memory, %wk
      %x = transformer.embedding %ids, %table
      %valid = transformer.mask.padding %lengths
      %y = transformer.attention %x, %k, %k mask(%valid)
    // becomes
    func.func @decode.prepare(%memory, %lengths) -> tensor<?x?x8xf32>
      %k = transformer.linear %memory, %wk
    func.func @decode.step(%ids: tensor<?xi32>, %positions: tensor<?xi32>,
                           %sentences: tensor<?xi32>, %lengths, %k)
      %x = transformer.embedding %ids, %table
      %valid = transformer.mask.padding %lengths
      %y = transformer.attention %x, %k, %k mask(%valid)
             at %positions of %sentences shared
    ```

    An op that cannot be evaluated position by position is an error that names
    the op and the reason.
  }];
  let statistics = [
    Statistic<"numPrepared", "prepared-values",
              "values computed once a sentence">,
    Statistic<"numStates", "states", "states carried from step to step">
  ];
}

#endif // HEDDLE_PASSES_PASSES
