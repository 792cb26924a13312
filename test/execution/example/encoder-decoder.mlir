// A whole model in the transformer dialect: the encoder and the decoder of
// "Attention is all you need" (arXiv:1706.03762, "the paper" below), one layer
// each, small enough to be read in one sitting. d_model = 8, h = 2 heads of
// d_k = d_v = 4, d_ff = 16 and 12 words.
//
// The module is mathematics: whole sequences, masks as values, no batch loop,
// no cache, no step. The compiler derives from @decode what runs once a
// sentence and what runs once a token. Weights come from a file, by name;
// make_example.py beside this file drew them, and computed in float64 what the
// model must say.
//
// Compile it, then translate ids to ids:
// RUN: heddle-compile %s --weights %S/weights.safetensors -o %t.heddle
// RUN: heddle-run %t.heddle --ids < %S/source.ids > %t.ids
// RUN: diff %t.ids %S/greedy.ids
//
// Score given targets, with @decode as written and step by step. A hundred
// rounding errors of 2^-24 each are below 1e-5 of the largest logit.
// RUN: heddle-run %t.heddle --ids --teacher %S/target.ids --form full \
// RUN:   --logits %t.full.npy < %S/source.ids
// RUN: compare-npy %t.full.npy %S/logits.npy --within 1e-5
// RUN: heddle-run %t.heddle --ids --teacher %S/target.ids --form step \
// RUN:   --logits %t.step.npy < %S/source.ids
// RUN: compare-npy %t.step.npy %S/logits.npy --within 1e-5
//
// See what each pass makes of it: heddle-compile ... --dump-passes FOLDER

!ids = tensor<?x?xi32>          // [batch, length]
!lengths = tensor<?xi32>        // [batch]
!sequence = tensor<?x?x8xf32>   // [batch, length, d_model]
!hidden = tensor<?x?x16xf32>    // [batch, length, d_ff]
!logits = tensor<?x?x12xf32>    // [batch, length, vocabulary]
!table = tensor<12x8xf32>       // [vocabulary, d_model]
!projection = tensor<8x8xf32>   // [d_model, h d_k]: all heads side by side
!vector = tensor<8xf32>

