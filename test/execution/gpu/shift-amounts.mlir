// NVPTX takes the low 32 bits of the amount of a shift of 64-bit integers if a select
// decides by all of it: 2^32 would shift by 0. So a region's amounts are masked. The
// emulator cannot tell, as it runs what comes before NVPTX.
// RUN: call-entry model %s >%t.mlir
// RUN: heddle-compile %t.mlir --target sm_80 --emit=asm -o %t.ptx
// RUN: FileCheck %s <%t.ptx

// CHECK: and.b32 [[AMOUNT:%r[0-9]+]], %r{{[0-9]+}}, 63;
// CHECK-NEXT: shl.b64 %rd{{[0-9]+}}, %rd{{[0-9]+}}, [[AMOUNT]];
// CHECK-NEXT: selp.b64
func.func @shifts(
    %x: tensor<?x?x16xf32> {transformer.name = "x",
                            transformer.dims = ["batch", "source"]})
    -> (tensor<?x?x16xf32> {transformer.name = "y"}) {
  %y = transformer.attention %x, %x, %x {heads = 1 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %whole = arith.fptosi %s : f32 to i64
    %far = arith.extsi %j : i32 to i64
    %amount = arith.muli %far, %whole : i64
    %shifted = arith.shli %whole, %amount : i64
    %score = arith.sitofp %shifted : i64 to f32
    transformer.yield %score : f32
  } : (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>)
      -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}
