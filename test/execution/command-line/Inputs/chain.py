#!/usr/bin/env python3
"""Prints a model whose encoder is a chain of activations.

usage: chain.py LENGTH
"""

import sys

IDS = 'tensor<?x?xi32> {{transformer.name = "ids", transformer.dims = ["batch", "{}"]{}}}'
SEQUENCE = "tensor<?x?x4xf32>"
LENGTHS = 'tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}'
MEMORY = SEQUENCE + ' {transformer.name = "memory"'
EMBEDDING = f"""\
  %table = transformer.weight @table : tensor<8x4xf32>
  %x0 = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<8x4xf32>) -> {SEQUENCE}"""

length = int(sys.argv[1])
chain = "\n".join(
    f"  %x{i + 1} = transformer.activation tanh %x{i} : ({SEQUENCE}) -> {SEQUENCE}"
    for i in range(length)
)
print(f"""\
module attributes {{
  transformer.family = "chain",
  transformer.tasks = {{generate = {{start = 1 : i32, eos = array<i32: 0>, vocabulary = 8 : i32}}}},
  transformer.source = {{vocabulary = 8 : i32}}
}} {{
transformer.parameter @table : tensor<8x4xf32> zeros
transformer.parameter @output : tensor<4x8xf32> zeros

func.func private @encode(%ids: {IDS.format("source", "")}, %lengths: {LENGTHS})
    -> ({MEMORY}}}) attributes {{transformer.forms = ["full"]}} {{
{EMBEDDING}
{chain}
  return %x{length} : {SEQUENCE}
}}

func.func private @decode(%ids: {IDS.format("target", ", transformer.target")},
    %memory: {MEMORY}, transformer.dims = ["batch", "source"]}}, %lengths: {LENGTHS})
    -> (tensor<?x?x8xf32> {{transformer.name = "logits"}})
    attributes {{transformer.forms = ["full", "step"]}} {{
{EMBEDDING}
  %output = transformer.weight @output : tensor<4x8xf32>
  %logits = transformer.linear %x0, %output
    : ({SEQUENCE}, tensor<4x8xf32>) -> tensor<?x?x8xf32>
  return %logits : tensor<?x?x8xf32>
}}
}}""")
