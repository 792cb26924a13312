// Each mask of a module as an image.
// RUN: rm -rf %t && heddle-opt %s --draw-masks=%t -o %t.mlir
// RUN: heddle-opt %s | diff - %t.mlir
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --input-file %t/encode.encoder_l1_self.svg --check-prefix=CAUSAL
// RUN: FileCheck %s --input-file %t/decode.attention-1.svg --check-prefix=HEADS
// RUN: FileCheck %s --input-file %t/decode.decoder.self.1.svg --check-prefix=UNION
// RUN: not grep -l "<script\|href" -r %t
// RUN: python3 -c "import sys, xml.dom.minidom as x; [x.parse(f) for f in sys.argv[1:]]" %t/encode.encoder_l1_self.svg %t/decode.attention-1.svg %t/decode.decoder.self.1.svg %t/decode.a-b.svg %t/decode.a-b-2.svg

// Lists, apart from tiles.
// RUN: heddle-opt %s -transformer-restrict-attention='rules="decoder.self.2: window(3) | random_tokens(4)"' --draw-masks=%t/lists -o /dev/null
// RUN: FileCheck %s --input-file %t/lists/decode.decoder.self.2.svg --check-prefix=LISTS

// Masks that read other arguments than lengths.
// RUN: heddle-opt %S/Inputs/listed-masks.mlir --draw-masks=%t/listed --mask-values 'ids=0,0,0,1; offsets=0,2,3; keys=5,60,7; arg4=0,63' -o /dev/null
// RUN: FileCheck %s --input-file %t/listed/encode.segments.svg --check-prefix=SEGMENTS
// RUN: FileCheck %s --input-file %t/listed/encode.pairs.svg --check-prefix=PAIRS
// RUN: FileCheck %s --input-file %t/listed/encode.tokens.svg --check-prefix=TOKENS
// RUN: not heddle-opt %S/Inputs/listed-masks.mlir --draw-masks=%t/listed 2>&1 | FileCheck %s --check-prefix=MISSING

// SEGMENTS: >segments %ids<
// SEGMENTS: >3,730 pairs, 91.1 % of the dense<
// PAIRS: >pairs %offsets, %keys<
// PAIRS: >3 pairs, 0.1 % of the dense<
// PAIRS: >0 of 16 tiles of 32 x 8, 0.0 %<
// PAIRS: >0 of them whole; 3 pairs from lists<
// TOKENS: >global of %arg4<
// TOKENS: >252 pairs,
// MISSING: has a mask that cannot be drawn: it reads the argument 'ids', which has no known value

// Predicates are total functions, as in kernels.
// RUN: heddle-opt %S/Inputs/total-masks.mlir --draw-masks=%t/total --mask-length 8 -o %t.total
// RUN: heddle-opt %S/Inputs/total-masks.mlir | diff - %t.total
// RUN: FileCheck %s --input-file %t/total/encode.divides.svg --check-prefix=DIVIDES
// RUN: FileCheck %s --input-file %t/total/encode.behind.svg --check-prefix=BEHIND
// RUN: FileCheck %s --input-file %t/total/encode.bits.svg --check-prefix=BITS

// DIVIDES: >where<
// DIVIDES: >24 pairs,
// BEHIND: >36 pairs,
// BITS: >32 pairs,

// Fewer keys, fewer heads, more queries; behind other passes.
// RUN: heddle-opt %s -transformer-restrict-attention='rules="encoder.self: causal"' --draw-masks=%t/short --mask-length 40 --mask-heads 1 --mask-values 'lengths = 10' -o /dev/null
// RUN: FileCheck %s --input-file %t/short/encode.encoder_l1_self.svg --check-prefix=SHORT
// RUN: FileCheck %s --input-file %t/short/decode.attention-1.svg --check-prefix=HIDDEN
// RUN: heddle-opt %s -transformer-draw-masks='dir=%t/named values="arg1=3,4" length=100' -o /dev/null
// RUN: FileCheck %s --input-file %t/named/encode.encoder_l1_self.svg --check-prefix=NAMED

// RUN: not heddle-opt %s --draw-masks= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not heddle-opt %s --draw-masks=%t --mask-length 0 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not heddle-opt %s --draw-masks=%t --mask-values 'lengths=x' 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not heddle-opt %s --draw-masks=%t --mask-values 'length=3' 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not heddle-opt %s --draw-masks=%t.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not heddle-opt %s -transformer-draw-masks 2>&1 | FileCheck %s --check-prefix=NONE

// RUN: not heddle-opt %s --draw-masks=%t --mask-values 'lengths=4294967296' 2>&1 | FileCheck %s --check-prefix=RANGE

