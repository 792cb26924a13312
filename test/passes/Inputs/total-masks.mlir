// Predicates of ops that arith leaves undefined for some pairs: 0 divides, and a
// shift leaves the width. draw-masks.mlir says what they hold.
!x = tensor<?x?x8xf32>
!mask = !transformer.mask

func.func @encode(%x: !x) -> !x {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %near = arith.constant 28 : i32
  %divides = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %rest = arith.remsi %i, %j : i32
    %is = arith.cmpi eq, %rest, %zero : i32
    transformer.yield %is : i1
  }
  %a = transformer.attention %x, %x, %x mask(%divides) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("divides")
  %behind = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %part = arith.divui %i, %j : i32
    %is = arith.cmpi eq, %part, %zero : i32
    transformer.yield %is : i1
  }
  %c = transformer.attention %a, %a, %a mask(%behind) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("behind")
  %bits = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %amount = arith.addi %j, %near : i32
    %bit = arith.shli %one, %amount : i32
    %is = arith.cmpi ne, %bit, %zero : i32
    transformer.yield %is : i1
  }
  %d = transformer.attention %c, %c, %c mask(%bits) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("bits")
  return %d : !x
}
