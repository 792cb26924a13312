//===- Chunks.td - A mask in two methods, the README's example -*- tablegen -*-===//

include "dialect/Base.td"

def Chunks_Dialect : Dialect {
  let name = "chunks";
  let cppNamespace = "::heddle";
  let dependentDialects = ["::heddle::TransformerDialect"];
}

def ChunkOp : Op<Chunks_Dialect, "same", [
      Pure, DeclareOpInterfaceMethods<MaskOpInterface, ["keyRanges"]>
    ]> {
  let summary = "keys of the query's own chunk: i / size = j / size";
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$size);
  let results = (outs Transformer_Mask:$mask);
  let assemblyFormat = "$size attr-dict";
}
