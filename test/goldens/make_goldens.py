"""Makes the tiny random Hugging Face models of this folder and their goldens.

usage: make_goldens.py [--folder FOLDER] [NAME...]

golden_models.py says which models. Weights are wide enough for attention to be sharp
and for every activation to leave its linear range. The oracle is Hugging Face
transformers, which loads the folder as anybody would, widens the weights and
computes in float64: what the tests then measure is our rounding alone, and
another CPU's order of summation leaves the same bytes. Seeds are tried from the
recorded one on until greedy decoding is unambiguous and varied (see `accept`).
README.md describes the files.
"""

import argparse
import itertools
import json
import pathlib
import shutil
import tempfile

import numpy as np
import torch
from golden_models import MODELS
from safetensors.torch import load_file, save_file
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BigBirdPegasusConfig,
    BigBirdPegasusForConditionalGeneration,
    BlenderbotConfig,
    BlenderbotForConditionalGeneration,
    BlenderbotSmallConfig,
    BlenderbotSmallForConditionalGeneration,
    FSMTConfig,
    FSMTForConditionalGeneration,
    LEDConfig,
    LEDForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PLBartConfig,
    PLBartForConditionalGeneration,
)
from transformers.models.fsmt import modeling_fsmt
from transformers.utils import logging

SOURCE_LENGTHS = [1, 2, 3, 5, 8, 13, 17, 4]  # with the closing eos
TARGET_LENGTHS = [6, 1, 13, 3, 2, 8, 4, 5]
DEFAULT_MAX_LENGTH = 20  # for folders that set no max_length
TOLERANCE = 1e-4  # of the tests on logits, relative to the largest

# Those whose class scales embeddings by default.
SCALED = ("bigbird_pegasus", "fsmt", "m2m_100", "plbart")


def vocabularies(config):
    """How many ids the source and the target have."""
    size = config.get("src_vocab_size") or config["vocab_size"]
    target = config.get("decoder_vocab_size") or config.get("tgt_vocab_size")
    return size, target or size


def classes(config):
    """The configuration class and the model class of the oracle."""
    if config["model_type"] == "bart" and config.get("normalize_before"):
        return MBartConfig, MBartForConditionalGeneration
    return {
        "bart": (BartConfig, BartForConditionalGeneration),
        "bigbird_pegasus": (
            BigBirdPegasusConfig,
            BigBirdPegasusForConditionalGeneration,
        ),
        "blenderbot": (BlenderbotConfig, BlenderbotForConditionalGeneration),
        "blenderbot-small": (
            BlenderbotSmallConfig,
            BlenderbotSmallForConditionalGeneration,
        ),
        "fsmt": (FSMTConfig, FSMTForConditionalGeneration),
        "led": (LEDConfig, LEDForConditionalGeneration),
        "m2m_100": (M2M100Config, M2M100ForConditionalGeneration),
        "marian": (MarianConfig, MarianMTModel),
        "mbart": (MBartConfig, MBartForConditionalGeneration),
        "pegasus": (PegasusConfig, PegasusForConditionalGeneration),
        "plbart": (PLBartConfig, PLBartForConditionalGeneration),
    }[config["model_type"]]


def oracle_config(config):
    keys = {k: v for k, v in config.items() if k != "model_type"}
    return classes(config)[0](**keys)


def draw(name, shape, rng, spec):
    """One tensor, as wide as keeps sums over its inputs at order one or two."""
    values = rng.standard_normal(shape)
    if "norm" in name:
        return (1.0 if name.endswith("weight") else 0.2) * values
    if name.endswith("bias"):
        return 0.2 * values
    if "embed_positions" in name:
        return 0.5 * spec.get("embeddings", 1.0) * values
    if "embed_tokens" in name or "shared" in name:
        config = spec["config"]
        by_default = config.get("model_type") in SCALED
        scaled = config.get("scale_embedding", by_default)  # by sqrt(d)
        std = 2.0 / shape[1] ** 0.5 if scaled else 2.0
        return std * spec.get("embeddings", 1.0) * values
    parts = ("q_proj", "k_proj", "query", "key", "fc1", "lm_head")
    sharp = any(part in name for part in parts)
    return (2.0 if sharp else 0.8) * values / shape[1] ** 0.5


