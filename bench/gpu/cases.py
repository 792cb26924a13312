"""What is measured on a GPU: attention under masks and scores, and products, as
modules of single entries. The names are those of bench/peers/gpu.py, too."""

import dataclasses


@dataclasses.dataclass
class Sizes:
    tokens: int  # Of a batch, and so of one sentence from there on.
    columns: int  # Of all heads.
    widths: list  # Of a head.
    lengths: list
    steps: list  # Of caches.
    products: list  # Rows, inputs and outputs of y = x W.


SIZES = {
    "gpu": Sizes(
        tokens=16384,
        columns=2048,
        widths=[64, 128],
        lengths=[2048, 4096, 8192, 16384, 32768, 65536],
        steps=[512, 4096, 32768],
        products=[
            (8192, 8192, 8192),
            (4096, 4096, 4096),
            (512, 4096, 4096),
            (16, 4096, 4096),
        ],
    ),
    # What is done, beside PyTorch, in five minutes.
    "short": Sizes(
        tokens=16384,
        columns=2048,
        widths=[64, 128],
        lengths=[4096, 16384],
        steps=[512, 4096, 32768],
        products=[(8192, 8192, 8192), (512, 4096, 4096), (16, 4096, 4096)],
    ),
    # What an emulator does in seconds.
    "emulator": Sizes(
        tokens=64,
        columns=128,
        widths=[64],
        lengths=[64],
        steps=[512],
        products=[(16, 128, 128)],
    ),
}

# Each as mask ops, of which the last is %mask, and a score of %s.
VARIANTS = {
    "dense": ("", ""),
    "causal": ("%mask = transformer.mask.causal", ""),
    "window": ("%mask = transformer.mask.window [left = 256, right = 256]", ""),
    "dilated": (
        "%mask = transformer.mask.window [left = 256, right = 256, dilation = [2]]",
        "",
    ),
    "bigbird": (
        """%near = transformer.mask.window [left = 96, right = 96]
  %global = transformer.mask.global [count = 128]
  %random = transformer.mask.random_blocks [block = 64, count = 3, seed = 5]
      of %lengths : tensor<?xi32>
  %some = transformer.mask.or %near, %global
  %mask = transformer.mask.or %some, %random""",
        "",
    ),
    "alibi": (
        "%mask = transformer.mask.causal",
        """%back = arith.subi %i, %j : i32
  %steps = arith.sitofp %back : i32 to f32
  %slope = arith.constant 0.0625 : f32
  %bias = arith.mulf %slope, %steps : f32
  %x = arith.subf %s, %bias : f32""",
    ),
    "softcap": (
        "%mask = transformer.mask.causal",
        """%most = arith.constant 30.0 : f32
  %part = arith.divf %s, %most : f32
  %bent = math.tanh %part : f32
  %x = arith.mulf %bent, %most : f32""",
    ),
}


def attention(variant, width, columns):
    """The entry VARIANT_dWIDTH, of bf16."""
    mask, score = VARIANTS[variant]
    named = " mask(%mask)" if mask else ""
    type_of_mask = ", !transformer.mask" if mask else ""
    region = (
        f""" score {{
^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
  {score}
  transformer.yield %x : f32
}}"""
        if score
        else ""
    )
    sequence = f"tensor<?x?x{columns}xbf16>"
    inputs = "".join(
        f"""%{name}: {sequence} {{transformer.name = "{name}",
        transformer.dims = ["batch", "source"]}}, """
        for name in "qkv"
    )
    return f"""func.func @{variant}_d{width}({inputs}
    %lengths: tensor<?xi32> {{transformer.name = "lengths",
        transformer.dims = ["batch"]}})
    -> (tensor<?x?x{columns}xf32> {{transformer.name = "y"}}) {{
  {mask}
  %y = transformer.attention %q, %k, %v{named}
      {{heads = {columns // width} : i64}}{region}
    : ({sequence}, {sequence}, {sequence}{type_of_mask}) -> tensor<?x?x{columns}xf32>
  return %y : tensor<?x?x{columns}xf32>
}}
"""


