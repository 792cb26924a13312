//===- LinearAttention.td - Attention by sums over keys -------*- tablegen -*-===//
//
// A score that is a product of features, phi(q) . phi(k), lets the sum over
// keys stand in front of the query: no pair of positions is ever looked at. One
// op is the mathematics. If all positions of the keys are summed, a pass
// splits it into the sums and what reads them, so that the sums over a
// decoder's memory are made once a sentence; if it is causal it has a step
// form.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LINEARATTENTION
#define HEDDLE_DIALECT_LINEARATTENTION

include "dialect/Base.td"

def Transformer_FeatureMapCases
    : Transformer_Cases<"FeatureMap", [I32EnumAttrCase<"Elu", 0, "elu">,
                                       I32EnumAttrCase<"Relu", 1, "relu">,
                                       I32EnumAttrCase<"Taylor", 2, "taylor">,
                                       I32EnumAttrCase<"Region", 3, "region">]>;
def Transformer_FeatureMap
    : Transformer_Enum<Transformer_FeatureMapCases, "feature_map"> {
  let summary = "what queries and keys are mapped to";
}

class Transformer_LinearAttentionOp<
    string mnemonic, list<string> incrementalMethods, list<string> workMethods,
    list<string> destinationMethods = [], list<string> layerMethods = []>
    : Transformer_LayerOp<mnemonic, [AttrSizedOperandSegments],
                          incrementalMethods,
                          !listconcat(["describe"], workMethods),
                          destinationMethods, layerMethods> {
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region MaxSizedRegion<1>:$map);
  let hasRegionVerifier = 1;
}