def write_weights(folder, spec, seed):
    """Draws the tensors in name order and saves them as transformers does."""
    config, dtype = spec["config"], spec.get("dtype", torch.float32)
    model = classes(config)[1](oracle_config(config))
    rng = np.random.Generator(np.random.PCG64(seed))
    tensors = dict(model.named_parameters()) | dict(model.named_buffers())
    bart = config["model_type"] in ("bart", "m2m_100", "mbart")
    computed = config["model_type"] in ("fsmt", "m2m_100", "marian", "pegasus")
    learned = not computed or spec.get("learned")
    with torch.no_grad():
        for name, tensor in sorted(tensors.items()):
            if learned or "embed_positions" not in name:
                values = draw(name, tuple(tensor.shape), rng, spec)
                tensor.copy_(torch.from_numpy(values))
    model.to(dtype)
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        saved = load_file(f"{scratch}/model.safetensors")
    if computed and learned:
        # transformers leaves them out.
        positions = (n for n in tensors if n.endswith("embed_positions.weight"))
        saved |= {name: tensors[name].data.clone() for name in positions}
    if config["model_type"] == "fsmt" and not learned:
        # Published files, of transformers 3, lack them.
        saved = {k: v for k, v in saved.items() if "embed_positions" not in k}
    if bart and not config.get("tie_word_embeddings", True):
        # transformers saves one table where it reads two.
        rows = saved.pop("model.shared.weight")
        for side in ("encoder", "decoder"):
            name = f"model.{side}.embed_tokens.weight"
            values = draw(name, tuple(rows.shape), rng, spec)
            saved[name] = torch.from_numpy(values).to(dtype)
    save_file(saved, folder / "model.safetensors", metadata={"format": "pt"})


def softmax(scores, dim, dtype=None):
    """LED's encoder asks for float32 where everything else is float64."""
    return torch.softmax(scores, dim)


def fill_with_lowest(tensor):
    """FSMT puts the lowest number of the type into a tensor of float32."""
    return tensor.fill_(torch.finfo(torch.float32).min)


def whole_target(target, encoder_outputs, attention_mask, **options):
    """What generate() passes to FSMT. By itself 4.57.6 generates nonsense: with
    a cache it passes the last token alone, which then has the first position,
    and without one no ids, and there is no causal mask."""
    return {
        "input_ids": target,  # only asked whether it is there
        "decoder_input_ids": target,
        "encoder_outputs": encoder_outputs,
        "attention_mask": attention_mask,
        "use_cache": False,
    }


def load(folder, spec, config):
    """The oracle in float64; nothing in it may come from an initialisation."""
    model, report = classes(config)[1].from_pretrained(
        folder,
        config=oracle_config(config),
        dtype=torch.float32,
        attn_implementation="eager",
        output_loading_info=True,
    )
    # Files hold no sinusoids, and nothing reads `shared` of an untied Bart.
    expected = ("embed_positions.weight", "model.shared.weight")
    absent = report.pop("missing_keys")
    missing = [k for k in absent if not k.endswith(expected)]
    assert not missing and not any(report.values()), (folder, missing, report)
    if config["model_type"] == "fsmt":
        modeling_fsmt.fill_with_neg_inf = fill_with_lowest
        model.prepare_inputs_for_generation = whole_target
    if config["model_type"] == "led":
        torch.nn.functional.softmax = softmax
        torch.set_default_dtype(torch.float64)  # of its causal mask
        model.global_tokens = spec.get("global", [0])
    return model.double().eval()


def inputs_of(model, source):
    """The arguments of the encoder."""
    inputs = {"input_ids": torch.tensor([source])}
    if model.config.model_type in ("fsmt", "m2m_100"):
        # generate() would mask padding.
        inputs["attention_mask"] = torch.ones(1, len(source)).long()
    if model.config.model_type == "led":
        places = [p for p in model.global_tokens if p < len(source)]
        inputs["global_attention_mask"] = torch.zeros(1, len(source)).long()
        inputs["global_attention_mask"][0, places] = 1
    return inputs


def greedy(model, sources, **options):
    """Ids without the start token, and the smallest top-2 margin."""
    rows, margin = [], np.inf
    for source in sources:
        result = model.generate(
            **inputs_of(model, source),
            num_beams=1,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )
        rows.append(result.sequences[0, 1:].tolist())
        for scores in result.scores:
            top = torch.topk(scores[0], 2).values
            margin = min(margin, float(top[0] - top[1]))
    return rows, margin


def four_beams(model, sources, eos, **options):
    """All four hypotheses of each source and their scores; None if two of them
    are too close for float32."""
    lines = []
    for source in sources:
        result = model.generate(
            **inputs_of(model, source),
            num_beams=4,
            num_return_sequences=4,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )
        rows = []
        for row in result.sequences[:, 1:].tolist():
            ends = [i for i, token in enumerate(row) if token in eos]
            rows.append(row[: ends[0] + 1] if ends else row)
        scores = result.sequences_scores.tolist()
        if min(a - b for a, b in zip(scores, scores[1:])) < 1e-3:
            return None
        lines.append({"ids": rows, "scores": scores})
    return lines


def teacher_forced(model, sources, targets):
    """logits[r, k] follows the start token and the first k target tokens."""
    start = model.generation_config.decoder_start_token_id
    bias = getattr(model, "final_logits_bias", None)
    vocabulary = vocabularies(model.config.to_dict())[1]
    vocabulary = vocabulary if bias is None else bias.shape[1]
    shape = (len(sources), max(map(len, targets)), vocabulary)
    logits = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, source, target in zip(logits, sources, targets):
            result = model(
                **inputs_of(model, source),
                decoder_input_ids=torch.tensor([[start] + target[:-1]]),
                use_cache=False,
            )
            row[: len(target)] = result.logits[0].float().numpy()
    return logits


