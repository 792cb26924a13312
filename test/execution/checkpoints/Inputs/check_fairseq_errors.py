"""Changes checkpoints of test/goldens/fairseq and reads what heddle-compile says.

usage: check_fairseq_errors.py GOLDENS WORK

Each case changes a copy of a folder and expects one line on standard error with this text
in it, the status 1 and no artifact.
"""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from checkpoint_file import class_of, load, save, tensor
from refusals import Refusals

goldens, work = map(pathlib.Path, sys.argv[1:])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
folder = work / "model"
refusals = Refusals(work)


def start(name="joined"):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(goldens / "fairseq" / name, folder)


def expect(sentence, *flags, path=folder):
    refusals.expect(path, sentence, *flags)


def with_checkpoint(change, sentence, name="joined"):
    start(name)
    path = folder / "checkpoint_best.pt"
    content = load(path)
    content = change(content) or content
    save(path, content)
    expect(sentence)


def option(name, value):
    return lambda content: setattr(content["cfg"]["model"], name, value)


def weight(name, value):
    return lambda content: content["model"].__setitem__(name, value)


def dictionary(change, sentence, language="de"):
    start()
    path = folder / f"dict.{language}.txt"
    path.write_bytes(change(path.read_bytes()))
    expect(sentence)


def accept():
    done = subprocess.run(["heddle-compile", folder, "-o", work / "artifact", "--target", "x86-64-v3"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        failures.append(done.stderr)
    (work / "artifact").unlink(missing_ok=True)


# What the helper writes is read as it was; a line may give a token another id.
start()
path = folder / "checkpoint_best.pt"
save(path, load(path))
accept()
start("widths")
lines = (folder / "dict.de.txt").read_text().splitlines()
(folder / "dict.de.txt").write_text("\n".join(lines[:-1] + ["s3 7 #fairseq:overwrite"]) + "\n")
accept()

# The file.
start()
(folder / "checkpoint_best.pt").write_bytes(b"no checkpoint")
expect("is no file of torch.save: neither a zip archive nor a sequence of pickles")
start()
path.write_bytes(path.read_bytes()[:-30])
expect("checkpoint_best.pt'")
start("pre-norm")
path.write_bytes(path.read_bytes()[:-3])
expect("ends within the storage '")
start()
shutil.copy(path, folder / "checkpoint2.pt")
path.rename(folder / "checkpoint1.pt")
expect("has 2 checkpoints, 'checkpoint1.pt' and others, expected the path of one of them")
expect("cannot read", path=folder / "missing.pt")


class System:
    def __reduce__(self):
        return os.system, ("touch " + str(work / "ran"),)


with_checkpoint(lambda c: c.update(extra_state=System()), "asks for 'posix.system' at byte ")
if (work / "ran").exists():
    failures.append("the pickle ran a command")
with_checkpoint(lambda c: ["a list"], "holds a list (expected the dictionary of a checkpoint)")
with_checkpoint(lambda c: {"weights": c["model"], "step": 3},
                "is no checkpoint of fairseq or OpenNMT-py: it has the keys weights, step")
with_checkpoint(lambda c: c.update(model=[1]), "holds a list (expected a dictionary of tensors)")
with_checkpoint(weight("encoder.version", "three"),
                "has a str under the key 'encoder.version' (expected a tensor)")
# Options.
with_checkpoint(lambda c: c.update(cfg=None), "has no options: neither 'args', a Namespace, nor 'cfg'")
with_checkpoint(lambda c: c["cfg"].update(model=None), "has no options of a model in 'cfg'")
for name in ("transformer_lm_gpt", "lstm", "nonautoregressive_transformer", "bart_large"):
    with_checkpoint(option("arch", name), f"has 'arch' with the value \"{name}\"")
with_checkpoint(lambda c: setattr(c["cfg"]["task"], "_name", "multilingual_translation"),
                "has 'task' with the value \"multilingual_translation\" (supported: \"translation\")")
for name in ("adaptive_input", "cross_self_attention", "no_cross_attention", "char_inputs",
             "tie_adaptive_weights", "scale_heads"):
    with_checkpoint(option(name, True), f"has '{name}' with the value true (supported: false, 0)")
for name in ("quant_noise_pq", "quant_noise_scalar"):
    with_checkpoint(option(name, 0.25), f"has '{name}' with the value 0.25 (supported: false, 0)")
with_checkpoint(option("base_layers", 1), "has 'base_layers' with the value 1")
with_checkpoint(option("moe_freq", 2), "has 'moe_freq' with the value 2")
with_checkpoint(option("adaptive_softmax_cutoff", "10,20"),
                "has 'adaptive_softmax_cutoff' with the value \"10,20\" (supported: null)")
with_checkpoint(option("encoder_layers_to_keep", "0"), "has 'encoder_layers_to_keep'")
with_checkpoint(option("activation_fn", "relu_squared"),
                "has 'activation_fn' with the value \"relu_squared\" (supported: relu, gelu")
with_checkpoint(option("encoder_attention_heads", 5),
                "has 'encoder_attention_heads' with the value 5 (supported: divisors of the width 16)")
with_checkpoint(option("encoder_layers", "two"), "has 'encoder_layers' with the value \"two\"")
with_checkpoint(option("decoder_input_dim", 8), "has 'decoder_input_dim' with the value 8")
with_checkpoint(option("decoder_output_dim", 8), "has 'decoder_output_dim' with the value 8")
with_checkpoint(option("decoder_embed_dim", 8), "has 'decoder_input_dim' with the value 16 (supported: decoder_embed_dim, 8)")
with_checkpoint(lambda c: setattr(c["cfg"]["task"], "source_lang", None),
                "has 'source_lang' with the value null")
with_checkpoint(lambda c: setattr(c["cfg"]["task"], "target_lang", "../en"),
                "has 'target_lang' with the value \"../en\" (supported: names without '/')")
with_checkpoint(option("max_source_positions", 0), "has 'max_source_positions' with the value 0")
with_checkpoint(option("activation_fn", class_of("fairseq.odd", "Function")()),
                "has 'activation_fn' with the value \"an object of fairseq.odd.Function\"")
# Weights.
with_checkpoint(option("encoder_layers", 3),
                "the model has no tensor 'encoder.layers.2.")
with_checkpoint(option("encoder_layers", 1), "tensor 'encoder.layers.1.")
with_checkpoint(option("encoder_normalize_before", True),
                "the model has no tensor 'encoder.layer_norm.weight'")
with_checkpoint(option("layernorm_embedding", True),
                "the model has no tensor 'encoder.layernorm_embedding.weight'")
with_checkpoint(option("encoder_learned_pos", True),
                "the model has no tensor 'encoder.embed_positions.weight' (expected shape [34, 16])")
with_checkpoint(weight("encoder.layers.0.fc1.weight", tensor(23, 16)),
                "has shape [23, 16] but the model needs [24, 16]")
with_checkpoint(weight("encoder.layers.0.attn_ln.weight", tensor(16)),
                "tensor 'encoder.layers.0.attn_ln.weight' of ")
with_checkpoint(weight("decoder.layers.0.w_resid", tensor(16)), "is not supported: factors of residuals")
with_checkpoint(weight("encoder.quant_noise.weight", tensor(16, 16)),
                "is not supported: quantization with noise")
with_checkpoint(weight("encoder.layers.0.experts.0.fc1.weight", tensor(16, 16)),
                "is not supported: a mixture of experts")
with_checkpoint(weight("encoder.version", tensor(2)), "tensor 'encoder.version' of ")


def odd_width(content):
    for name in ("encoder_embed_dim", "decoder_embed_dim"):
        setattr(content["cfg"]["model"], name, 15)
    for name in ("encoder_attention_heads", "decoder_attention_heads"):
        setattr(content["cfg"]["model"], name, 3)
    content["cfg"]["model"].decoder_input_dim = content["cfg"]["model"].decoder_output_dim = 15
    for name in content["model"]:
        if "embed_tokens" in name or "output_projection" in name:
            content["model"][name] = tensor(31, 15)


with_checkpoint(odd_width, "the width of 'encoder' is 15, expected an even one of at least 4")
# Dictionaries.
start()
(folder / "dict.en.txt").unlink()
expect("cannot read '")
dictionary(lambda b: b + b"more\n", "line 28 of '")
dictionary(lambda b: b + b"more x\n", "is 'more x' (expected a token, a space and a count)")
dictionary(lambda b: b + b"s3 7\n", "has the token 's3', which has the id 7 already")
dictionary(lambda b: b + b"<pad> 7\n", "has the token '<pad>', which has the id 1 already")
dictionary(lambda b: b + b"\xff 7\n", "is no UTF-8")
dictionary(lambda b: b.replace(b"s3 ", b"x3 "), "have different tokens, but share_all_embeddings")
start("widths")
with (folder / "dict.de.txt").open("a") as file:
    file.write("more 1\n")
expect("has 32 tokens with the four special ones, but 'encoder.embed_tokens.weight' has 31 rows")
# Tokenizers and flags.
start()
(folder / "bpecodes").write_text("#version: 0.2\na b c\n")
expect("line 2 of '")
(folder / "bpecodes").write_text("e </w>\n")
expect("merges '</w>' by itself, as version 0.1 of subword-nmt did")
(folder / "bpecodes").write_bytes(b"a \xff\n")
expect("is no UTF-8")
start()
(folder / "sentencepiece.bpe.model").write_text("no model")
expect("is not a SentencePiece model")
start()
expect("cannot read 'missing.model'", "--tokenizer", "missing.model")
expect("has its options in its weights", "--random-weights", "1")
expect("with weights of its own", "--weights", "x.safetensors")

refusals.finish()
