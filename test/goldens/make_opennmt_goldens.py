"""Makes tiny checkpoints of OpenNMT-py and what OpenNMT-py itself computes of them.

usage: make_opennmt_goldens.py [--folder FOLDER] [NAME...]

OpenNMT-py 3.5.1 makes a Transformer with random weights, saves it as its trainer does,
loads the file, and runs it in float64: logits behind given targets. Greedy decoding and
beam search, which end with as many finished hypotheses as beams, are written out here.
For the file of release 2 torchtext 0.5.0 makes the vocabularies; the class that holds them
has a stand-in, and what release 2 computes is what release 3 does with biases. README.md
describes the files.
"""

import argparse
import collections
import functools
import json
import pathlib
import shutil
import sys
import types

# Only a transform that nobody asks for imports it.
sys.modules.setdefault("spacy", types.ModuleType("spacy"))

import numpy as np
import sentencepiece
import torch
from onmt import opts
from onmt.inputters.inputter import dict_to_vocabs
from onmt.model_builder import build_base_model
from onmt.modules.embeddings import PositionalEncoding
from onmt.utils.parse import ArgumentParser

SOURCE_LENGTHS = [1, 2, 3, 5, 8, 13, 17, 4]
TARGET_LENGTHS = [6, 1, 11, 3, 2, 8, 4, 5]
# With the end.
MAX_LENGTH = 16
# Of logits and of scores that decide.
MARGIN = 2e-4
SMALL = dict(
    encoder_type="transformer", decoder_type="transformer", enc_layers=1, dec_layers=1,
    hidden_size=16, word_vec_size=16, heads=4, transformer_ff=24)
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]
# A file has a table of 5,000 positions; here it is shorter.
PositionalEncoding.__init__.__defaults__ = (48,)


def tokens_of(count, name):
    return SPECIAL + [f"{name}{i}" for i in range(count - 4)]


def options_of(changes):
    parser = ArgumentParser()
    opts.train_opts(parser)
    opt, _ = parser.parse_known_args(["-src_vocab", "v", "-tgt_vocab", "v", "-data", "{}"])
    for name, value in (SMALL | changes).items():
        setattr(opt, name, value)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    opt.dropout, opt.attention_dropout = [0.0], [0.0]
    return opt