def encoded(model, sources):
    """hidden[r, k] is what the encoder makes of token k of a source."""
    shape = (len(sources), max(map(len, sources)), model.config.d_model)
    hidden = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, source in zip(hidden, sources):
            result = model.get_encoder()(**inputs_of(model, source))
            row[: len(source)] = result.last_hidden_state[0].float().numpy()
    return hidden


def words_to_ban(model, sources, lengths, eos):
    """For each length the most frequent word of greedy output so far."""
    words = []
    for length in lengths:
        count = {}
        for row in greedy(model, sources)[0]:
            for k in range(1, len(row) - length + 1):
                word = tuple(row[k : k + length])
                if not set(word) & set(eos):
                    count[word] = count.get(word, 0) + 1
        if not count:
            return None
        words.append(list(max(sorted(count), key=count.get)))
        model.generation_config.bad_words_ids = words
    return words


def every_word_matters(model, sources, words):
    full = greedy(model, sources)[0]
    rest = ([w for w in words if w is not word] for word in words)
    return all(greedy(model, sources, bad_words_ids=r)[0] != full for r in rest)


def accept(rows, margin, logits, limit, limited=2):
    """Unambiguous, varied, and stopped by eos as well as by the limit."""
    lengths = [len(row) for row in rows]
    return (
        # Logits within the tests' tolerance then give the same tokens.
        margin > 2 * TOLERANCE * np.nanmax(np.abs(logits))
        and len(set(map(tuple, rows))) >= 6
        and len({i for row in rows for i in row}) >= 8
        and min(lengths) < limit
        and lengths.count(limit) >= limited
    )


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_ids(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def make(folder, spec, seed):
    """Writes one model with its goldens; False if the seed does not serve."""
    config, generation = spec["config"], spec.get("generation")
    torch.set_default_dtype(torch.float32)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", config)
    write_weights(folder, spec, seed)
    if generation:
        write_json(folder / "generation_config.json", generation)
    governing = dict(generation or config)
    eos = governing["eos_token_id"]
    eos = eos if isinstance(eos, list) else [eos]

    rng = np.random.Generator(np.random.PCG64(seed + 1_000_000))
    special = {*eos, config["pad_token_id"]}  # generate() masks pad
    inputs, outputs = vocabularies(config)
    ids = [i for i in range(min(inputs, outputs)) if i not in special]
    lengths = spec.get("sources", SOURCE_LENGTHS)
    sources = [[*rng.choice(ids, n - 1), eos[0]] for n in lengths]
    targets = [rng.integers(0, outputs, n).tolist() for n in TARGET_LENGTHS]
    if spec.get("pads"):
        # Of a target the class counts padding otherwise in steps than at once.
        targets = [rng.choice(ids, n).tolist() for n in TARGET_LENGTHS]
        for source in sources:
            for k in range(1, len(source) - 1, 4):
                source[k] = config["pad_token_id"]

    if spec.get("ban"):
        words = words_to_ban(load(folder, spec, config), sources, spec["ban"], eos)
        if not words:
            return False
        governing["bad_words_ids"] = words
        which = "generation_config.json" if generation else "config.json"
        write_json(folder / which, governing)
        config = config if generation else governing

    model = load(folder, spec, config)
    limited = "max_length" in governing
    options = {} if limited else {"max_new_tokens": DEFAULT_MAX_LENGTH}
    rows, margin = greedy(model, sources, **options)
    limit = governing["max_length"] - 1 if limited else DEFAULT_MAX_LENGTH
    logits = teacher_forced(model, sources, targets)
    if not accept(rows, margin, logits, limit):
        return False
    if spec.get("ban") and not every_word_matters(model, sources, words):
        return False

    if not limited:
        (folder / "max-length").write_text(f"{DEFAULT_MAX_LENGTH}\n")
    if "global" in spec:
        tokens = ",".join(map(str, spec["global"])) or "none"
        (folder / "global").write_text(tokens + "\n")
    write_ids(folder / "inputs.ids", sources)
    write_ids(folder / "teacher.ids", targets)
    write_ids(folder / "greedy.ids", rows)
    if "least" in spec:
        least = greedy(model, sources, min_length=spec["least"])[0]
        write_ids(folder / "least.ids", least)
    if spec.get("beams"):
        lines = four_beams(model, sources, eos, **options)
        if lines is None:
            return False
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "beams.jsonl").write_text(text)
    np.save(folder / "logits.npy", logits)
    np.save(folder / "hidden.npy", encoded(model, sources))
    print(f"{folder.name}: seed {seed}, smallest greedy margin {margin:.4f}")
    return True


def main():
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", default=pathlib.Path(__file__).parent)
    arguments.add_argument("names", nargs="*", default=list(MODELS))
    options = arguments.parse_args()
    for name in options.names:
        spec, folder = MODELS[name], pathlib.Path(options.folder, name)
        seeds = itertools.count(spec.get("seed", 0))
        next(seed for seed in seeds if make(folder, spec, seed))


if __name__ == "__main__":
    main()
