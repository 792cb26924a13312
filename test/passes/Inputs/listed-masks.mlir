// Masks of lists; draw-masks.mlir says what they hold.
!x = tensor<?x?x8xf32>
!mask = !transformer.mask
!list = tensor<?xi32>

func.func @encode(%x: !x, %ids: tensor<?x?xi32> {transformer.name = "ids"}, %offsets: !list {transformer.name = "offsets"}, %keys: !list {transformer.name = "keys"}, %tokens: !list) -> !x {
  %segments = transformer.mask.segments %ids : tensor<?x?xi32>
  %a = transformer.attention %x, %x, %x mask(%segments) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("segments")
  %pairs = transformer.mask.pairs %offsets, %keys : !list, !list
  %b = transformer.attention %a, %a, %a mask(%pairs) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("pairs")
  %global = transformer.mask.global of %tokens : !list
  %c = transformer.attention %b, %b, %b mask(%global) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("tokens")
  return %c : !x
}
