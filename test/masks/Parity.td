//===- Parity.td - A mask that only a plugin knows ------------*- tablegen -*-===//
//
// The test of the promise that a new attention variant is one op: nothing but
// its predicate is written here, and no other part of Heddle knows it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_MASKS_PARITY
#define HEDDLE_TEST_MASKS_PARITY

include "dialect/Base.td"

def Parity_Dialect : Dialect {
  let name = "parity";
  let cppNamespace = "::heddle::parity";
  let summary = "a mask by the parity of positions";
  let dependentDialects = ["::heddle::TransformerDialect"];
}

def SameOp : Op<Parity_Dialect, "same", [
      Pure, DeclareOpInterfaceMethods<MaskOpInterface>
    ]> {
  let summary = "keys of the query's parity: 2 divides i - j";
  let results = (outs Transformer_Mask:$mask);
  let assemblyFormat = "attr-dict";
}

def OfHeadOp : Op<Parity_Dialect, "of_head", [
      Pure, DeclareOpInterfaceMethods<MaskOpInterface, ["knowsQueries"]>
    ]> {
  let summary = "keys of the head's parity: 2 divides h - j";
  let results = (outs Transformer_Mask:$mask);
  let assemblyFormat = "attr-dict";
}

#endif // HEDDLE_TEST_MASKS_PARITY
