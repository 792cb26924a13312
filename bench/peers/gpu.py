"""PyTorch on a GPU, by the names of bench/gpu/cases.py. A line "ENTRY DIM=N,..." is
answered by the seconds of one run: of scaled_dot_product_attention for dense and
causal attention and steps (cuDNN's or FlashAttention, whichever is faster), of
FlexAttention, compiled, for the other variants, and of cuBLAS for products. What is
not here is answered by "-". usage: PYTHON THIS"""

import functools

import answer
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

COLUMNS = 2048
RUNS = 20
# Each case is compiled for its shape; more of them than this run as they are written.
torch._dynamo.config.cache_size_limit = 1024
flex = torch.compile(flex_attention, dynamic=False)
torch.manual_seed(0)


def causal(b, h, i, j):
    return j <= i


def bigbird(drawn):
    def seen(b, h, i, j):
        near = (i - j).abs() <= 96
        return near | (i < 128) | (j < 128) | drawn[i // 64, j // 64]

    return seen


MASKS = {
    "window": lambda b, h, i, j: (i - j).abs() <= 256,
    "dilated": lambda b, h, i, j: ((i - j).abs() <= 512) & ((i - j) % 2 == 0),
    "alibi": causal,
    "softcap": causal,
}
SCORES = {
    "alibi": lambda s, b, h, i, j: s - 0.0625 * (i - j),
    "softcap": lambda s, b, h, i, j: 30 * torch.tanh(s / 30),
}


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def fastest(runs):
    """The one of several ways to do the same that takes least; some may fail."""
    taken = {}
    for run in runs:
        try:
            taken[run] = seconds_of(run)
        except RuntimeError:
            continue
    return min(taken, key=taken.get)


def dense(q, k, v, is_causal):
    def under(backend):
        def run():
            with sdpa_kernel(backend):
                scaled_dot_product_attention(q, k, v, is_causal=is_causal)

        return run

    return fastest(
        under(backend)
        for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION)
    )


def attention(variant, width, batch, length):
    heads = COLUMNS // width
    q, k, v = (random(batch, heads, length, width) for _ in range(3))
    if variant in ("dense", "causal"):
        return dense(q, k, v, variant == "causal")
    if variant == "bigbird":
        blocks = -(-length // 64)
        places = torch.randint(blocks, (blocks, 3), device="cuda")
        drawn = torch.zeros(blocks, blocks, dtype=torch.bool, device="cuda")
        mask = bigbird(drawn.scatter(1, places, True))
    else:
        mask = MASKS[variant]
    blocks = create_block_mask(mask, None, None, length, length, device="cuda")
    score = SCORES.get(variant)
    return lambda: flex(q, k, v, score_mod=score, block_mask=blocks)


def step(width, rows, capacity):
    heads = COLUMNS // width
    q = random(rows, heads, 1, width)
    k, v = (random(rows, heads, capacity, width) for _ in range(2))
    return lambda: scaled_dot_product_attention(q, k, v)


@functools.lru_cache(maxsize=1)
def prepared(entry, dims):
    """A function that runs the case, once warm; none where it is not known."""
    name, shape = entry.split("_")
    size = {key: int(n) for key, n in (word.split("=") for word in dims.split(","))}
    if name == "product":
        inputs, outputs = map(int, shape.split("x"))
        x, w = random(size["rows"], inputs), random(inputs, outputs)
        run = functools.partial(torch.mm, x, w)
    elif name == "step":
        run = step(int(shape[1:]), size["rows"], size["capacity"])
    elif name in ("dense", "causal", "bigbird", *MASKS):
        run = attention(name, int(shape[1:]), size["batch"], size["source"])
    else:
        return None
    run()
    return run


def seconds_of(run):
    run()
    torch.cuda.synchronize()
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(RUNS):
        run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e-3 / RUNS


def seconds(line):
    try:
        run = prepared(*line.split())
        return str(seconds_of(run)) if run else "-"
    except (RuntimeError, torch.cuda.OutOfMemoryError):
        return "-"


with torch.no_grad():
    answer.serve(lambda lines: [seconds(line) for line in lines])
