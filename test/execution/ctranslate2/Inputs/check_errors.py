"""Damages folders of test/goldens/ctranslate2 and reads what heddle-compile says.

usage: check_errors.py GOLDENS WORK

Each case changes a copy of a folder and expects one line on standard error with this
text in it, the status 1 and no artifact.
"""

import json
import pathlib
import shutil
import struct
import sys

goldens, work = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(goldens))
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Inputs"))
from ctranslate2_file import parse, serialise
from refusals import Refusals

shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
folder = work / "model"
refusals = Refusals(work)


def start(name="bart"):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(goldens / "ctranslate2" / name, folder)


def expect(sentence, *flags, path=folder):
    refusals.expect(path, sentence, *flags)


def with_bytes(change, sentence):
    start()
    path = folder / "model.bin"
    path.write_bytes(change(path.read_bytes()))
    expect(sentence)


def with_variables(change, sentence, specification="TransformerSpec", revision=7, name="bart"):
    start(name)
    path = folder / "model.bin"
    variables, aliases = parse(path.read_bytes())
    change(variables, aliases)
    path.write_bytes(serialise(6, specification, revision, variables, aliases))
    expect(sentence)


def with_config(change, sentence):
    start()
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))
    expect(sentence)


def setting(name, kind, value):
    data = {0: "<f", 1: "<b", 2: "<h", 3: "<i"}[kind]

    def change(variables, aliases):
        variables[name] = ((), kind, struct.pack(data, value))

    return change


def tensor(name, *shape):
    size = 1
    for extent in shape:
        size *= extent

    def change(variables, aliases):
        aliases.pop(name, None)
        variables[name] = (shape, 0, struct.pack("<f", 0.5) * size)

    return change


def both(first, second):
    def change(variables, aliases):
        first(variables, aliases)
        second(variables, aliases)

    return change


def without(name):
    def change(variables, aliases):
        variables.pop(name, None)
        aliases.pop(name, None)

    return change


# The file.
with_bytes(lambda b: b[:3], "has 3 bytes, too few for a model of CTranslate2")
with_bytes(lambda b: b[:9], "has no name of a specification at byte 4")
with_bytes(lambda b: b[:24], "ends within its head: it has 24 bytes")
with_bytes(lambda b: b[:400], "announces 67 variables but has only 400 bytes")
with_bytes(lambda b: b[:9000], "bytes from byte")
with_bytes(lambda b: b[:-1], "has no valid names")
with_bytes(lambda b: b + b"x", "has 1 bytes behind its last entry")
with_bytes(lambda b: struct.pack("<I", 7) + b[4:], "has the binary version 7 (supported: 1 to 6)")
with_bytes(lambda b: struct.pack("<I", 0) + b[4:], "has the binary version 0 (supported: 1 to 6)")
with_bytes(lambda b: b[:26] + struct.pack("<I", 2**32 - 1) + b[30:],
           "announces 4294967295 variables but has only")
with_variables(lambda v, a: v.update(x=((2**32 - 1,) * 3, 0, b"abcd")),
               "has shape [4294967295, 4294967295, 4294967295] in float32 but 4 bytes of data")
with_variables(lambda v, a: v.update(x=((1,) * 9, 0, b"abcd")), "has 9 dimensions (at most 8)")
with_variables(lambda v, a: v.update(x=((2, 2), 1, b"abcd")), "is int8 but there is no 'x_scale'")
with_variables(lambda v, a: a.update(x="y"), "stands for 'y', which is no variable")
# The specification.
for name in ("WhisperSpec", "Wav2Vec2Spec", "Wav2Vec2BertSpec", "NoSpec"):
    with_variables(lambda v, a: None, f"has the specification '{name}' (supported: ",
                   specification=name, revision=1)
with_variables(lambda v, a: None, "has revision 8 of TransformerSpec (supported: at most 7)",
               revision=8)
# Options and variables.
with_variables(setting("encoder/activation", 1, 7),
               "variable 'encoder/activation' of 'model.bin' is 7 (supported: 0 to 6)")
with_variables(setting("decoder/num_heads", 2, 0),
               "variable 'decoder/num_heads' of 'model.bin' is 0 (supported: 1 to 65536)")
with_variables(setting("encoder/num_heads", 2, 5),
               "the model has 5 heads in 'encoder', expected a divisor of the 48 rows of 'encoder/layer_0/self_attention/linear_0'")


def odd_width(variables, aliases):
    variables["decoder/embeddings/weight"] = ((41, 15), 0, bytes(4 * 41 * 15))
    del variables["encoder/position_encodings/encodings"]


with_variables(odd_width, "the width of 'encoder' is 15, expected an even one of at least 4")
with_variables(setting("encoder/layer_0/self_attention/num_heads_kv", 3, 3),
               "has 3 heads of keys, expected a divisor of 4")
with_variables(setting("encoder/alibi", 1, 1), "linear biases of positions (ALiBi)")
with_variables(setting("decoder/final_logit_softcapping", 0, 30), "a cap of logits")
with_variables(setting("encoder/sliding_window", 3, 8), "a window of attention")
with_variables(tensor("encoder/layer_0/self_attention/relative_position_keys", 5, 4),
               "is not supported: relative positions of Shaw et al.")
