"""Attention in PyTorch, one thread, for the cases of bench-kernels.

usage: taskset -c 0 python3 bench/kernels/torch_attention.py

Prints GFLOP/s of scaled_dot_product_attention by the names that bench-kernels
gives its cases; run it directly before or after. Rates count the pairs of the
mask alone. Needs torch.
"""

import statistics
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

torch.set_num_threads(1)
torch.set_grad_enabled(False)
print(f"torch {torch.__version__}")

CASES = [
    (mask, 1, 1, width, 2048, torch.float32)
    for width in [8, 16, 32, 48, 64, 128]
    for mask in ["full", "causal"]
]
CASES += [("full", 1, 1, 64, 8192, torch.float32)]
CASES += [("full", 16, 8, 32, length, torch.float32) for length in [10, 16, 30, 60]]
CASES += [
    (mask, 1, 1, width, length, dtype)
    for width in [64, 128]
    for length in [512, 2048]
    for mask in ["full", "causal"]
    for dtype in [torch.float32, torch.bfloat16]
    if length != 2048 or dtype == torch.bfloat16
]

for mask, batch, heads, width, length, dtype in CASES:
    q, k, v = (
        torch.randn(batch, heads, length, width, dtype=dtype) for _ in range(3)
    )
    seconds = []
    while len(seconds) < 5 or sum(seconds) < 0.5:
        start = time.perf_counter()
        scaled_dot_product_attention(q, k, v, is_causal=mask == "causal")
        seconds.append(time.perf_counter() - start)
    pairs = length * (length + 1) / 2 if mask == "causal" else length**2
    flops = 4 * batch * heads * width * pairs / statistics.median(seconds)
    name = f"attention {mask} d{width} n{length} {batch}x{heads}"
    name += " bf16" if dtype == torch.bfloat16 else ""
    print(f"{name:36} {flops / 1e9:9.1f}")
