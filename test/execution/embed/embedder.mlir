// A whole embedder in the transformer dialect: a text becomes one vector, and the
// cosine of two vectors says how near their texts are. The encoder is BERT's
// (arXiv:1810.04805), one layer, with the positions of RoBERTa and the relative
// biases of T5 and MPNet. d_model = 8, h = 2 heads of 4, d_ff = 16 and 12 words.
//
// make_embedder.py beside this file drew the weights, and computed in float64
// what the model must say.
//
// RUN: heddle-compile %s --weights %S/weights.safetensors -o %t.heddle
// RUN: heddle-run %t.heddle --ids --output %t.npy <%S/lines.ids
//
// A vector has length 1. A hundred rounding errors of 2^-24 each are below 1e-5
// of its largest number.
// RUN: /usr/bin/python3 %S/Inputs/compare_vectors.py %t.npy %S/vectors.npy --within 1e-5

!ids = tensor<?x?xi32>         // [batch, length]
!numbers = tensor<?xi32>       // [batch]
!sequence = tensor<?x?x8xf32>  // [batch, length, d_model]
!hidden = tensor<?x?x16xf32>   // [batch, length, d_ff]
!vectors = tensor<?x24xf32>    // [batch, three vectors of d_model]
!projection = tensor<8x8xf32>  // [d_model, h d_k]: all heads side by side
!vector = tensor<8xf32>
!biases = tensor<2x25xf32>     // [h, distances from -12 to 12]