def LinearAttentionOp
    : Transformer_LinearAttentionOp<
          "linear_attention",
          ["stateTypes", "buildStep", "buildChunk", "isStep"], ["buildFlops"],
          ["readsDestinations"], ["getComputedFactors"]> {
  let summary = "attention whose scores are products of features";
  let description = [{
    For each head h (of width query width / heads; kv head h / (heads /
    kvHeads)), over the keys j < lengths[b] and, with `causal`, j <= i:

        y_i = sum_j (phi(q_i) . phi(k_j)) v_j / sum_j phi(q_i) . phi(k_j)
            = phi(q_i) S / (phi(q_i) . z)
        S = sum_j phi(k_j) v_j^T [d_f, d_v],   z = sum_j phi(k_j) [d_f]

    (Katharopoulos et al. 2020, arXiv:2006.16236, equations 4 to 6 and 10 to 12.)
    A denominator of 0 yields 0, and so does no key. `features` says what phi is:

    - `elu`, the default: elu(x) + 1, that is x + 1 above 0 and e^x elsewhere;
    - `relu`: max(x, 0);
    - `taylor`: (x / |x|, 1), of length d_k + 1, zeros staying zeros: the first
      order of e^(q . k) for normalised q and k, so that y_i = (sum_j v_j + q_i
      sum_j k_j v_j^T) / (n + q_i . sum_j k_j) (Li et al. 2020, arXiv:2007.14902,
      equations 8 to 10);
    - a region f32 -> f32, for each element by itself; see the regions of
      `attention` for what its ops mean.

    d_f is d_k but for `taylor`. No part of it has a pair (i, j): time is linear
    in n, and memory beyond the result constant.

    query [batch, n, heads d_k], key [batch, m, kvHeads d_k], value
    [batch, m, kvHeads d_v] -> [batch, n, heads d_v] of f32. Queries, keys and
    values of bf16 or f16, as choose-precision makes them, are taken as f32, in
    which all else is computed.

    The step form of a causal one advances one position: query [rows, heads d_k],
    key [rows, kvHeads d_k], value [rows, kvHeads d_v]. The states S
    [rows, kvHeads, d_f, d_v] and z [rows, kvHeads, d_f] behind `into`, after the
    place of y, hold the sums up to the position before and then up to this one:
    constant in length, as of a recurrent network.

    split-linear-attention makes `linear_attention.sums` and
    `linear_attention.read` of one that is not causal.

    ```mlir
    %y = transformer.linear_attention %q, %k, %v lengths(%n) {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x?x256xf32>, tensor<?x?x256xf32>,
         tensor<?xi32>) -> tensor<?x?x256xf32>
    %c = transformer.linear_attention %q, %k, %v causal {heads = 8 : i64}
           features { ^bb0(%x: f32): ... transformer.yield %f : f32 } : ...
    %r, %s1, %z1 = transformer.linear_attention step %q, %k, %v
           into %empty, %s0, %z0 {heads = 8 : i64} features taylor : ...
    ```

    Constraints:
    - (C1) query, key and value have rank 3, in the step form rank 2; key and
      value agree in batch and length, and with `causal` and in the step form the
      query with them: position i is one of both. There is a length for each
      sentence.
    - (C2) the step form has the states of that shape; it has no lengths, since
      each row has a key, and is causal without saying so.
    - (C3) heads and kvHeads divide their widths, kvHeads divides heads.
    - (C4) queries and keys have one width a head.
    - (C5) a region is given exactly if the features are one; it has an
      argument of f32, yields f32, and holds elementwise ops of arith and math and
      `transformer.lookup`, on types that a score region of `attention` may have.
    - (C6) query, key and value have one element type, destinations f32.

    There is no mask: one that is no prefix of the keys is another sum for each
    query, which is what attention computes.
  }];
  let arguments = (ins Transformer_FloatVectors:$query,
      Transformer_FloatVectors:$key, Transformer_FloatVectors:$value,
      Optional<Transformer_PerRow>:$lengths,
      Variadic<Transformer_Values>:$destinations, Transformer_Count:$heads,
      OptionalAttr<Transformer_Count>:$kv_heads, UnitAttr:$causal,
      UnitAttr:$step,
      DefaultValuedAttr<Transformer_FeatureMap,
                        "::heddle::FeatureMap::Elu">:$features);
  let assemblyFormat = [{
    (`step` $step^)? $query `,` $key `,` $value
        (`lengths` `(` $lengths^ `)`)? (`causal` $causal^)?
        (`into` $destinations^)? attr-dict
        `` custom<Features>($features, $map)
        `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::LinearAttentionSpec &":$spec)>];
  let extraClassDeclaration = [{
    int64_t getKeyValueHeads() { return getKvHeads().value_or(getHeads()); }
    /// Widths of one head.
    int64_t getKeyWidth();
    int64_t getValueWidth();
    /// The length of phi(k).
    int64_t getFeatureWidth();
    /// S and z in the step form, one a row.
    ::mlir::Value getSums() { return getDestinations()[1]; }
    ::mlir::Value getTotals() { return getDestinations()[2]; }
  }];
}

def LinearAttentionSumsOp : Transformer_LinearAttentionOp<
                                "linear_attention.sums", [], ["buildFlops"]> {
  let summary = "the sums over keys that linear attention reads";
  let description = [{
    S = sum_j phi(k_j) v_j^T and z = sum_j phi(k_j) of each kv head, over the keys
    j < lengths[b]; see `linear_attention`.

    key [batch, m, heads d_k], value [batch, m, heads d_v] -> S
    [batch, heads, d_f, d_v] and z [batch, heads, d_f] of f32.

    ```mlir
    %s, %z = transformer.linear_attention.sums %k, %v lengths(%n)
      {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x?x256xf32>, tensor<?xi32>)
        -> (tensor<?x8x32x32xf32>, tensor<?x8x32xf32>)
    ```

    Constraints:
    - (C1) key and value have rank 3 and agree in batch and length; there is a
      length for each sentence.
    - (C2) heads divide the widths.
    - (C3) a region as in `linear_attention`.
    - (C4) key and value have one element type, destinations f32.
  }];
  let arguments = (ins Transformer_FloatVectors:$key,
      Transformer_FloatVectors:$value, Optional<Transformer_PerRow>:$lengths,
      Variadic<Transformer_Values>:$destinations, Transformer_Count:$heads,
      DefaultValuedAttr<Transformer_FeatureMap,
                        "::heddle::FeatureMap::Elu">:$features);
  let assemblyFormat = [{
    $key `,` $value (`lengths` `(` $lengths^ `)`)? (`into` $destinations^)?
        attr-dict `` custom<Features>($features, $map)
        `:` functional-type(operands, results)
  }];
}

def LinearAttentionReadOp
    : Transformer_LinearAttentionOp<
          "linear_attention.read", ["buildStep"], ["buildFlops"]> {
  let summary = "linear attention of queries to sums over keys";
  let description = [{
    y_i = phi(q_i) S / (phi(q_i) . z), 0 if the denominator is 0, with the sums
    of kv head h / (heads / kvHeads); see `linear_attention`.

    query [batch, n, heads d_k], S [batch, kvHeads, d_f, d_v], z
    [batch, kvHeads, d_f] -> [batch, n, heads d_v] of f32. In the step form query
    [rows, heads d_k]; row r reads the sums of sentence `of`[r].

    ```mlir
    %y = transformer.linear_attention.read %q, %s, %z {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x8x32x32xf32>, tensor<?x8x32xf32>)
        -> tensor<?x?x256xf32>
    %r = transformer.linear_attention.read %p, %s, %z of %sentences
      {heads = 8 : i64}
      : (tensor<?x256xf32>, tensor<?x8x32x32xf32>, tensor<?x8x32xf32>,
         tensor<?xi32>) -> tensor<?x256xf32>
    ```

    Constraints:
    - (C1) the query has rank 3, or rank 2 with `of`.
    - (C2) heads divide the width, and the heads of S divide heads.
    - (C3) S and z have static dimensions but the first, one number of heads, and
      the features of the query: d_k, with `taylor` d_k + 1.
    - (C4) a region as in `linear_attention`.
    - (C5) the destination has type f32.
  }];
  let arguments = (ins Transformer_FloatVectors:$query,
      Transformer_Vectors:$sums, Transformer_Vectors:$totals,
      Optional<Transformer_PerRow>:$sentences,
      Variadic<Transformer_Values>:$destinations, Transformer_Count:$heads,
      DefaultValuedAttr<Transformer_FeatureMap,
                        "::heddle::FeatureMap::Elu">:$features);
  let assemblyFormat = [{
    $query `,` $sums `,` $totals (`of` $sentences^)? (`into` $destinations^)?
        attr-dict `` custom<Features>($features, $map)
        `:` functional-type(operands, results)
  }];
  let builders = [
    /// What is left of an attention once its sums are made.
    OpBuilder<(ins "::heddle::LinearAttentionOp":$attention,
                   "::heddle::LinearAttentionSumsOp":$sums), [{
      build($_builder, $_state, attention.getQuery(), sums.getOutputs()[0],
            sums.getOutputs()[1], /*sentences=*/::mlir::Value(),
            attention.getDestinations(), attention.getHeads(),
            attention.getFeatures());
    }]>
  ];
}

#endif // HEDDLE_DIALECT_LINEARATTENTION
