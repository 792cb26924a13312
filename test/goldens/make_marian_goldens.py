"""Makes the tiny random models in Marian's own files and their goldens.

usage: make_marian_goldens.py [--folder FOLDER] [NAME...]

Random MarianMTModel and MBart weights, under Marian's names in `.npz` archives
as Marian writes them, and logits by transformers in float64, with Marian's
epsilon and positions. Where transformers has no model, pre-norm before 2022 and
the SSRU, marian_formula.py is the oracle: for all others it is asserted to agree
with transformers. README.md describes the files.
"""

import argparse
import io
import itertools
import json
import pathlib
import shutil

import numpy as np
import sentencepiece
import torch
from make_goldens import SOURCE_LENGTHS, TARGET_LENGTHS, accept, draw, write_ids
from marian_formula import EPSILON, Marian, timing
from sentencepiece import sentencepiece_model_pb2
from transformers import (
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartForConditionalGeneration,
)

OPTIONS = {
    "type": "transformer",
    "dec-cell": "gru",
    "tied-embeddings": False,
    "tied-embeddings-all": False,
    "tied-embeddings-src": False,
    "transformer-decoder-autoreg": "self-attention",
    "transformer-ffn-activation": "swish",
    "transformer-ffn-depth": 2,
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-preprocess": "",
    "transformer-train-position-embeddings": False,
    "version": "v1.9.0 ba94c5b9 2020-05-17 10:42:17 +0100",
}


def options(width, heads, ffn, depths, vocabularies, **more):
    more = {name.replace("_", "-"): value for name, value in more.items()}
    return OPTIONS | more | {
        "dim-emb": width,
        "dim-vocabs": vocabularies,
        "transformer-heads": heads,
        "transformer-dim-ffn": ffn,
        "enc-depth": depths[0],
        "dec-depth": depths[1],
    }


# `oracle` is the class of transformers.
MODELS = {
    # Two vocabularies, each with its SentencePiece model; the decoder's table is
    # that of the output. As Marian trains teachers.
    "marian-npz-two-vocabularies": {
        "oracle": MarianMTModel,
        "options": options(
            24, 3, 52, (2, 3), [61, 47], tied_embeddings=True
        ),
        "alignments": True,
    },
    # Pre-norm as it is since 2022, positions trained, everything tied; in the
    # files of an OPUS-MT original.
    "marian-npz-pre-norm": {
        "oracle": MBartForConditionalGeneration,
        "options": options(
            32, 4, 40, (3, 2), [71, 71],
            tied_embeddings_all=True,
            transformer_ffn_activation="gelu",
            transformer_guided_alignment_layer="1",
            transformer_postprocess="da",
            transformer_postprocess_emb="nd",
            transformer_postprocess_top="n",
            transformer_preprocess="n",
            transformer_train_position_embeddings=True,
            version="v1.11.5 601c9ac9 2022-02-15 18:05:21 +0000",
        ),
        "alignments": True,
        "opus": True,
        "deflated": True,
    },
    # Pre-norm of the queries alone, with the whole stack passed by; an output of
    # its own, stored as before 2019.
    "marian-npz-old-pre-norm": {
        "options": options(
            16, 2, 36, (2, 2), [53, 53],
            tied_embeddings_src=True,
            transformer_ffn_activation="relu",
            transformer_postprocess="da",
            transformer_postprocess_emb="n",
            transformer_postprocess_top="dan",
            transformer_preprocess="n",
        ),
        "untransposed": True,
    },
    # A student before it is quantised.
    "marian-npz-recurrent": {
        "options": options(
            16, 2, 28, (1, 2), [59, 43],
            dec_cell="ssru",
            transformer_decoder_autoreg="rnn",
            transformer_ffn_activation="relu",
        ),
    },
}

# Text for the vocabularies, in two languages by name only.
TEXTS = [
    "the little model reads a line and the line is short",
    "lea lina redo ta modela lite et lina es corta",
]


