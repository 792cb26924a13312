"""Attention in PyTorch, one thread, by the names of bench-kernels' cases. A line
"MASK dWIDTH nLENGTH BATCHxHEADS [bf16]" is answered by the seconds of one run, the
median of some: of scaled_dot_product_attention for full and causal, else of
FlexAttention, compiled, under a mask of blocks made before. A mask that is not here
is answered by "-". usage: PYTHON THIS"""

import functools
import statistics
import time

import answer
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

torch.set_num_threads(1)
torch.manual_seed(0)
flex = torch.compile(flex_attention)

PREDICATES = {
    "near": lambda b, h, i, j: (i - j).abs() <= 256,
    "global": lambda b, h, i, j: ((i - j).abs() <= 256) | (i < 2) | (j < 2),
    "dilated": lambda b, h, i, j: ((i - j).abs() <= 512) & ((i - j) % 2 == 0),
}


@functools.cache
def prepared(case):
    """A function that runs the case, once warm."""
    mask, width, length, shape, *element = case.split()
    width, length = int(width[1:]), int(length[1:])
    batch, heads = map(int, shape.split("x"))
    dtype = torch.bfloat16 if element else torch.float32
    sizes = (batch, heads, length, width)
    q, k, v = (torch.randn(*sizes, dtype=dtype) for _ in range(3))
    if mask in ("full", "causal"):
        run = functools.partial(
            scaled_dot_product_attention, q, k, v, is_causal=mask == "causal"
        )
    elif mask in PREDICATES:
        blocks = create_block_mask(
            PREDICATES[mask], None, None, length, length, device="cpu"
        )
        run = functools.partial(flex, q, k, v, block_mask=blocks)
    else:
        return None
    with torch.no_grad():
        run()
    return run


def seconds(case):
    run = prepared(case)
    if not run:
        return "-"
    taken = []
    with torch.no_grad():
        while len(taken) < 3 or sum(taken) < 0.2:
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    return str(statistics.median(taken))


answer.serve(lambda lines: [seconds(line) for line in lines])