// One sentence, without the module.
// EMPTY: error: --draw-masks has an empty value, expected a folder
// EMPTY-NOT: {{[^[:space:]]}}
// LENGTH: error: length is 0, expected 1 to 4096
// LENGTH-NOT: {{[^[:space:]]}}
// RANGE: error: expected a number of 32 bits, found '4294967296'
// VALUES: error: expected a number of 32 bits, found 'x'
// VALUES: lengths=x
// UNUSED: error: no mask reads 'length'
// FOLDER: error: cannot write '{{.*}}.svg': Not a directory
// NONE: error: no folder is given to draw masks in

// FILES-NOT: {{.}}
// FILES: decode.a-b-2.svg
// FILES-NEXT: decode.a-b.svg
// FILES-NEXT: decode.attention-1.svg
// FILES-NEXT: decode.decoder.self.1.svg
// FILES-NEXT: encode.encoder_l1_self.svg
// FILES-NOT: {{.}}

!ids = tensor<?x?xi32>
!x = tensor<?x?x8xf32>
!lengths = tensor<?xi32>
!mask = !transformer.mask

// Two attentions of one mask have one picture. Below the diagonal tiles are
// whole, one rectangle; those on it are asked pair by pair.

// CAUSAL: >padding %lengths &amp; causal<
// CAUSAL: >encode.encoder_l1_self and 1 more<
// CAUSAL: <path class="asked" d="M0 0h32v32H0zM32 32h32v32H32z"/>
// CAUSAL: <path class="pair" d="M0 0h1v1H0zM0 1h2v1H0z
// CAUSAL: <path class="whole" d="M0 32h32v32H0z"/>
// CAUSAL: >all heads<
// CAUSAL: >2,080 pairs, 50.8 % of the dense<
// CAUSAL: >12 of 16 tiles of 32 x 8, 75.0 %<
// CAUSAL: >4 of them whole<

// SHORT: >n = 40, queries down, keys across<
// SHORT: >355 pairs, 22.2 % of the dense<
// SHORT: >4 of 10 tiles of 32 x 8, 40.0 %<

// Arguments have numbers, too; the first sentence is drawn.
// NAMED: >n = 100, queries down, keys across<
// NAMED: >297 pairs,
func.func @encode(%x: !x, %lengths: !lengths {transformer.name = "lengths"}) -> !x {
  %valid = transformer.mask.padding %lengths : !lengths
  %causal = transformer.mask.causal
  %both = transformer.mask.and %valid, %causal
  %a = transformer.attention %x, %x, %x mask(%both) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("encoder_l1_self")
  %b = transformer.attention %a, %a, %a mask(%both) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("encoder_l2_self")
  return %b : !x
}

// Heads that are alike share a panel; the attention of parameters has no name.

// HEADS: >window [left = 2, right = 0, dilation = [1, 3, 1, 1]]<
// HEADS: >decode.attention-1<
// HEADS: <g transform="translate(16 
// HEADS: >heads 0, 2, 3<
// HEADS: >189 pairs,
// HEADS: <g transform="translate(424 
// HEADS: >head 1<
// HEADS: >183 pairs,

// Every third position is a sequence of its own: 22 queries in a block, 22 keys
// in three tiles.
// HEADS: >9 of 16 tiles of 32 x 8 in steps of 3, 56.2 %<

// HIDDEN: 1 more heads differ

// UNION: >!causal | window [left = 1, right = 1]<
// UNION: >decode.decoder.self.1<

// LISTS: >window [left = 3, right = 3] | random_tokens [count = 4, seed = 0]<
// LISTS: <g transform="translate(16 
// LISTS: >head 0<
// LISTS: pairs from lists<
// LISTS: >head 1<

// What has no mask has no picture; the last two have names that are no file's.
func.func @decode(%ids: !x {transformer.target}, %queries: !x) -> (!x, !x) {
  %window = transformer.mask.window [left = 2, right = 0, dilation = [1, 3, 1, 1]]
  %a = transformer.attention %queries, %ids, %ids mask(%window) {heads = 4 : i64} : (!x, !x, !x, !mask) -> !x
  %causal = transformer.mask.causal
  %future = transformer.mask.not %causal
  %near = transformer.mask.window [left = 1, right = 1]
  %union = transformer.mask.or %future, %near
  %b = transformer.attention %ids, %ids, %ids mask(%union) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %c = transformer.attention %ids, %ids, %ids {heads = 2 : i64} : (!x, !x, !x) -> !x
  %full = transformer.mask.full
  %d = transformer.attention %ids, %ids, %ids mask(%full) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("a/b")
  %empty = transformer.mask.empty
  %e = transformer.attention %ids, %ids, %ids mask(%empty) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x loc("a b")
  return %b, %a : !x, !x
}
