"""Changes checkpoints of test/goldens/opennmt and reads what heddle-compile says.

usage: check_opennmt_errors.py GOLDENS WORK

Each case changes a copy of a file and expects one line on standard error with this text in
it, the status 1 and no artifact.
"""

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
path = work / "model.pt"
refusals = Refusals(work)


def expect(sentence, *flags):
    refusals.expect(path, sentence, *flags)


def with_checkpoint(change, sentence, name="plain"):
    content = load(next((goldens / "opennmt" / name).glob("*.pt")))
    content = change(content) or content
    save(path, content)
    expect(sentence)


def option(name, value):
    return lambda content: setattr(content["opt"], name, value)


def weight(name, value):
    return lambda content: content["model"].__setitem__(name, value)


def vocabulary(name, value):
    return lambda content: content["vocab"].__setitem__(name, value)


# Vocabularies of releases before 2, a list of pairs, are read.
content = load(next((goldens / "opennmt" / "plain").glob("*.pt")))
pairs = []
for side in ("src", "tgt"):
    words = class_of("torchtext.vocab", "Vocab")()
    words.itos = content["vocab"][side]
    pairs.append((side, words))
content["vocab"] = pairs
save(path, content)
done = subprocess.run(["heddle-compile", path, "-o", work / "artifact", "--target", "x86-64-v3"],
                      capture_output=True, text=True)
if done.returncode != 0:
    failures.append(done.stderr)
(work / "artifact").unlink(missing_ok=True)

# Options.
with_checkpoint(lambda c: c.update(opt=None), "has no options 'opt', a Namespace")
for name in ("rnn", "brnn", "cnn", "mean", "transformer_lm"):
    with_checkpoint(option("encoder_type", name),
                    f"has 'encoder_type' with the value \"{name}\" (supported: transformer)")
with_checkpoint(option("decoder_type", "transformer_lm"), "has 'decoder_type'")
with_checkpoint(option("model_type", "img"), "has 'model_type' with the value \"img\" (supported: \"text\")")
with_checkpoint(option("model_task", "lm"), "has 'model_task' with the value \"lm\"")
with_checkpoint(option("self_attn_type", "average"),
                "has 'self_attn_type' with the value \"average\" (supported: \"scaled-dot\"")
with_checkpoint(option("generator_function", "sparsemax"),
                "has 'generator_function' with the value \"sparsemax\" (supported: \"softmax\")")
for name in ("copy_attn", "coverage_attn"):
    with_checkpoint(option(name, True), f"has '{name}' with the value true")
for name in ("num_experts", "n_src_feats", "relative_positions_buckets", "sliding_window"):
    with_checkpoint(option(name, 8), f"has '{name}' with the value 8")
with_checkpoint(option("quant_layers", ["w_1"]), "has 'quant_layers' with the value [\"w_1\"]")
with_checkpoint(option("max_relative_positions", 20),
                "has 'max_relative_positions' with the value 20 (supported: 0, -1, -2)")
with_checkpoint(option("max_relative_positions", -3), "has 'max_relative_positions' with the value -3")
with_checkpoint(option("rotary_dim", 2),
                "the model turns 2 elements of a head, expected an even number that is 4",
                name="neighbours")
with_checkpoint(option("rotary_dim", 3), "the model turns 3 elements of a head", name="rotary")
with_checkpoint(option("pos_ffn_activation_fn", "tanh"),
                "has 'pos_ffn_activation_fn' with the value \"tanh\" (supported: relu, gelu, silu, gated-gelu)")
with_checkpoint(option("layer_norm", "batch"), "has 'layer_norm' with the value \"batch\" (supported: standard, rms)")
with_checkpoint(option("norm_eps", "small"), "has 'norm_eps' with the value \"small\"")
with_checkpoint(option("heads", 3), "the model has 3 heads, expected a divisor of its width 16")
with_checkpoint(option("heads", 0), "has 'heads' with the value 0 (supported: 1 to 65536)")
with_checkpoint(option("num_kv", 3), "has 'num_kv' with the value 3 (supported: divisors of heads, 4)")
with_checkpoint(option("num_kv", 2), "has shape [16, 16] but the model needs [8, 16]")
# Vocabularies.
with_checkpoint(lambda c: c.update(vocab={}), "'vocab' of '")
with_checkpoint(vocabulary("src", []), "has no tokens 'src'")
with_checkpoint(vocabulary("tgt", None), "has no list of tokens 'tgt'")
with_checkpoint(vocabulary("src", ["<unk>", 5]), "token 1 of 'src' in 'vocab' of ")
with_checkpoint(vocabulary("src_feats", [["a"]]), "has features of source tokens, 'src_feats'")
with_checkpoint(vocabulary("decoder_start_token", ""), "has no token '' in 'tgt'")
with_checkpoint(lambda c: c["vocab"]["tgt"].__setitem__(3, "x"), "has no token '</s>' in 'tgt'")
with_checkpoint(lambda c: c["vocab"]["src"].__setitem__(0, "x"), "has no token '<unk>' in 'src'")
with_checkpoint(lambda c: c["vocab"]["src"].append("more"),
                "has shape [32, 16] but the model needs [33, 16]")
# Weights.
with_checkpoint(lambda c: c.update(model=None), "holds a None (expected a dictionary of tensors)")
with_checkpoint(lambda c: c.pop("model") and None, "has no weights 'model' and 'generator'")
with_checkpoint(lambda c: c.update(generator={}), "the model has no tensor 'generator.bias'")
with_checkpoint(lambda c: c["model"].pop("encoder.layer_norm.weight") and None,
                "the model has no tensor 'encoder.layer_norm.weight'")
with_checkpoint(option("position_encoding", False), "tensor 'encoder.embeddings.make_embedding.pe.pe' of ")
with_checkpoint(option("position_encoding", True),
                "the model has no tensor 'encoder.embeddings.make_embedding.pe.pe'", name="rotary")
with_checkpoint(option("parallel_residual", True), "tensor 'encoder.transformer.0.feed_forward.layer_norm")
with_checkpoint(option("pos_ffn_activation_fn", "silu"),
                "the model has no tensor 'encoder.transformer.0.feed_forward.w_3.weight'")
with_checkpoint(weight("encoder.transformer.0.self_attn.relative_positions_embeddings.weight", tensor(9, 4)),
                "is not supported: relative positions of Shaw et al.")
with_checkpoint(weight("encoder.transformer.0.self_attn.relative_attention_bias.weight", tensor(9, 4)),
                "is not supported: relative positions of T5")
with_checkpoint(weight("encoder.embeddings.make_embedding.emb_luts.1.weight", tensor(9, 4)),
                "is not supported: features of tokens")
with_checkpoint(weight("decoder.copy_attn.linear_in.weight", tensor(9, 4)),
                "is not supported: attention that copies")
with_checkpoint(weight("decoder.transformer_layers.0.self_attn.linear_query.lora_A", tensor(2, 16)),
                "is not supported: low-rank adapters")
# Flags.
content = load(next((goldens / "opennmt" / "plain").glob("*.pt")))
save(path, content)
expect("has its options in its weights", "--random-weights", "1")
expect("cannot read 'missing.model'", "--tokenizer", "missing.model")

refusals.finish()