def layer_names(side, layer):
    """Names of a layer's tensors: transformers' behind `layers.N.`, Marian's."""
    parts = [("self_attn", "self")]
    if side == "decoder":
        parts.append(("encoder_attn", "context"))
    prefix = f"{side}_l{layer}"
    for theirs, ours in parts:
        for kind in "qkvo":
            linear = f"{theirs}.{'out' if kind == 'o' else kind}_proj"
            yield f"{linear}.weight", f"{prefix}_{ours}_W{kind}"
            yield f"{linear}.bias", f"{prefix}_{ours}_b{kind}"
        yield f"{theirs}_layer_norm", f"{prefix}_{ours}_Wo_ln"
    for n in "12":
        yield f"fc{n}.weight", f"{prefix}_ffn_W{n}"
        yield f"fc{n}.bias", f"{prefix}_ffn_b{n}"
    yield "final_layer_norm", f"{prefix}_ffn_ffn_ln"


def names(spec):
    """Of all tensors: transformers' name behind `model.`, and Marian's."""
    for side, key in (("encoder", "enc-depth"), ("decoder", "dec-depth")):
        for layer in range(1, spec["options"][key] + 1):
            for theirs, ours in layer_names(side, layer):
                yield f"{side}.layers.{layer - 1}.{theirs}", ours
        if "n" in spec["options"]["transformer-postprocess-emb"]:
            yield f"{side}.layernorm_embedding", f"{side}_emb_ln"
        if "n" in spec["options"]["transformer-postprocess-top"]:
            yield f"{side}.layer_norm", f"{side}_top_ln"


def make_tensors(spec, seed):
    """Weights of a model of transformers, drawn, under Marian's names."""
    opts = spec["options"]
    rng = np.random.Generator(np.random.PCG64(seed))
    width, ffn = opts["dim-emb"], opts["transformer-dim-ffn"]
    is_pre = "n" in opts["transformer-preprocess"]
    sources, targets = opts["dim-vocabs"]
    tensors = {}

    def add(ours, theirs, *shape):
        values = draw(theirs, shape, rng, {"config": {"scale_embedding": True}})
        values = values if len(shape) == 2 else values[None]
        tensors[ours] = values.astype(np.float32)

    for theirs, ours in names(spec):
        if "norm" in theirs:
            # What stands in front of a layer has a name of its own.
            before = is_pre and "top" not in ours or "_emb_" in ours
            suffix = "_pre" if before else ""
            add(f"{ours}_scale{suffix}", f"{theirs}.weight", width)
            add(f"{ours}_bias{suffix}", f"{theirs}.bias", width)
        elif theirs.endswith("bias"):
            add(ours, theirs, ffn if "fc1" in theirs else width)
        else:
            rows, columns = width, width
            rows = ffn if "fc1" in theirs else rows
            columns = ffn if "fc2" in theirs else columns
            add(ours, theirs, rows, columns)
            tensors[ours] = np.ascontiguousarray(tensors[ours].T)
    if opts["tied-embeddings-all"] or opts["tied-embeddings-src"]:
        add("Wemb", "shared.weight", sources, width)
    else:
        add("encoder_Wemb", "embed_tokens.weight", sources, width)
        add("decoder_Wemb", "embed_tokens.weight", targets, width)
    if opts["transformer-train-position-embeddings"]:
        add("Wpos", "embed_positions", 64, width)
        tensors["Wemb"] *= width**0.5  # They are not scaled.
    if not (opts["tied-embeddings-all"] or opts["tied-embeddings"]):
        add("decoder_ff_logit_out_Wt", "lm_head", targets, width)
        if spec.get("untransposed"):
            rows = tensors.pop("decoder_ff_logit_out_Wt")
            tensors["decoder_ff_logit_out_W"] = np.ascontiguousarray(rows.T)
    add("decoder_ff_logit_out_b", "bias", targets)
    if opts["transformer-decoder-autoreg"] == "rnn":
        make_recurrent(tensors, opts, add)
    return tensors


