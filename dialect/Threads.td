//===- Threads.td - The threads of a call ---------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_THREADS
#define HEDDLE_DIALECT_THREADS

include "dialect/Base.td"

def ThreadsOp : Transformer_Op<"threads", [Pure]> {
  let summary = "how many threads share the parallel loops of a call";
  let description = [{
    At least 1. How work is cut into tasks may depend on it, a result may not.
    Stands in entry points of CPUs and their kernels; lower-parallel reads it from
    the call.

    ```mlir
    %threads = transformer.threads
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

#endif // HEDDLE_DIALECT_THREADS
