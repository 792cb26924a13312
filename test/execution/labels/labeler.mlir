// An encoder with labels in the transformer dialect: one function for each of its
// three tasks. classify says of a text whether it is good or bad, tag labels each
// token, and fill guesses the tokens that a mask hides, as in BERT's training
// (arXiv:1810.04805). One layer, d_model = 8, h = 2 heads of 4 and 12 words.
//
// make_labeler.py beside this file drew the weights, and computed in float64 what
// the model must say.
//
// RUN: heddle-compile %s --weights %S/weights.safetensors -o %t.heddle
// RUN: heddle-run %t.heddle --ids <%S/lines.ids >%t.classify
// RUN: heddle-run %t.heddle --ids --task tag --top 3 <%S/lines.ids >%t.tag
// RUN: heddle-run %t.heddle --ids --task fill --top 12 <%S/lines.ids >%t.fill
//
// A hundred rounding errors of 2^-24 each are below 1e-5.
// RUN: /usr/bin/python3 %S/Inputs/compare_labels.py %S/labels.json %t --within 1e-5

!ids = tensor<?x?xi32>         // [batch, length], or [batch, masks]
!numbers = tensor<?xi32>       // [batch]
!sequence = tensor<?x?x8xf32>  // [batch, length, d_model]
!vectors = tensor<?x8xf32>     // [batch, d_model]
!projection = tensor<8x8xf32>  // [d_model, h d_k]: all heads side by side
!vector = tensor<8xf32>

module @labeler attributes {
  transformer.family = "example",
  // What it reads: 12 words, texts of at most 16 tokens.
  transformer.source = {vocabulary = 12 : i32, positions = 16 : i32},
  // What it does. Probabilities of labels sum to 1, as "softmax", the default, has
  // it; with "sigmoid" each label is right or wrong by itself, and "none" leaves a
  // number of any size. Word 3 is the mask.
  transformer.tasks = {
    classify = {labels = ["bad", "good"], scores = "softmax", max_tokens = 16 : i32},
    tag = {labels = ["nothing", "name", "place"]},
    fill = {mask = 3 : i32}
  }
} {
  transformer.parameter @words : tensor<12x8xf32>
  transformer.parameter @positions : tensor<16x8xf32>
  transformer.parameter @query : !projection
  transformer.parameter @key : !projection
  transformer.parameter @value : !projection
  transformer.parameter @output : !projection
  transformer.parameter @gain : !vector
  transformer.parameter @bias : !vector
  transformer.parameter @pooler.weight : !projection
  transformer.parameter @pooler.bias : !vector
  transformer.parameter @classify.weight : tensor<8x2xf32>
  transformer.parameter @classify.bias : tensor<2xf32>
  transformer.parameter @tag.weight : tensor<8x3xf32>
  transformer.parameter @tag.bias : tensor<3xf32>
  // The words again, in a copy of the file: each row makes a logit.
  transformer.parameter @fill.weight : tensor<8x12xf32> transposed
  transformer.parameter @fill.bias : tensor<12xf32>

  func.func private @encode(
      %ids: !ids {transformer.name = "ids",
                  transformer.dims = ["batch", "source"]},
      %lengths: !numbers {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (!sequence {transformer.name = "memory"})
      attributes {transformer.forms = ["full"]} {
    %table = transformer.weight @words : tensor<12x8xf32>
    %positions = transformer.weight @positions : tensor<16x8xf32>
    %word = transformer.embedding %ids, %table
      : (!ids, tensor<12x8xf32>) -> !sequence
    %x = transformer.positions.learned %word, %positions
      : (!sequence, tensor<16x8xf32>) -> !sequence
    %wq = transformer.weight @query : !projection
    %wk = transformer.weight @key : !projection
    %wv = transformer.weight @value : !projection
    %wo = transformer.weight @output : !projection
    %q = transformer.linear %x, %wq : (!sequence, !projection) -> !sequence
    %k = transformer.linear %x, %wk : (!sequence, !projection) -> !sequence
    %v = transformer.linear %x, %wv : (!sequence, !projection) -> !sequence
    %tokens = transformer.mask.padding %lengths : !numbers
    %heads = transformer.attention %q, %k, %v mask(%tokens)
      {heads = 2 : i64, scale = 0.5 : f32}
      : (!sequence, !sequence, !sequence, !transformer.mask) -> !sequence
    %attended = transformer.linear %heads, %wo
      : (!sequence, !projection) -> !sequence
    %sum = transformer.add %x, %attended : (!sequence, !sequence) -> !sequence
    %gain = transformer.weight @gain : !vector
    %bias = transformer.weight @bias : !vector
    %memory = transformer.norm layer %sum, %gain, %bias {epsilon = 1.0e-5 : f32}
      : (!sequence, !vector, !vector) -> !sequence
    return %memory : !sequence
  }

  // BERT's pooler, and a logit for each label.
  func.func private @classify(
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]},
      %lengths: !numbers {transformer.name = "lengths",
                          transformer.dims = ["batch"]})
      -> (tensor<?x2xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full"], transformer.task = "classify"} {
    %first = transformer.pool [cls] %memory of %lengths
      : (!sequence, !numbers) -> !vectors
    %w1 = transformer.weight @pooler.weight : !projection
    %b1 = transformer.weight @pooler.bias : !vector
    %dense = transformer.linear %first, %w1, %b1
      : (!vectors, !projection, !vector) -> !vectors
    %pooled = transformer.activation tanh %dense : (!vectors) -> !vectors
    %w2 = transformer.weight @classify.weight : tensor<8x2xf32>
    %b2 = transformer.weight @classify.bias : tensor<2xf32>
    %logits = transformer.linear %pooled, %w2, %b2
      : (!vectors, tensor<8x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    return %logits : tensor<?x2xf32>
  }

  // A logit for each label and token.
  func.func private @tag(
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]})
      -> (tensor<?x?x3xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full"], transformer.task = "tag"} {
    %w = transformer.weight @tag.weight : tensor<8x3xf32>
    %b = transformer.weight @tag.bias : tensor<3xf32>
    %logits = transformer.linear %memory, %w, %b
      : (!sequence, tensor<8x3xf32>, tensor<3xf32>) -> tensor<?x?x3xf32>
    return %logits : tensor<?x?x3xf32>
  }

  // A logit for each word and mask: the rows of masks are taken first, so that
  // nothing is computed of other tokens.
  func.func private @fill(
      %memory: !sequence {transformer.name = "memory",
                          transformer.dims = ["batch", "source"]},
      %masks: !ids {transformer.name = "masks",
                    transformer.dims = ["batch", "masks"]})
      -> (tensor<?x?x12xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full"], transformer.task = "fill"} {
    %hidden = transformer.take_rows %memory at %masks
      : (!sequence, !ids) -> !sequence
    %w = transformer.weight @fill.weight : tensor<8x12xf32>
    %b = transformer.weight @fill.bias : tensor<12xf32>
    %logits = transformer.linear %hidden, %w, %b
      : (!sequence, tensor<8x12xf32>, tensor<12xf32>) -> tensor<?x?x12xf32>
    return %logits : tensor<?x?x12xf32>
  }
}