def make_recurrent(tensors, opts, add):
    """SSRUs in the place of the decoder's self-attention."""
    width = opts["dim-emb"]
    for layer in range(1, opts["dec-depth"] + 1):
        prefix = f"decoder_l{layer}"
        for name in [n for n in tensors if n.startswith(f"{prefix}_self_")]:
            values = tensors.pop(name)
            if "_ln_" in name:
                kind = name.split("_Wo_ln_")[1]
                tensors[f"{prefix}_rnn_ffn_ln_{kind}"] = values
        add(f"{prefix}_rnn_W", "query", width, width)
        add(f"{prefix}_rnn_Wf", "query", width, width)
        add(f"{prefix}_rnn_bf", "bias", width)


def make_oracle(spec, tensors):
    """transformers' model with these weights, in float64; the start token is one
    more, whose embedding is zero."""
    opts = spec["options"]
    sources, targets = opts["dim-vocabs"]
    is_marian = spec["oracle"] is MarianMTModel
    activation = opts["transformer-ffn-activation"]
    config = {
        "vocab_size": sources + 1,
        "d_model": opts["dim-emb"],
        "encoder_layers": opts["enc-depth"],
        "decoder_layers": opts["dec-depth"],
        "encoder_attention_heads": opts["transformer-heads"],
        "decoder_attention_heads": opts["transformer-heads"],
        "encoder_ffn_dim": opts["transformer-dim-ffn"],
        "decoder_ffn_dim": opts["transformer-dim-ffn"],
        "activation_function": "quick_gelu" if activation == "gelu" else activation,
        "max_position_embeddings": 64,
        "scale_embedding": is_marian,
        "pad_token_id": targets,
        "decoder_start_token_id": targets,
        "attn_implementation": "eager",
    }
    if is_marian:
        config |= {
            "decoder_vocab_size": targets + 1,
            "share_encoder_decoder_embeddings": False,
            # It would be tied to the encoder's table.
            "tie_word_embeddings": False,
        }
    kind = MarianConfig if is_marian else MBartConfig
    model = spec["oracle"](kind(**config)).double().eval()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = EPSILON
    state = model.state_dict()
    filled = set()

    def fill(name, values):
        state[name].zero_()
        state[name][tuple(slice(n) for n in values.shape)] = torch.tensor(values)
        filled.add(name)

    for theirs, ours in names(spec):
        if "norm" in theirs:
            suffix = "_pre" if f"{ours}_scale_pre" in tensors else ""
            fill(f"model.{theirs}.weight", tensors[f"{ours}_scale{suffix}"][0])
            fill(f"model.{theirs}.bias", tensors[f"{ours}_bias{suffix}"][0])
        elif theirs.endswith("bias"):
            fill(f"model.{theirs}", tensors[ours][0])
        else:
            fill(f"model.{theirs}", tensors[ours].T)
    for side in ("encoder", "decoder"):
        table = tensors.get("Wemb", tensors.get(f"{side}_Wemb"))
        fill(f"model.{side}.embed_tokens.weight", table)
        if "Wpos" in tensors:  # MBart leaves two rows free.
            rows = np.pad(tensors["Wpos"], ((2, 0), (0, 0)))
        else:
            rows = timing(64, opts["dim-emb"])
        fill(f"model.{side}.embed_positions.weight", rows)
    fill("lm_head.weight", table)
    if "Wemb" in tensors:
        filled.add("model.shared.weight")  # All of these are one.
    fill("final_logits_bias", tensors["decoder_ff_logit_out_b"])
    assert filled == set(state), set(state) ^ filled
    return model


def logits_of(oracle, source, target):
    """[target + 1, vocabulary], behind the start and each of `target`."""
    start = oracle.config.decoder_start_token_id
    with torch.no_grad():
        result = oracle(
            input_ids=torch.tensor([source]),
            attention_mask=torch.ones(1, len(source)).long(),
            decoder_input_ids=torch.tensor([[start, *target]]),
        )
    return result.logits[0, :, :start].numpy()


