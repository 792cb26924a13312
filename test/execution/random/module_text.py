"""A random module as text, with its weights.

Rows that are embedded pass through linears of zeros and ones where a memory
has to hold keys beside values, or where they are narrower than the vocabulary.
Those round nothing: whatever a logit has lost, attention has.
"""

import re

import numpy as np

from random_modules import DIAGONAL, EOS, PADDING, START, TOKENS, both
from regions import NORMALIZERS

MODULE = """\
// {words}

!ids = tensor<?x?xi32>
!lengths = tensor<?xi32>

module attributes {{
  transformer.family = "random",
  transformer.tasks = {{generate = {{start = {start} : i32, eos = array<i32: {eos}>, vocabulary = {vocabulary} : i32}}}},
  transformer.source = {{vocabulary = {vocabulary} : i32}}
}} {{
  {parameters}

  func.func private @encode(
      %ids: !ids {{transformer.name = "ids",
                  transformer.dims = ["batch", "source"]}},
      %lengths: !lengths {{transformer.name = "lengths",
                          transformer.dims = ["batch"]}})
      -> ({memory} {{transformer.name = "memory"}})
      attributes {{transformer.forms = ["full"]}} {{
    {encode}
  }}

  func.func private @decode(
      %ids: !ids {{transformer.name = "ids",
                  transformer.dims = ["batch", "target"], transformer.target}},
      %memory: {memory} {{
          transformer.name = "memory", transformer.dims = ["batch", "source"]}},
      %lengths: !lengths {{transformer.name = "lengths",
                          transformer.dims = ["batch"]}})
      -> ({logits} {{transformer.name = "logits"}})
      attributes {{transformer.forms = ["full", "step"]}} {{
    {decode}
  }}
}}
"""


def with_suffix(text, number):
    """The text of one of several regions: its scores are numbered, its other
    names are its own."""

    def rename(match):
        name = match[1]
        if name in "hij":
            return match[0]
        if name in "st":
            return f"%s{number + (name == 't')}"
        return f"%{name}{number}"

    return re.sub(r"%([a-z]\w*)", rename, text)