module @embedder attributes {
  transformer.family = "example",
  // What it reads: 12 words, texts of at most 16 tokens, tokens of two types;
  // word 1 is padding and has no position.
  transformer.source = {
    vocabulary = 12 : i32, positions = 16 : i32, types = 2 : i32, pad = 1 : i32
  },
  // What it does: longer texts are cut, and a query has "query: " in front.
  transformer.tasks = {embed = {
    max_tokens = 16 : i32, prompts = {query = "query: ", passage = "passage: "}
  }}
} {
  // One table each. Positions count from pad + 1, that of padding is pad: the
  // table has pad + 1 + 16 rows.
  transformer.parameter @words : tensor<12x8xf32>
  transformer.parameter @types : tensor<2x8xf32>
  transformer.parameter @positions : tensor<18x8xf32>
  transformer.parameter @embedding.gain : !vector
  transformer.parameter @embedding.bias : !vector

  // T5's buckets: a number for each bucket of distances and each head. The
  // compiler makes a table of distances from it.
  transformer.parameter @buckets : tensor<16x2xf32>
  transformer.parameter @distances : !biases relative_buckets(16, 12) of [@buckets]

  transformer.parameter @attention.query : !projection
  transformer.parameter @attention.key : !projection
  transformer.parameter @attention.value : !projection
  transformer.parameter @attention.output : !projection
  transformer.parameter @attention.gain : !vector
  transformer.parameter @attention.bias : !vector
  transformer.parameter @ffn.w1 : tensor<8x16xf32>
  transformer.parameter @ffn.b1 : tensor<16xf32>
  transformer.parameter @ffn.w2 : tensor<16x8xf32>
  transformer.parameter @ffn.b2 : !vector
  transformer.parameter @ffn.gain : !vector
  transformer.parameter @ffn.bias : !vector

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %types: !ids {transformer.name = "types",
                    transformer.dims = ["batch", "source"]},
      %at: !ids {transformer.name = "source_positions",
                 transformer.dims = ["batch", "source"]},
      %lengths: !numbers {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!sequence {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    // The sum of three embeddings, normalised.
    %word_table = transformer.weight @words : tensor<12x8xf32>
    %type_table = transformer.weight @types : tensor<2x8xf32>
    %position_table = transformer.weight @positions : tensor<18x8xf32>
    %word = transformer.embedding %ids, %word_table
      : (!ids, tensor<12x8xf32>) -> !sequence
    %type = transformer.embedding %types, %type_table
      : (!ids, tensor<2x8xf32>) -> !sequence
    %position = transformer.embedding %at, %position_table
      : (!ids, tensor<18x8xf32>) -> !sequence
    %typed = transformer.add %word, %type : (!sequence, !sequence) -> !sequence
    %placed = transformer.add %typed, %position
      : (!sequence, !sequence) -> !sequence
    %gain0 = transformer.weight @embedding.gain : !vector
    %bias0 = transformer.weight @embedding.bias : !vector
    %x = transformer.norm layer %placed, %gain0, %bias0 {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence

    // Attention, whose score of key j for query i has the bias of j - i. What
    // is further away than 12 has the bias of 12: a lookup stays in its table.
    %wq = transformer.weight @attention.query : !projection
    %wk = transformer.weight @attention.key : !projection
    %wv = transformer.weight @attention.value : !projection
    %wo = transformer.weight @attention.output : !projection
    %q = transformer.linear %x, %wq : (!sequence, !projection) -> !sequence
    %k = transformer.linear %x, %wk : (!sequence, !projection) -> !sequence
    %v = transformer.linear %x, %wv : (!sequence, !projection) -> !sequence
    %tokens = transformer.mask.padding %lengths : !numbers
    %far = arith.constant 12 : i32
    %table = transformer.weight @distances : !biases
    %heads = transformer.attention %q, %k, %v mask(%tokens)
      {heads = 2 : i64, scale = 0.5 : f32} score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %distance = arith.subi %j, %i : i32
      %column = arith.addi %distance, %far : i32
      %bias = transformer.lookup %table[%h, %column] : !biases -> f32
      %biased = arith.addf %s, %bias : f32
      transformer.yield %biased : f32
    } : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %attended = transformer.linear %heads, %wo
      : (!sequence, !projection) -> !sequence
    %sum1 = transformer.add %x, %attended : (!sequence, !sequence) -> !sequence
    %gain1 = transformer.weight @attention.gain : !vector
    %bias1 = transformer.weight @attention.bias : !vector
    %y = transformer.norm layer %sum1, %gain1, %bias1 {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence

    %w1 = transformer.weight @ffn.w1 : tensor<8x16xf32>
    %b1 = transformer.weight @ffn.b1 : tensor<16xf32>
    %w2 = transformer.weight @ffn.w2 : tensor<16x8xf32>
    %b2 = transformer.weight @ffn.b2 : !vector
    %wide = transformer.linear %y, %w1, %b1
      : (!sequence, tensor<8x16xf32>, tensor<16xf32>) -> !hidden
    %active = transformer.activation relu %wide : (!hidden) -> !hidden
    %fed = transformer.linear %active, %w2, %b2
      : (!hidden, tensor<16x8xf32>, !vector) -> !sequence
    %sum2 = transformer.add %y, %fed : (!sequence, !sequence) -> !sequence
    %gain2 = transformer.weight @ffn.gain : !vector
    %bias2 = transformer.weight @ffn.bias : !vector
    %memory = transformer.norm layer %sum2, %gain2, %bias2
      {epsilon = 1.0e-5 : f32} : (!sequence, !vector, !vector) -> !sequence
    return %memory : !sequence
  }

  // The task: the vector of the first token, and behind it the largest and the
  // mean of each column, without the tokens of a prompt. All of it has length 1.
  func.func private @embed(
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]},
      %lengths: !numbers {transformer.name = "lengths",
                          transformer.dims = ["batch"]},
      %prompt: !numbers {transformer.name = "prompt",
                         transformer.dims = ["batch"]})
      -> (!vectors {transformer.name = "vectors"})
      attributes {transformer.forms = ["full"], transformer.task = "embed"} {
    %pooled = transformer.pool [cls, max, mean] %memory of %lengths from %prompt
      : (!sequence, !numbers, !numbers) -> !vectors
    %vectors = transformer.normalize %pooled {epsilon = 1.0e-12 : f32}
      : (!vectors) -> !vectors
    return %vectors : !vectors
  }
}