def check_formula(spec, tensors, formula, sources, targets):
    """The formula is what transformers computes, to the last digits."""
    oracle = make_oracle(spec, tensors)
    for source, target in zip(sources, targets):
        expected = logits_of(oracle, source, target)
        found = formula.decode(formula.encode(source), target)
        assert abs(found - expected).max() < 1e-10 * abs(expected).max()


def greedy(spec, formula, source):
    """Ids with eos where it comes, and the smallest margin."""
    memory, ids, margin = formula.encode(source), [], np.inf
    # marian-decoder's, whose options the folder has, or that of browsers.
    factor = 3 if spec.get("opus") else 2.5
    while len(ids) < factor * len(source) and 0 not in ids:
        logits = formula.decode(memory, ids)[-1]
        best = np.sort(logits)[-2:]
        margin = min(margin, best[1] - best[0])
        ids.append(int(logits.argmax()))
    return ids, margin


def train_vocabulary(text, size):
    """A SentencePiece model of `size` pieces, with Marian's special ids."""
    bytes_of_model = io.BytesIO()
    words = text.split()
    lines = [" ".join(words[i:] + words[:i]) for i in range(len(words))]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 4),
        model_writer=bytes_of_model,
        vocab_size=size,
        normalization_rule_name="identity",
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        num_threads=1,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return bytes_of_model.getvalue()


def fill_vocabulary(model, size):
    """Adds pieces that no text has until there are `size`."""
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model)
    assert len(proto.pieces) <= size
    for n in range(len(proto.pieces), size):
        proto.pieces.add(piece=f"\u2581{n}", score=-99.0)
    return proto.SerializeToString()


def write_vocabularies(folder, spec):
    """The files; returns what cuts text, and what joins it."""
    sizes = spec["options"]["dim-vocabs"]
    models = [train_vocabulary(text, 40) for text in TEXTS]
    if spec.get("opus"):
        processors = []
        numbers = {"</s>": 0, "<unk>": 1}
        for model, name in zip(models, ("source.spm", "target.spm")):
            (folder / name).write_bytes(model)
            processors.append(sentencepiece.SentencePieceProcessor(model_proto=model))
            for n in range(processors[-1].get_piece_size()):
                numbers.setdefault(processors[-1].id_to_piece(n), len(numbers))
        assert len(numbers) <= sizes[0], len(numbers)
        lines = (f'"{piece}": {n}\n' for piece, n in numbers.items())
        (folder / "opus.vocab.yml").write_text("".join(lines))
        pieces = {n: piece for piece, n in numbers.items()}

        def cut_numbered(text):
            cut = processors[0].encode(text, out_type=str)
            return [*(numbers[piece] for piece in cut), 0]

        def join_numbered(ids):
            kept = [pieces[n] for n in ids if n in pieces and n > 1]
            text = processors[1].decode_pieces(kept)
            return text.replace("\u2581", " ").strip()

        return cut_numbered, join_numbered
    two = sizes[0] != sizes[1]
    files = ["srcvocab.x.spm", "trgvocab.x.spm"] if two else ["vocab.spm"]
    processors = []
    for model, size, name in zip(models, sizes, files):
        model = fill_vocabulary(model, size)
        (folder / name).write_bytes(model)
        processors.append(sentencepiece.SentencePieceProcessor(model_proto=model))

    def cut(text):
        return [*processors[0].encode(text), 0]

    def join(ids):
        return processors[-1].decode([n for n in ids if n != 0])

    return cut, join


def as_yaml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "".join(f"\n  - {each}" for each in value)
    return str(value) or '""'