with_variables(tensor("encoder/layer_0/self_attention/relative_attention_bias", 6, 4),
               "has 6 buckets for distances up to 128, expected a multiple of 4")
with_variables(setting("decoder/layer_1/self_attention/relative_attention_max_distance", 3, 4),
               "has 8 buckets for distances up to 4, expected", name="t5")
with_variables(tensor("decoder/layer_0/self_attention/relative_attention_bias", 8, 3),
               "has shape [8, 3] but the model needs [8, 4]", name="t5")
with_variables(without("decoder/layer_norm/gamma"),
               "a factor of a decoder's output without a norm", name="t5")
with_variables(tensor("decoder/layer_0/self_attention/q_norm/gamma", 4),
               "is not supported: a norm of queries")
with_variables(tensor("encoder/embeddings_1/weight", 7, 4),
               "'encoder/embeddings_merge' of 'model.bin' is 0 (supported: 1): factors of tokens that are not added")
with_variables(both(setting("encoder/embeddings_merge", 1, 1),
                    tensor("encoder/embeddings_1/weight", 7, 16)),
               "is not supported: factors of source tokens")
with_variables(without("encoder/layer_1/ffn/linear_1/weight"),
               "the model has no tensor 'encoder/layer_1/ffn/linear_1/weight'",
               specification="TransformerEncoderSpec", revision=1, name="bert")
with_variables(tensor("encoder/embeddings_1/weight", 2, 15),
               "has shape [2, 15] but the model needs [2, 16]",
               specification="TransformerEncoderSpec", revision=1, name="bert")
with_variables(tensor("encoder/embeddings_0/weight", 40, 16), "has 41 tokens but",
               specification="TransformerEncoderSpec", revision=1, name="bert")
with_variables(setting("num_heads", 1, 4), "has revision 2 of TransformerEncoderSpec (supported: at most 1)",
               specification="TransformerEncoderSpec", revision=2, name="bert")
start("bert")
expect("has all layers of its encoder (expected no --layers)", "--layers", "1")
start("bert")
(folder / "spiece.model").write_text("no model")
expect("spiece.model")
with_variables(tensor("encoder/layer_0/ffn/linear_2/weight", 4, 4),
               "variable 'encoder/layer_0/ffn/linear_2/weight' of")
with_variables(without("encoder/layer_0/ffn/linear_1/weight"),
               "the model has no tensor 'encoder/layer_0/ffn/linear_1/weight' (expected shape [16, 24])")
with_variables(tensor("encoder/layer_0/ffn/linear_1/weight", 16, 23),
               "has shape [16, 23] but the model needs [16, 24]")
with_variables(tensor("encoder/embeddings_0/weight", 4), "has shape [4], expected a matrix")
with_variables(lambda v, a: v.update({"decoder/embeddings/weight_scale": ((27,), 0, bytes(4 * 27))}),
               "has the quantisation multiplier 0.000000 (expected a positive number)",
               name="multi-query-int8")
# config.json.
with_config(lambda c: c.update(eos_token="</end>"),
            "has 'eos_token' with the value \"</end>\", which is no token of")
with_config(lambda c: c.update(decoder_start_token=None),
            "has 'decoder_start_token' with the value null (supported: a token)")
with_config(lambda c: c.update(quantization_type=1), "has 'quantization_type' with the value 1")
with_config(lambda c: c.update(suppress_ids=[3]), "has 'suppress_ids' with the value [3]")
with_config(lambda c: c.update(layer_norm_epsilon="small"), "has 'layer_norm_epsilon'")
start()
(folder / "config.json").unlink()
expect("has no config.json, which belongs to a model.bin of version 6")
start()
(folder / "config.json").write_text("{")
expect("config.json'")
# Vocabularies.
start()
(folder / "shared_vocabulary.json").unlink()
expect("has no vocabulary: neither shared_vocabulary nor source_vocabulary and target_vocabulary")
start()
(folder / "shared_vocabulary.json").write_text('["<s>", "<pad>", "</s>", "<unk>"]')
expect("has 4 tokens but 'decoder/embeddings/weight' has 41 rows")
start()
(folder / "shared_vocabulary.json").write_text('["<s>", 5]')
expect("token 1 of '")
start()
(folder / "shared_vocabulary.json").write_text("[]")
expect("has no tokens")
start()
(folder / "shared_vocabulary.json").unlink()
(folder / "shared_vocabulary.txt").write_bytes(b"<s>\n\xff\n")
expect("is no UTF-8")
start("gated")
(folder / "target_vocabulary.json").unlink()
expect("has no vocabulary: neither shared_vocabulary nor source_vocabulary and target_vocabulary")
# Tokenizers and flags.
start()
(folder / "sentencepiece.model").write_text("no model")
expect("is not a SentencePiece model")
start()
expect("--tokenizer has the value 'x.json', expected a file tokenizer.json or a SentencePiece model",
       "--tokenizer", "x.json")
expect("cannot read 'missing.spm'", "--tokenizer", "missing.spm")
expect("--tokenizer is for models of CTranslate2", "--tokenizer", "x.spm", path=goldens / "mbart")
start()
expect("has its options in its weights", "--random-weights", "1")
# Packages of argos-translate.
package = work / "x.argosmodel"
package.write_text("no zip")
expect("x.argosmodel'", path=package)

refusals.finish()