def step(width, columns):
    """The entry step_dWIDTH: a query a row over its cache, of bf16."""
    cache, row = f"tensor<?x?x{columns}xbf16>", f"tensor<?x{columns}xbf16>"
    caches = "".join(
        f"""%{name}: {cache} {{transformer.name = "{name}",
        transformer.dims = ["rows", "capacity"]}}, """
        for name in "kv"
    )
    ids = ", ".join(
        f"""%{name}: tensor<?xi32> {{transformer.name = "{name}",
        transformer.dims = ["rows"]}}"""
        for name in ("positions", "sentences")
    )
    return f"""func.func @step_d{width}(
    %q: {row} {{transformer.name = "q", transformer.dims = ["rows"]}}, {caches}{ids})
    -> (tensor<?x{columns}xf32> {{transformer.name = "y"}}) {{
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions of %sentences
    {{heads = {columns // width} : i64}}
    : ({row}, {cache}, {cache}, !transformer.mask, tensor<?xi32>, tensor<?xi32>)
      -> tensor<?x{columns}xf32>
  return %y : tensor<?x{columns}xf32>
}}
"""


def product(inputs, outputs):
    """The entry product_INPUTSxOUTPUTS, of bf16."""
    name = f"{inputs}x{outputs}"
    shapes = f"?x{inputs}", name, f"?x{outputs}"
    x, w, y = (f"tensor<{shape}xbf16>" for shape in shapes)
    return f"""transformer.parameter @w : tensor<{name}xf32>
transformer.parameter @r : {w} rounded of [@w]
func.func @product_{name}(
    %x: {x} {{transformer.name = "x", transformer.dims = ["rows"]}})
    -> ({y} {{transformer.name = "y"}}) {{
  %w = transformer.weight @r : {w}
  %y = transformer.linear %x, %w round : ({x}, {w}) -> {y}
  return %y : {y}
}}
"""


def keys(variant, i, n):
    """How many keys query i of n sees, by which operations count."""
    if variant == "dense":
        return n
    if variant in ("causal", "alibi", "softcap"):
        return i + 1
    if variant == "window":
        return min(n, i + 257) - max(0, i - 256)
    if variant == "dilated":
        return 1 + min(256, i // 2) + min(256, (n - 1 - i) // 2)
    raise KeyError(variant)  # Drawn: counted by whoever draws.


def operations(entry, dims, sizes):
    """Those of a call; none where keys are drawn."""
    size = {key: int(n) for key, n in (word.split("=") for word in dims.split(","))}
    name, shape = entry.split("_")
    if name == "product":
        inputs, outputs = map(int, shape.split("x"))
        return 2 * size["rows"] * inputs * outputs
    if name == "step":
        return 4 * size["rows"] * size["capacity"] * sizes.columns
    if name == "bigbird":
        return None
    length = size["source"]
    pairs = sum(keys(name, i, length) for i in range(length))
    return 4 * sizes.columns * size["batch"] * pairs


def artifacts(sizes):
    """The artifacts, each with its entries' text."""
    text = [step(width, sizes.columns) for width in sizes.widths]
    for variant in VARIANTS:
        text += [attention(variant, width, sizes.columns) for width in sizes.widths]
    yield "attention", "".join(text)
    for inputs, outputs in sorted({shape[1:] for shape in sizes.products}):
        yield f"product-{inputs}x{outputs}", product(inputs, outputs)


def timed(artifact, sizes):
    """The entries of an artifact and the dims of their calls."""
    if artifact.startswith("attention"):
        for variant in VARIANTS:
            for width in sizes.widths:
                for length in sizes.lengths:
                    batch = max(1, sizes.tokens // length)
                    yield f"{variant}_d{width}", f"batch={batch},source={length}"
        for width in sizes.widths:
            for length in sizes.steps:
                for rows in (1, 64):
                    if rows * length <= 64 * 4096:
                        yield f"step_d{width}", f"rows={rows},capacity={length}"
    else:
        for rows, inputs, outputs in sizes.products:
            if artifact == f"product-{inputs}x{outputs}":
                yield f"product_{inputs}x{outputs}", f"rows={rows}"
