// A decoder whose results have no rows that a chunk could take has none, and says
// so.
// RUN: heddle-opt %s -transformer-split-phases -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: declined {{.*}}@short decodes prefixes step by step, since its results come from values without rows of f32 that a chunk could take

// CHECK: @short.step(
// CHECK-NOT: @short.chunk
transformer.parameter @numbers : tensor<9x8xf32>
transformer.parameter @table : tensor<9x8xbf16> rounded of [@numbers]
func.func @short(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}) -> tensor<?x?x8xbf16> attributes {transformer.forms = ["step", "chunk"]} {
  %t = transformer.weight @table : tensor<9x8xbf16>
  %y = transformer.embedding %ids, %t : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xbf16>
  return %y : tensor<?x?x8xbf16>
}
