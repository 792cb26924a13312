"""Makes tiny checkpoints of fairseq and what fairseq itself computes of them.

usage: make_fairseq_goldens.py [--folder FOLDER] [NAME...]

fairseq 0.12.2, whose sources have to be in PYTHONPATH (no extension of it needs to be
built), makes a Transformer with random weights, saves it as its trainer does, loads the
file, and runs it in float64: logits behind given targets, and its own beam search. Inputs
and seeds are tried until the search is unambiguous. Of two models lines of text are translated, cut
by subword-nmt and by SentencePiece. README.md describes the files.
"""

import argparse
import dataclasses
import inspect
import io
import json
import pathlib
import shutil

# The module of Python 3.11 refuses defaults that fairseq has.
code = inspect.getsource(dataclasses).replace("f.default.__class__.__hash__ is None", "False")
exec(compile(code, dataclasses.__file__, "exec"), dataclasses.__dict__)

import numpy as np
import omegaconf
import sentencepiece
import torch
from fairseq.data import Dictionary
from fairseq.models.transformer.transformer_legacy import TransformerModel, base_architecture
from fairseq.data.data_utils import post_process
from fairseq.sequence_generator import SequenceGenerator
from subword_nmt import apply_bpe, learn_bpe

SOURCE_LENGTHS = [1, 2, 3, 5, 8, 13, 17, 4]
TARGET_LENGTHS = [6, 1, 11, 3, 2, 8, 4, 5]
# With the end.
MAX_LENGTH = 16
# Of logits and of scores that decide.
MARGIN = 2e-4
SMALL = dict(
    encoder_embed_dim=16, decoder_embed_dim=16, encoder_ffn_embed_dim=24, decoder_ffn_embed_dim=20,
    encoder_attention_heads=4, decoder_attention_heads=2, encoder_layers=1, decoder_layers=1,
    max_source_positions=32, max_target_positions=24)
LANGUAGES = ("de", "en")


def dictionary_of(count, name):
    dictionary = Dictionary()
    for i in range(count - 4):
        dictionary.add_symbol(f"{name}{i}", n=count - i)
    return dictionary


class Task:
    def __init__(self, source, target):
        self.source_dictionary, self.target_dictionary = source, target


