//===- Transformer.td - The whole dialect ---------------------*- tablegen -*-===//

include "dialect/Attention.td"
include "dialect/Choice.td"
include "dialect/Layers.td"
include "dialect/LinearAttention.td"
include "dialect/Masks.td"
include "dialect/Online.td"
include "dialect/Projection.td"
include "dialect/Quantization.td"
include "dialect/States.td"
include "dialect/TakenRows.td"
include "dialect/Tiles.td"
include "dialect/Weights.td"