def draw(model, seed, end):
    """Weights wide enough for attention to be sharp; norms around 1; ends are likely."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            table = "emb_luts" in name or name == "generator.weight"
            own = 0.25 if table else 0.5 if parameter.dim() > 1 else 0.3
            parameter.normal_(0, own, generator=generator)
            if "layer_norm" in name and name.endswith("weight"):
                parameter.add_(1)
    with torch.no_grad():
        model.generator.weight[3] *= end


def as_release_3(model, opt, vocabs):
    state = {name: value for name, value in model.state_dict().items() if "generator" not in name}
    return {"model": state, "generator": model.generator.state_dict(), "vocab": vocabs, "opt": opt,
            "optim": {"training_step": 3, "decay_step": 1, "optimizer": {"state": {}, "param_groups": []}}}


def feature_tokenize(text, layer=0, feat_delim=None, truncate=None):
    return text.split()


class MultiField:
    """TextMultiField of release 2."""

    def __init__(self, name, field):
        self.is_target = False
        self.preprocessing = self.postprocessing = None
        self.fields = [(name, field)]


def stand_in(module, name, made):
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, made)
    made.__module__, made.__name__, made.__qualname__ = module, name, name


def as_release_2(model, opt, vocabs):
    from torchtext.data import Field
    from torchtext.vocab import Vocab
    stand_in("onmt.inputters.text_dataset", "TextMultiField", MultiField)
    stand_in("onmt.inputters.text_dataset", "_feature_tokenize", feature_tokenize)
    fields = {}
    for side in ("src", "tgt"):
        ends = dict(init_token="<s>", eos_token="</s>") if side == "tgt" else {}
        field = Field(tokenize=functools.partial(feature_tokenize, layer=0), pad_token="<blank>",
                      include_lengths=side == "src", **ends)
        counter = collections.Counter({token: 90 - i for i, token in enumerate(vocabs[side])})
        field.vocab = Vocab(counter, specials=[])
        assert field.vocab.itos == vocabs[side]
        fields[side] = MultiField(side, field)
    fields["indices"] = Field(use_vocab=False, dtype=torch.long, sequential=False)
    old = argparse.Namespace(**{name: getattr(opt, name) for name in (
        "encoder_type", "decoder_type", "enc_layers", "dec_layers", "heads", "transformer_ff",
        "position_encoding", "share_embeddings", "share_decoder_embeddings", "copy_attn",
        "max_relative_positions", "self_attn_type", "model_type", "generator_function",
        "pos_ffn_activation_fn", "input_feed", "bridge")}, rnn_size=16, src_word_vec_size=16)
    checkpoint = as_release_3(model, old, fields)
    checkpoint["generator"] = {"0." + name: value for name, value in checkpoint["generator"].items()}
    return checkpoint


# name: options, sizes of vocabularies (one if both are the same), form, type, whether the file
# is of the format before torch 1.6.
ABSOLUTE = dict(position_encoding=True)
MODELS = {
    "plain": (ABSOLUTE | dict(enc_layers=2, dec_layers=2), (32, 24), as_release_3, torch.float32, False),
    "shared": (
        ABSOLUTE | dict(share_embeddings=True, share_decoder_embeddings=True, add_qkvbias=True,
                        pos_ffn_activation_fn="gelu", position_encoding_type="SinusoidalConcat"),
        (32,), as_release_3, torch.float32, False),
    "rotary": (
        dict(max_relative_positions=-1, rotary_interleave=False, rotary_theta=5000, rotary_dim=2,
             layer_norm="rms", norm_eps=1e-5, pos_ffn_activation_fn="silu", add_ffnbias=False),
        (32, 24), as_release_3, torch.float16, False),
    # Rotary positions of pairs of neighbours; linear biases of three heads.
    "neighbours": (
        dict(max_relative_positions=-1, rotary_interleave=True, add_qkvbias=True, enc_layers=2),
        (32, 24), as_release_3, torch.float32, False),
    "alibi": (
        dict(max_relative_positions=-2, hidden_size=12, word_vec_size=12, heads=3),
        (32, 24), as_release_3, torch.float32, False),
    "parallel": (
        ABSOLUTE | dict(parallel_residual=True, num_kv=2, pos_ffn_activation_fn="gated-gelu",
                        share_decoder_embeddings=True),
        (32, 24), as_release_3, torch.float32, False),
    "release-2": (
        ABSOLUTE | dict(add_qkvbias=True, add_ffnbias=True), (32, 24), as_release_2, torch.float32, True),
}
SENTENCEPIECE = pathlib.Path(__file__).parent / "marian-npz-old-pre-norm" / "vocab.spm"
LINES = ["a model reads short lines", " the  model ", "models read", "x \u2581 y", "the\u00a0line", "q", "\u00dc"]


def states_after(model, ids, targets):
    source = torch.tensor(ids).view(1, -1, 1)
    target = torch.tensor(targets + [0]).view(1, -1, 1)
    out, _ = model(source, target, torch.tensor([len(ids)]))
    return model.generator(out)[0]


def beam_search(model, ids, beams, penalty=1.0):
    """The best hypothesis and its score, or None where a choice is close or a limit counts."""
    running, finished = [([2], 0.0)], []
    for length in range(1, MAX_LENGTH):
        candidates = []
        for tokens, total in running:
            scores = torch.log_softmax(states_after(model, ids, tokens)[-1], dim=-1)
            candidates += [(total + score, tokens, token) for token, score in enumerate(scores.tolist())]
        candidates.sort(key=lambda each: -each[0])
        if candidates[beams - 1][0] - candidates[beams][0] < MARGIN:
            return None
        running = []
        for rank, (total, tokens, token) in enumerate(candidates[:2 * beams]):
            if token != 3 and len(running) < beams:
                running.append((tokens + [token], total))
            elif token == 3 and rank < beams:
                finished.append((total / length ** penalty, tokens[1:] + [3]))
        if len(finished) >= beams:
            finished.sort(key=lambda each: -each[0])
            close = len(finished) > 1 and finished[0][0] - finished[1][0] < MARGIN
            return None if close else finished[0]
    return None


def search(model, ids, penalty):
    found = {}
    for what, beams, power in (("greedy", 1, 1), ("four", 4, penalty), ("default", 5, penalty)):
        best = beam_search(model, ids, beams, power)
        if not best:
            return None
        found[what], score = best[1], best[0]
    return found, score


def run(model, vocabs, penalty, seed):
    """Inputs and what is found of them, or None if this model is of no use."""
    generator = np.random.default_rng(seed)
    count = len(vocabs["tgt"])
    teacher = [[int(i) for i in generator.integers(4, count, n)] for n in TARGET_LENGTHS]
    logits = np.full((len(teacher), max(TARGET_LENGTHS), count), np.nan, np.float32)
    found = {"inputs": [], "teacher": teacher, "greedy": [], "four": [], "default": []}
    for row, length in enumerate(SOURCE_LENGTHS):
        for _ in range(12):
            ids = [int(i) for i in generator.integers(4, len(vocabs["src"]), length)]
            if best := search(model, ids, penalty):
                break
        else:
            return None
        for what, line in ({"inputs": ids} | best[0]).items():
            found[what].append(line)
        targets = teacher[row]
        logits[row, :len(targets)] = states_after(model, ids, [2] + targets[:-1]).numpy()
    if len({len(line) for line in found["greedy"]}) < 3 or found["greedy"] == found["four"]:
        return None
    return found, logits


def load(path, vocabs, opt):
    """What OpenNMT-py makes of a file."""
    checkpoint = torch.load(path, weights_only=False)
    generator = {name.removeprefix("0."): value for name, value in checkpoint["generator"].items()}
    model = build_base_model(opt, dict_to_vocabs(vocabs))
    model.load_state_dict(checkpoint | {"generator": generator}, strict=True)
    # A target is decoded token by token, and none of its tokens is masked then.
    model.decoder.embeddings.word_padding_idx = -1
    return model.eval().double()


@torch.no_grad()
def make(name, folder):
    changes, sizes, form, kind, is_sequence = MODELS[name]
    vocabs = {"src": tokens_of(sizes[0], "s"), "data_task": "seq2seq", "decoder_start_token": "<s>"}
    vocabs["tgt"] = vocabs["src"] if len(sizes) == 1 else tokens_of(sizes[1], "t")
    for seed in range(2000):
        opt = options_of(changes)
        model = build_base_model(opt, dict_to_vocabs(vocabs))
        draw(model, seed, 2.5)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        path = folder / "model_step_3.pt"
        torch.save(form(model.to(kind), opt, vocabs), path, _use_new_zipfile_serialization=not is_sequence)
        penalty = 0 if form == as_release_2 else 1
        if found := run(load(path, vocabs, opt), vocabs, penalty, seed):
            expected, logits = found
            (folder / "expected.json").write_text(
                json.dumps(expected | {"length-penalty": penalty}) + "\n")
            np.save(folder / "logits.npy", logits)
            print(f"{name}: seed {seed}", flush=True)
            return
    raise SystemExit(f"{name}: no seed is unambiguous")


@torch.no_grad()
def make_pieces(name, folder):
    """Lines of text, cut by SentencePiece."""
    cutter = sentencepiece.SentencePieceProcessor(model_file=str(SENTENCEPIECE))
    pieces = [cutter.id_to_piece(i) for i in range(cutter.get_piece_size())]
    tokens = SPECIAL + [piece for piece in reversed(pieces) if piece not in SPECIAL]
    vocabs = {"src": tokens, "tgt": tokens, "data_task": "seq2seq", "decoder_start_token": "<s>"}
    changes = ABSOLUTE | dict(share_embeddings=True, share_decoder_embeddings=True)
    ids = {token: i for i, token in enumerate(tokens)}
    for seed in range(2000):
        opt = options_of(changes)
        model = build_base_model(opt, dict_to_vocabs(vocabs))
        draw(model, seed, 2.5)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        path = folder / "model.pt"
        torch.save(as_release_3(model.half(), opt, vocabs), path)
        model = load(path, vocabs, opt)
        expected, scores = [], []
        for line in LINES:
            found = search(model, [ids.get(piece, 0) for piece in cutter.encode(line, out_type=str)], 1)
            if not found or set(found[0]["default"]) & {0, 1, 2}:
                break
            text = "".join(tokens[i] for i in found[0]["default"][:-1])
            expected.append(text.replace("\u2581", " ").strip())
            scores.append(found[1])
        if len(expected) == len(LINES) and len(set(expected)) > 4:
            (folder / "texts.json").write_text(
                json.dumps({"lines": LINES, "expected": expected, "scores": scores}, indent=1) + "\n")
            print(f"{name}: seed {seed}", flush=True)
            return
    raise SystemExit(f"{name}: no seed is unambiguous")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "opennmt")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.names or [*MODELS, "pieces"]:
        (make_pieces if name == "pieces" else make)(name, arguments.folder / name)


if __name__ == "__main__":
    main()