def write_model(folder, spec, tensors):
    text = "".join(
        f"{name}: {as_yaml(value)}\n"
        for name, value in sorted(spec["options"].items())
    )
    yml = np.frombuffer(text.encode() + b"\0", np.int8)
    name = "model.npz"
    if spec.get("opus"):
        name = "opus.spm.transformer.model1.npz.best-perplexity.npz"
        (folder / "decoder.yml").write_text(
            f"relative-paths: true\nmodels:\n  - {name}\nvocabs:\n"
            "  - opus.vocab.yml\n  - opus.vocab.yml\n"
            "beam-size: 6\nnormalize: 1\nword-penalty: 0\n"
            "mini-batch: 1\nmaxi-batch: 1\nmaxi-batch-sort: src\n"
        )
    save = np.savez_compressed if spec.get("deflated") else np.savez
    with open(folder / name, "wb") as file:
        save(file, **tensors, **{"special:model.yml": yml})


def write_alignments(path, formula, sources, rows):
    """A list for each source: of each token that greedy search finds, how much it
    attends to each of the source, where it is computed."""
    found = []
    for source, row in zip(sources, rows):
        formula.decode(formula.encode(source), row[:-1])
        found.append(np.round(formula.alignments(), 6).tolist())
    path.write_text(json.dumps(found) + "\n")


def make(folder, spec, seed):
    """Writes one model with its goldens; False if the seed does not serve."""
    tensors = make_tensors(spec, seed)
    formula = Marian(tensors, spec["options"])
    rng = np.random.Generator(np.random.PCG64(seed + 1_000_000))
    vocabularies = spec["options"]["dim-vocabs"]
    sources = [
        [*rng.integers(1, vocabularies[0], n - 1).tolist(), 0]
        for n in SOURCE_LENGTHS
    ]
    targets = [rng.integers(0, vocabularies[1], n).tolist() for n in TARGET_LENGTHS]
    if "oracle" in spec:
        check_formula(spec, tensors, formula, sources, targets)
    rows, margins = zip(*(greedy(spec, formula, source) for source in sources))
    shape = (len(sources), max(TARGET_LENGTHS), vocabularies[1])
    logits = np.full(shape, np.nan, np.float32)
    width = spec["options"]["dim-emb"]
    hidden = np.full(
        (len(sources), max(SOURCE_LENGTHS), width), np.nan, np.float32
    )
    for i, (source, target) in enumerate(zip(sources, targets)):
        memory = formula.encode(source)
        hidden[i, : len(source)] = memory
        logits[i, : len(target)] = formula.decode(memory, target[:-1])
    # No two rows have one limit, so that it is asked of none.
    if not accept(rows, min(margins), logits, max(map(len, rows)) + 1, limited=0):
        return False

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cut, join = write_vocabularies(folder, spec)
    write_model(folder, spec, tensors)
    words = TEXTS[0].split()
    lines = [" ".join(words[i : i + n]) for i, n in ((0, 3), (3, 5), (6, 2))]
    texts = [greedy(spec, formula, cut(line)) for line in lines]
    if min(margin for _, margin in texts) < 1e-3:
        return False
    (folder / "input.txt").write_text("".join(line + "\n" for line in lines))
    (folder / "greedy.txt").write_text(
        "".join(join(ids) + "\n" for ids, _ in texts)
    )
    write_ids(folder / "inputs.ids", sources)
    write_ids(folder / "teacher.ids", targets)
    write_ids(folder / "greedy.ids", rows)
    np.save(folder / "logits.npy", logits)
    np.save(folder / "hidden.npy", hidden)
    if spec.get("alignments"):
        write_alignments(folder / "alignments.json", formula, sources, rows)
    print(f"{folder.name}: seed {seed}, smallest margin {min(margins):.4f}")
    return True


def main():
    torch.set_num_threads(1)
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", default=pathlib.Path(__file__).parent)
    arguments.add_argument("names", nargs="*", default=list(MODELS))
    given = arguments.parse_args()
    for name in given.names:
        spec, folder = MODELS[name], pathlib.Path(given.folder, name)
        seeds = itertools.count(spec.get("seed", 0))
        next(seed for seed in seeds if make(folder, spec, seed))


if __name__ == "__main__":
    main()