class ModuleText:
    """The lines of a function, and the weights of all of them."""

    def __init__(self, module):
        self.attention, self.element = module.attention, module.element.mlir
        # A logit for each column of the result, and a row for each token.
        self.vocabulary = max(TOKENS, self.attention.width())
        self.weights, self.parameters, self.lines = {}, [], []

    def rows(self, width):
        return f"tensor<?x?x{width}x{self.element}>"

    def matrix(self, values):
        return f"tensor<{'x'.join(map(str, values.shape))}x{self.element}>"

    def weight(self, name, values, element=None):
        shape = "x".join(map(str, values.shape))
        type = f"tensor<{shape}x{element or self.element}>"
        self.weights[name] = values
        self.parameters.append(f"transformer.parameter @{name} : {type}")
        self.lines.append(f"%{name} = transformer.weight @{name} : {type}")

    def embed(self, name, *tables):
        """Rows of tables [tokens, ...], side by side."""
        values = np.concatenate([t.reshape(TOKENS, -1) for t in tables], 1)
        unused = self.vocabulary - TOKENS
        table = np.pad(values, [(0, unused), (0, 0)])
        self.weight(f"{name}_table", table)
        self.lines.append(
            f"%{name} = transformer.embedding %ids, %{name}_table\n      : (!ids,"
            f" {self.matrix(table)}) -> {self.rows(values.shape[1])}"
        )
        return values.shape[1]

    def linear(self, name, operand, values):
        self.weight(f"{name}_weight", values)
        self.lines.append(
            f"%{name} = transformer.linear %{operand}, %{name}_weight\n      : ("
            f"{self.rows(len(values))}, {self.matrix(values)})"
            f" -> {self.rows(values.shape[1])}"
        )

    def mask(self, mask):
        """Returns the name of a tree's root."""
        names = [self.mask(operand) for operand in mask.operands]
        name = f"%mask{len(self.lines)}"
        text = mask.text.format(*names)
        self.lines.append(f"{name} = transformer.mask.{text}")
        return name

    def attend(self):
        a = self.attention
        mask = self.mask(a.mask)
        attributes = f"heads = {a.heads} : i64, kv_heads = {a.kv_heads} : i64"
        if a.scale is not None and not a.similarity:
            attributes += f", scale = {a.scale:.9e} : f32"
        regions = self.similarity() + self.score() + self.normalizer()
        types = ", ".join(
            self.rows(heads * width)
            for heads, width in [
                (a.heads, a.key_width),
                (a.kv_heads, a.key_width),
                (a.kv_heads, a.value_width),
            ]
        )
        self.lines.append(
            f"%attended = transformer.attention %query, %key, %value"
            f" mask({mask})\n      {{{attributes}}}{regions}\n      : ({types},"
            f" !transformer.mask) -> {self.rows(a.width())}"
        )
        return "attended", a.width()

    def similarity(self):
        region = self.attention.similarity
        if not region:
            return ""
        width = self.attention.key_width
        if region.table is not None:
            self.weight("similar", region.table, "f32")
        text = region.text.format(
            vector=f"vector<{width}xf32>", table=f"%similar[] : tensor<{width}xf32>"
        )
        return (
            f" similarity {{\n    ^bb0(%q: vector<{width}xf32>,"
            f" %k: vector<{width}xf32>):{text}"
            "\n      transformer.yield %t : f32\n    }"
        )

    def score(self):
        regions = self.attention.scores
        if not regions:
            return ""
        text = ""
        for number, region in enumerate(regions):
            for name, table in region.tables.items():
                # Regions compute in f32, whatever attention does.
                self.weight(f"{name}{number}", table, "f32")
            text += with_suffix(region.text, number)
        return (
            " score {\n    ^bb0(%s0: f32, %b: i32, %h: i32, %i: i32, %j: i32):"
            f"{text}\n      transformer.yield %s{len(regions)} : f32\n    }}"
        )

    def normalizer(self):
        name = self.attention.normalizer
        if name == "softmax":
            return ""
        if not NORMALIZERS[name].text:
            return f" normalizer {name}"
        return (
            f" normalizer {{\n    ^bb0(%s: f32):{NORMALIZERS[name].text}"
            "\n      transformer.yield %t : f32\n    }"
        )

    def inputs(self):
        """Queries, and keys and values of the same tokens."""
        self.query()
        self.embed("key", self.attention.key)
        self.embed("value", self.attention.value)

    def query(self):
        if not self.attention.is_projected:
            self.embed("query", self.attention.query)
            return
        width = self.embed("token", self.attention.query)
        self.linear("query", "token", np.eye(width))

    def forward_memory(self, width):
        """Row i of the memory at position i: a weight of 1."""
        self.embed("row", np.zeros((TOKENS, 1)))
        self.linear("any", "memory", np.zeros((width, 1)))
        mask = self.mask(both(PADDING, DIAGONAL))
        self.lines.append(
            f"%attended = transformer.attention %row, %any, %memory"
            f" mask({mask})\n      {{heads = 1 : i64}} score {{\n"
            "    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):\n"
            "      %one = arith.constant 1.0 : f32\n"
            "      transformer.yield %one : f32\n    } normalizer none\n"
            f"      : ({self.rows(1)}, {self.rows(1)}, {self.rows(width)},"
            f" !transformer.mask) -> {self.rows(width)}"
        )
        return "attended", width

    def encode(self):
        """Returns what the memory is called, and its width."""
        a = self.attention
        if a.place == "encoder":
            self.inputs()
            return self.attend()
        if a.place == "memory":
            return "memory", self.embed("memory", a.key, a.value)
        return "memory", self.embed("memory", np.zeros((TOKENS, 1)))

    def decode(self, memory):
        """Returns what the rows of logits are called."""
        a = self.attention
        if a.place == "encoder":
            name, width = self.forward_memory(memory)
        elif a.place == "self":
            self.inputs()
            name, width = self.attend()
        else:
            self.query()
            columns, keys = np.eye(memory), a.kv_heads * a.key_width
            self.linear("key", "memory", columns[:, :keys])
            self.linear("value", "memory", columns[:, keys:])
            name, width = self.attend()
        if width < self.vocabulary:
            self.linear("logits", name, np.eye(width, self.vocabulary))
            return "logits"
        return name

    def end(self, name, width):
        """Returns the function's text."""
        body = [*self.lines, f"return %{name} : {self.rows(width)}"]
        self.lines = []
        return "\n    ".join(body)


def write_module(module):
    """Its text, and its weights by name."""
    text = ModuleText(module)
    name, memory = text.encode()
    encode = text.end(name, memory)
    decode = text.end(text.decode(memory), text.vocabulary)
    return (
        MODULE.format(
            words=module.words,
            start=START,
            eos=EOS,
            vocabulary=text.vocabulary,
            memory=text.rows(memory),
            logits=text.rows(text.vocabulary),
            parameters="\n  ".join(text.parameters),
            encode=encode,
            decode=decode,
        ),
        text.weights,
    )