def draw(model, seed, end):
    """Weights wide enough for attention to be sharp; norms around 1; ends are likely."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            table = "embed" in name or "output_projection" in name
            own = 0.25 if table else 0.5 if parameter.dim() > 1 else 0.3
            parameter.normal_(0, own, generator=generator)
            if "layer_norm.weight" in name or "layernorm_embedding.weight" in name:
                parameter.add_(1)
    with torch.no_grad():
        model.decoder.output_projection.weight[2] *= end


# --- How files of different ages have it --------------------------------------


def namespace(options, **more):
    """What a trainer had as `args` before there was `cfg`, and has as cfg.model today."""
    args = argparse.Namespace(
        arch="transformer", task="translation", source_lang=LANGUAGES[0], target_lang=LANGUAGES[1],
        left_pad_source="True", data="data-bin", lr=[0.0007], max_tokens=4096, **options, **more)
    base_architecture(args)
    return args


def as_args(model, options):
    return {"args": namespace(options), "model": model.state_dict(),
            "optimizer_history": [{"criterion_name": "LabelSmoothedCrossEntropyCriterion",
                                   "optimizer_name": "FairseqAdam"}],
            "extra_state": {"epoch": 3, "val_loss": 4.5}, "last_optimizer_state": optimizer(model)}


def as_cfg(model, options):
    """Namespaces within a dictionary, as fairseq-train of 0.12 writes them."""
    return {"args": None,
            "cfg": {"_name": None, "common": {"seed": 1, "fp16": False},
                    "model": namespace(options, _name="transformer"),
                    "task": namespace(options, _name="translation")},
            "model": model.state_dict(), "criterion": {}, "optimizer_history": [],
            "task_state": {}, "extra_state": {"epoch": 3}, "last_optimizer_state": optimizer(model)}


def as_groups(model, options):
    """Nodes of omegaconf, with groups in the model, as the releases between them."""
    groups = {"encoder": {}, "decoder": {}}
    rest = {}
    for name, value in options.items():
        side, _, key = name.partition("_")
        if side in groups:
            groups[side][key] = value
        else:
            rest[name] = value
    cfg = omegaconf.OmegaConf.create({
        "model": {"_name": "transformer", **groups, **rest},
        "task": {"_name": "translation", "source_lang": LANGUAGES[0], "target_lang": LANGUAGES[1]}})
    return {"args": None, "cfg": cfg, "model": model.state_dict(), "extra_state": {}}


def optimizer(model):
    """What a trainer goes on with, shortened: nobody else reads it."""
    first = next(model.parameters())
    return {"state": {0: {"step": 7, "exp_avg": first.detach()[:2] * 2}},
            "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.98), "params": [0]}]}


def as_oldest(model, options):
    """Of 2018: one matrix of queries, keys and values, norms by numbers, none at the end."""
    state = {}
    model_state = model.state_dict()
    for name, value in model_state.items():
        for side, norms in (("encoder", ["self_attn_layer_norm", "final_layer_norm"]),
                            ("decoder", ["self_attn_layer_norm", "encoder_attn_layer_norm",
                                         "final_layer_norm"])):
            if name.startswith(side + ".layers"):
                for index, norm in enumerate(norms):
                    name = name.replace("." + norm, f".layer_norms.{index}")
        if ".q_proj." in name:
            parts = [model_state[name.replace("q_proj", part)] for part in ("q_proj", "k_proj", "v_proj")]
            state[name.replace("q_proj.", "in_proj_")] = torch.cat(parts)
        elif ".k_proj." in name or ".v_proj." in name or name.endswith("encoder.layer_norm.weight"):
            continue
        elif name == "decoder.output_projection.weight":
            state["decoder.embed_out"] = value
        elif not name.endswith(("r.layer_norm.weight", "r.layer_norm.bias", "version")):
            state[name] = value
    state["encoder.version"], state["decoder.version"] = torch.Tensor([1]), torch.Tensor([2])
    state["encoder.embed_positions.weights"] = torch.zeros(34, 16)
    args = namespace(options)
    del args.activation_fn, args.layernorm_embedding, args.no_cross_attention
    return {"args": args, "model": state, "extra_state": {}}


# name: options, sizes of dictionaries (one if both are the same), form, type, whether the
# file is of the format before torch 1.6.
MODELS = {
    # As wmt16.en-de.
    "joined": (dict(share_all_embeddings=True, encoder_layers=2, decoder_layers=2), (31,), as_cfg, torch.float32, False),
    # As wmt14.en-fr, before it.
    "pre-norm": (
        dict(encoder_normalize_before=True, decoder_normalize_before=True,
             share_decoder_input_output_embed=True, activation_fn="gelu"),
        (31, 27), as_args, torch.float32, True),
    "learned": (
        dict(encoder_learned_pos=True, decoder_learned_pos=True, layernorm_embedding=True,
             no_scale_embedding=True, encoder_normalize_before=True, activation_fn="gelu_accurate"),
        (31, 27), as_groups, torch.float16, False),
    "widths": (
        dict(encoder_embed_dim=24, encoder_learned_pos=True, decoder_output_dim=12,
             decoder_normalize_before=True, no_decoder_final_norm=True, activation_fn="tanh"),
        (31, 27), as_cfg, torch.float32, False),
    "no-positions": (
        dict(no_token_positional_embeddings=True, activation_fn="linear", share_all_embeddings=True),
        (29,), as_args, torch.float32, False),
    "oldest": (
        dict(encoder_normalize_before=True, decoder_normalize_before=True),
        (31, 27), as_oldest, torch.float32, True),
}

# Of these, lines of text are translated.
TEXT_MODELS = {
    "merges": (dict(share_decoder_input_output_embed=True), as_cfg, torch.float16, False),
    "pieces": (dict(share_all_embeddings=True), as_args, torch.float16, False),
}
SENTENCEPIECE = pathlib.Path(__file__).parent / "marian-npz-old-pre-norm" / "vocab.spm"
SENTENCES = """the lower lights were lower than the newest tower
a weaver weaves the widest cloth in the west
where the river rests the weaver is the winner
der Weber webt das weiteste Tuch im Westen
wo der Fluss ruht , ist der Weber der Sieger
die Lichter waren tiefer als der neueste Turm""".split("\n")
# Words, spaces and characters that the dictionaries have and have not. White space that is no
# space is left out: fairseq drops it as a token, here it separates words.
LINES = SENTENCES[:3] + [
    "lowest  rivers", " the tower ", "weaver", "w", "the xenial winner", "the Ünlower", "tower ,",
    "the@@ west", "we \u2581 we", "newest newest newest", "rest \U0001f9f5 rest"]


def merges_of(folder):
    """Merges, and dictionaries of the tokens of each side that they make."""
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(SENTENCES)), codes, 60)
    (folder / "bpecodes").write_text(codes.getvalue())
    bpe = apply_bpe.BPE(io.StringIO(codes.getvalue()))
    dictionaries = []
    for sentences in (SENTENCES[:3], SENTENCES[3:]):
        dictionary = Dictionary()
        for line in sentences:
            for token in bpe.process_line(line).split():
                dictionary.add_symbol(token)
        dictionary.finalize(padding_factor=8)
        dictionaries.append(dictionary)
    return dictionaries, bpe.process_line, "subword_nmt"


def pieces_of(folder):
    """The pieces of a model in another order than its own."""
    model = sentencepiece.SentencePieceProcessor(model_file=str(SENTENCEPIECE))
    dictionary = Dictionary()
    for i in reversed(range(model.get_piece_size())):
        if model.id_to_piece(i) not in ("<s>", "</s>", "<unk>"):
            dictionary.add_symbol(model.id_to_piece(i))
    return [dictionary, dictionary], lambda line: " ".join(model.encode(line, out_type=str)), "sentencepiece"


def make_text(name, folder):
    options, form, kind, is_sequence = TEXT_MODELS[name]
    options = SMALL | options | {"max_source_positions": 64}
    for seed in range(4000):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        dictionaries, cut, join = (merges_of if name == "merges" else pieces_of)(folder)
        save_dictionaries(folder, dictionaries)
        model = build(options, Task(*dictionaries))
        draw(model, seed, 2.5)
        model = model.to(kind)
        torch.save(form(model, options), folder / "checkpoint_best.pt",
                   _use_new_zipfile_serialization=not is_sequence)
        model.load_state_dict(model.state_dict())
        model = model.float().double()
        lines, expected, scores, raw = [], [], [], []
        with torch.no_grad():
            for line in LINES:
                ids = dictionaries[0].encode_line(cut(line), append_eos=True, add_if_not_exist=False)
                found = search(model, dictionaries[1], ids.tolist())
                # SentencePiece has its own text for what is unknown.
                if not found or (name == "pieces" and 3 in found["default"]):
                    continue
                lines.append(line)
                raw.append(dictionaries[1].string(torch.tensor(found["default"])))
                expected.append(post_process(raw[-1], join))
                scores.append(found["score"])
        # Several words, and words of several tokens.
        if len(lines) > len(LINES) / 2 and len(set(expected)) > 5 and (
                sum(" " in line for line in expected) > 1) and (
                    name == "pieces" or sum("@@ " in line for line in raw) > 1):
            (folder / "texts.json").write_text(
                json.dumps({"lines": lines, "expected": expected, "scores": scores}, indent=1) + "\n")
            print(f"{name}: seed {seed}", flush=True)
            return
    raise SystemExit(f"{name}: no seed is unambiguous")


def save_dictionaries(folder, dictionaries):
    for language, dictionary in zip(LANGUAGES, dictionaries):
        dictionary.save(str(folder / f"dict.{language}.txt"))


def build(options, task):
    args = namespace(options)
    return TransformerModel.build_model(args, task).eval()


def search(model, target, ids):
    """The ids of each search, or None where a choice is close or a limit counts."""
    tokens, lengths = torch.tensor([ids]), torch.tensor([len(ids)])
    found = {}
    for what, beams in (("greedy", 1), ("four", 4), ("default", 5)):
        generator = SequenceGenerator([model], target, beam_size=beams, max_len_b=MAX_LENGTH - 1)
        sample = {"net_input": {"src_tokens": tokens, "src_lengths": lengths}}
        best = generator.generate([model], sample)[0]
        if any(len(each["tokens"]) >= MAX_LENGTH - 1 for each in best):
            return None
        if beams > 1 and best[0]["score"] - best[1]["score"] < MARGIN:
            return None
        found[what] = best[0]["tokens"].tolist()
    score = float(best[0]["score"])
    out, _ = model(tokens, lengths, torch.tensor([[2] + found["greedy"][:-1]]))
    # Neither padding nor, at the start, the end is chosen.
    out[0, :, 1] = out[0, 0, 2] = -1e9
    top = out[0].topk(2).values
    return found | {"score": score} if (top[:, 0] - top[:, 1]).min() >= MARGIN else None


def run(model, source, target, seed):
    """Inputs and what is found of them, or None if this model is of no use."""
    generator = np.random.default_rng(seed)
    teacher = [[int(i) for i in generator.integers(4, len(target), n)] for n in TARGET_LENGTHS]
    logits = np.full((len(teacher), max(TARGET_LENGTHS), len(target)), np.nan, np.float32)
    found = {"inputs": [], "teacher": teacher, "greedy": [], "four": [], "default": []}
    model = model.double()
    with torch.no_grad():
        for row, length in enumerate(SOURCE_LENGTHS):
            for _ in range(12):
                ids = [int(i) for i in generator.integers(4, len(source), length)] + [2]
                if best := search(model, target, ids):
                    break
            else:
                return None
            for what, line in ({"inputs": ids} | best).items():
                if what in found:
                    found[what].append(line)
            targets = teacher[row]
            out, _ = model(torch.tensor([ids]), torch.tensor([len(ids)]),
                           torch.tensor([[2] + targets[:-1]]))
            logits[row, :len(targets)] = out[0].numpy()
    lengths = {len(line) for line in found["greedy"]}
    if len(lengths) < 3 or found["greedy"] == found["four"]:
        return None
    return found, logits


def make(name, folder):
    options, sizes, form, kind, is_sequence = MODELS[name]
    options = SMALL | options
    source = dictionary_of(sizes[0], "s")
    target = source if len(sizes) == 1 else dictionary_of(sizes[1], "t")
    for seed in range(2000):
        model = build(options, Task(source, target))
        draw(model, seed, 2.5)
        model = model.to(kind)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        save_dictionaries(folder, (source, target))
        path = folder / "checkpoint_best.pt"
        torch.save(form(model, options), path, _use_new_zipfile_serialization=not is_sequence)
        # What fairseq makes of the file.
        state = torch.load(path, weights_only=False)
        read = build(options, Task(*(Dictionary.load(str(folder / f"dict.{language}.txt"))
                                     for language in LANGUAGES)))
        read.load_state_dict(state["model"], strict=True)
        if found := run(read.float(), source, target, seed):
            expected, logits = found
            (folder / "expected.json").write_text(json.dumps(expected) + "\n")
            np.save(folder / "logits.npy", logits)
            print(f"{name}: seed {seed}", flush=True)
            return
    raise SystemExit(f"{name}: no seed is unambiguous")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "fairseq")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.names or (MODELS | TEXT_MODELS):
        (make if name in MODELS else make_text)(name, arguments.folder / name)


if __name__ == "__main__":
    main()