module @example attributes {
  transformer.family = "example",
  // Decoding starts from id 1 and ends at id 2, or after ten tokens.
  transformer.tasks = {generate = {
    vocabulary = 12 : i32, start = 1 : i32, eos = array<i32: 2>,
    max_length = 10 : i32
  }},
  // What it reads.
  transformer.source = {vocabulary = 12 : i32}
} {
  // Section 3.4: one table serves both embeddings and, transposed, the output.
  // A linear op wants [in, out] and the file has [out, in]; the file holds a
  // copy, since a parameter is bound to the tensor of its own name.
  transformer.parameter @embedding : !table
  transformer.parameter @output : tensor<8x12xf32> transposed

  // Section 3.2.2: W^Q, W^K, W^V and W^O of each of the three attentions.
  transformer.parameter @encoder.self_attention.query : !projection
  transformer.parameter @encoder.self_attention.key : !projection
  transformer.parameter @encoder.self_attention.value : !projection
  transformer.parameter @encoder.self_attention.output : !projection
  transformer.parameter @decoder.self_attention.query : !projection
  transformer.parameter @decoder.self_attention.key : !projection
  transformer.parameter @decoder.self_attention.value : !projection
  transformer.parameter @decoder.self_attention.output : !projection
  transformer.parameter @decoder.cross_attention.query : !projection
  transformer.parameter @decoder.cross_attention.key : !projection
  transformer.parameter @decoder.cross_attention.value : !projection
  transformer.parameter @decoder.cross_attention.output : !projection

  // Section 3.3: W_1, b_1, W_2 and b_2.
  transformer.parameter @encoder.ffn.w1 : tensor<8x16xf32>
  transformer.parameter @encoder.ffn.b1 : tensor<16xf32>
  transformer.parameter @encoder.ffn.w2 : tensor<16x8xf32>
  transformer.parameter @encoder.ffn.b2 : !vector
  transformer.parameter @decoder.ffn.w1 : tensor<8x16xf32>
  transformer.parameter @decoder.ffn.b1 : tensor<16xf32>
  transformer.parameter @decoder.ffn.w2 : tensor<16x8xf32>
  transformer.parameter @decoder.ffn.b2 : !vector

  // Section 3.1: the gain and the bias of each LayerNorm.
  transformer.parameter @encoder.self_attention.norm.gain : !vector
  transformer.parameter @encoder.self_attention.norm.bias : !vector
  transformer.parameter @encoder.ffn.norm.gain : !vector
  transformer.parameter @encoder.ffn.norm.bias : !vector
  transformer.parameter @decoder.self_attention.norm.gain : !vector
  transformer.parameter @decoder.self_attention.norm.bias : !vector
  transformer.parameter @decoder.cross_attention.norm.gain : !vector
  transformer.parameter @decoder.cross_attention.norm.bias : !vector
  transformer.parameter @decoder.ffn.norm.gain : !vector
  transformer.parameter @decoder.ffn.norm.bias : !vector

  // Sentences of a batch differ in length: %lengths says where each one ends.
  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!sequence {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    // Section 3.4: the embedding times sqrt(d_model) ...
    %table = transformer.weight @embedding : !table
    %embedded = transformer.embedding %ids, %table {scale = 2.82842708 : f32}
      : (!ids, !table) -> !sequence
    // ... and section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), the
    // cosine beside it. There are d_model / 2 timescales.
    %x = transformer.positions.sinusoidal %embedded
      {timescales = 4 : i64, layout = #transformer<position_layout interleaved>}
      : (!sequence) -> !sequence

    // Section 3.2.2: MultiHead(x, x, x), and equation (1) for each head:
    // softmax(Q K^T / sqrt(d_k)) V, over the words that the sentence has.
    %wq = transformer.weight @encoder.self_attention.query : !projection
    %wk = transformer.weight @encoder.self_attention.key : !projection
    %wv = transformer.weight @encoder.self_attention.value : !projection
    %wo = transformer.weight @encoder.self_attention.output : !projection
    %q = transformer.linear %x, %wq : (!sequence, !projection) -> !sequence
    %k = transformer.linear %x, %wk : (!sequence, !projection) -> !sequence
    %v = transformer.linear %x, %wv : (!sequence, !projection) -> !sequence
    %words = transformer.mask.padding %lengths : !lengths
    %heads = transformer.attention %q, %k, %v mask(%words)
      {heads = 2 : i64, scale = 0.5 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %attended = transformer.linear %heads, %wo
      : (!sequence, !projection) -> !sequence

    // Section 3.1: LayerNorm(x + Sublayer(x)).
    %sum1 = transformer.add %x, %attended : (!sequence, !sequence) -> !sequence
    %gain1 = transformer.weight @encoder.self_attention.norm.gain : !vector
    %bias1 = transformer.weight @encoder.self_attention.norm.bias : !vector
    %y = transformer.norm layer %sum1, %gain1, %bias1 {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence

    // Equation (2): FFN(y) = max(0, y W_1 + b_1) W_2 + b_2.
    %w1 = transformer.weight @encoder.ffn.w1 : tensor<8x16xf32>
    %b1 = transformer.weight @encoder.ffn.b1 : tensor<16xf32>
    %w2 = transformer.weight @encoder.ffn.w2 : tensor<16x8xf32>
    %b2 = transformer.weight @encoder.ffn.b2 : !vector
    %wide = transformer.linear %y, %w1, %b1
      : (!sequence, tensor<8x16xf32>, tensor<16xf32>) -> !hidden
    %active = transformer.activation relu %wide : (!hidden) -> !hidden
    %fed = transformer.linear %active, %w2, %b2
      : (!hidden, tensor<16x8xf32>, !vector) -> !sequence

    %sum2 = transformer.add %y, %fed : (!sequence, !sequence) -> !sequence
    %gain2 = transformer.weight @encoder.ffn.norm.gain : !vector
    %bias2 = transformer.weight @encoder.ffn.norm.bias : !vector
    %memory = transformer.norm layer %sum2, %gain2, %bias2
      {epsilon = 1.0e-5 : f32} : (!sequence, !vector, !vector) -> !sequence
    return %memory : !sequence
  }

  // The whole target at once: logits[i] is what follows word i. The argument
  // `transformer.target` grows word by word; `forms` asks for @decode as it
  // stands and for the step that the compiler derives.
  func.func private @decode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target},
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]},
      %lengths: !lengths {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!logits {transformer.name = "logits"})
      attributes {transformer.forms = ["full", "step"]} {
    // Sections 3.4 and 3.5, as in @encode.
    %table = transformer.weight @embedding : !table
    %embedded = transformer.embedding %ids, %table {scale = 2.82842708 : f32}
      : (!ids, !table) -> !sequence
    %x = transformer.positions.sinusoidal %embedded
      {timescales = 4 : i64, layout = #transformer<position_layout interleaved>}
      : (!sequence) -> !sequence

    // Section 3.2.3: a word attends to itself and to what stands before it. In
    // the step, %k and %v are read from a cache.
    %wq = transformer.weight @decoder.self_attention.query : !projection
    %wk = transformer.weight @decoder.self_attention.key : !projection
    %wv = transformer.weight @decoder.self_attention.value : !projection
    %wo = transformer.weight @decoder.self_attention.output : !projection
    %q = transformer.linear %x, %wq : (!sequence, !projection) -> !sequence
    %k = transformer.linear %x, %wk : (!sequence, !projection) -> !sequence
    %v = transformer.linear %x, %wv : (!sequence, !projection) -> !sequence
    %past = transformer.mask.causal
    %heads = transformer.attention %q, %k, %v mask(%past)
      {heads = 2 : i64, scale = 0.5 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %attended = transformer.linear %heads, %wo
      : (!sequence, !projection) -> !sequence
    %sum1 = transformer.add %x, %attended : (!sequence, !sequence) -> !sequence
    %gain1 = transformer.weight @decoder.self_attention.norm.gain : !vector
    %bias1 = transformer.weight @decoder.self_attention.norm.bias : !vector
    %y = transformer.norm layer %sum1, %gain1, %bias1 {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence

    // Section 3.2.3: queries of the target, keys and values of the source. The
    // latter depend on no target word, so they are computed once a sentence.
    %cross_wq = transformer.weight @decoder.cross_attention.query : !projection
    %cross_wk = transformer.weight @decoder.cross_attention.key : !projection
    %cross_wv = transformer.weight @decoder.cross_attention.value : !projection
    %cross_wo = transformer.weight @decoder.cross_attention.output : !projection
    %cross_q = transformer.linear %y, %cross_wq
      : (!sequence, !projection) -> !sequence
    %cross_k = transformer.linear %memory, %cross_wk
      : (!sequence, !projection) -> !sequence
    %cross_v = transformer.linear %memory, %cross_wv
      : (!sequence, !projection) -> !sequence
    %words = transformer.mask.padding %lengths : !lengths
    %cross_heads = transformer.attention %cross_q, %cross_k, %cross_v
      mask(%words) {heads = 2 : i64, scale = 0.5 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %crossed = transformer.linear %cross_heads, %cross_wo
      : (!sequence, !projection) -> !sequence
    %sum2 = transformer.add %y, %crossed : (!sequence, !sequence) -> !sequence
    %gain2 = transformer.weight @decoder.cross_attention.norm.gain : !vector
    %bias2 = transformer.weight @decoder.cross_attention.norm.bias : !vector
    %z = transformer.norm layer %sum2, %gain2, %bias2 {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence

    // Equation (2) again.
    %w1 = transformer.weight @decoder.ffn.w1 : tensor<8x16xf32>
    %b1 = transformer.weight @decoder.ffn.b1 : tensor<16xf32>
    %w2 = transformer.weight @decoder.ffn.w2 : tensor<16x8xf32>
    %b2 = transformer.weight @decoder.ffn.b2 : !vector
    %wide = transformer.linear %z, %w1, %b1
      : (!sequence, tensor<8x16xf32>, tensor<16xf32>) -> !hidden
    %active = transformer.activation relu %wide : (!hidden) -> !hidden
    %fed = transformer.linear %active, %w2, %b2
      : (!hidden, tensor<16x8xf32>, !vector) -> !sequence
    %sum3 = transformer.add %z, %fed : (!sequence, !sequence) -> !sequence
    %gain3 = transformer.weight @decoder.ffn.norm.gain : !vector
    %bias3 = transformer.weight @decoder.ffn.norm.bias : !vector
    %decoded = transformer.norm layer %sum3, %gain3, %bias3
      {epsilon = 1.0e-5 : f32} : (!sequence, !vector, !vector) -> !sequence

    // Section 3.4: the linear transformation before the softmax. Greedy search
    // needs no softmax.
    %output = transformer.weight @output : tensor<8x12xf32>
    %logits = transformer.linear %decoded, %output
      : (!sequence, tensor<8x12xf32>) -> !logits
    return %logits : !logits
  }
}
