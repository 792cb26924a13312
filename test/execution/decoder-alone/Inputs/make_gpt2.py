"""Writes GPT-2 (a decoder alone) as a module of the dialect: GPT-2's sizes come
from config.json, its mathematics from transformers' GPT2LMHeadModel. Weights are
bound by their names to a safetensors file."""

import json
import sys

config = json.load(open(sys.argv[1] + "/config.json"))
d, heads, layers = config["n_embd"], config["n_head"], config["n_layer"]
inner, vocabulary = config["n_inner"] or 4 * d, config["vocab_size"]
positions, epsilon = config["n_positions"], config["layer_norm_epsilon"]
x = f"tensor<?x?x{d}xf32>"
parameters, body, names = [], [], {}


def weight(name, *shape, transposed=False):
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    parameters.append(
        f'  transformer.parameter @"{name}" : {kind}'
        + (" transposed" if transposed else "")
    )
    value = f"%w{len(names)}"
    names[name] = value
    body.append(f'    {value} = transformer.weight @"{name}" : {kind}')
    return value, kind


def op(result, text, operands, results):
    types = ", ".join(operands)
    body.append(f"    {result} = transformer.{text} : ({types}) -> {results}")


def norm(result, source, name):
    (g, gt), (b, bt) = weight(name + ".weight", d), weight(name + ".bias", d)
    op(
        result,
        f"norm layer {source}, {g}, {b} {{epsilon = {epsilon:e} : f32}}",
        [x, gt, bt],
        x,
    )


def linear(result, source, name, width_in, width, extra="", results=None):
    (w, wt), (b, bt) = weight(name + ".weight", width_in, width), weight(
        name + ".bias", width
    )
    wide = lambda n: f"tensor<?x?x{n}xf32>"
    op(
        result,
        f"linear {source}, {w}, {b}{extra}",
        [wide(width_in), wt, bt],
        results or wide(width),
    )


(table, tt), (rows, rt) = weight("transformer.wte.weight", vocabulary, d), weight(
    "transformer.wpe.weight", positions, d
)
op("%e", f"embedding %ids, {table}", ["tensor<?x?xi32>", tt], x)
op("%h0", f"positions.learned %e, {rows}", [x, rt], x)
body.append("    %causal = transformer.mask.causal")
for i in range(layers):
    layer = f"transformer.h.{i}."
    norm(f"%a{i}", f"%h{i}", layer + "ln_1")
    # One linear for queries, keys and values: Conv1D is not transposed.
    linear(
        f"%q{i}, %k{i}, %v{i}",
        f"%a{i}",
        layer + "attn.c_attn",
        d,
        3 * d,
        f" split [{d}, {d}, {d}]",
        f"({x}, {x}, {x})",
    )
    op(
        f"%s{i}",
        f"attention %q{i}, %k{i}, %v{i} mask(%causal) {{heads = {heads} : i64}}",
        [x, x, x, "!transformer.mask"],
        x,
    )
    linear(f"%o{i}", f"%s{i}", layer + "attn.c_proj", d, d)
    op(f"%r{i}", f"add %h{i}, %o{i}", [x, x], x)
    norm(f"%b{i}", f"%r{i}", layer + "ln_2")
    linear(f"%u{i}", f"%b{i}", layer + "mlp.c_fc", d, inner)
    wide = f"tensor<?x?x{inner}xf32>"
    op(f"%g{i}", f"activation gelu_tanh %u{i}", [wide], wide)
    linear(f"%f{i}", f"%g{i}", layer + "mlp.c_proj", inner, d)
    op(f"%h{i + 1}", f"add %r{i}, %f{i}", [x, x], x)
norm("%y", f"%h{layers}", "transformer.ln_f")
head, ht = weight("lm_head.weight", d, vocabulary, transposed=True)
logits = f"tensor<?x?x{vocabulary}xf32>"
op("%logits", f"linear %y, {head}", [x, ht], logits)
print(
    f"""module @gpt2 attributes {{
  transformer.family = "gpt2",
  transformer.source = {{vocabulary = {vocabulary} : i32, positions = {positions} : i32}},
  transformer.tasks = {{generate = {{
    vocabulary = {vocabulary} : i32, prompt = "target", eos = array<i32>,
    max_target = {positions} : i32
  }}}}
}} {{"""
)
print("\n".join(parameters))
print(
    f"""  func.func private @decode(
      %ids: tensor<?x?xi32> {{transformer.name = "ids",
        transformer.dims = ["batch", "target"], transformer.target}})
      -> ({logits} {{transformer.name = "logits"}})
      attributes {{transformer.forms = ["full", "step", "extend"]}} {{"""
)
print("\n".join(body))
print(f"    return %logits : {logits}\n  }}\n}}")
