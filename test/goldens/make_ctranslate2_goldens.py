"""Makes tiny folders of CTranslate2 and what CTranslate2 itself computes of them.

usage: make_ctranslate2_goldens.py [--folder FOLDER] [NAME...]

Random models of transformers go through CTranslate2's own loaders, and random
specifications stand for what other converters write. Each folder is written in the
layout of a binary version, 6 by the library and older ones by this script, and read
back by the library, whose ids and log-probabilities are the goldens. Seeds are tried
until greedy search is unambiguous. README.md describes the files.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil

import ctranslate2
import numpy as np
import sentencepiece
import torch
import transformers
from ctranslate2 import specs
from ctranslate2.converters import transformers as loaders
from ctranslate2.specs import common_spec, model_spec
from ctranslate2_file import parse, serialise
from subword_nmt import apply_bpe

SOURCE_LENGTHS = [1, 2, 3, 5, 8, 13, 17, 4]
TARGET_LENGTHS = [6, 1, 11, 3, 2, 8, 4, 5]
MAX_LENGTH = 16
# Of logits that decide, in floats and in integers.
MARGIN, INTEGER_MARGIN = 1e-3, 1e-2


# --- Random models -----------------------------------------------------------


def draw(module, generator, width):
    """Weights wide enough for attention to be sharp; norms around 1."""
    for name, parameter in module.named_parameters():
        with torch.no_grad():
            # Wide tables would repeat the last token for ever.
            own = 0.2 if "embed" in name or "shared" in name else width
            parameter.normal_(0, own if parameter.dim() > 1 else 0.3, generator=generator)
            if name.endswith("norm.weight") or name.endswith("layernorm_embedding.weight"):
                parameter.add_(1)


class Tokens:
    """What a loader asks a tokenizer of: token N is called "tN"."""

    def __init__(self, count, special):
        self.names = [special.get(i, f"t{i}") for i in range(count)]
        ids = {name: i for i, name in enumerate(self.names)}
        self.bos_token = "<s>" if "<s>" in ids else None
        self.eos_token = "</s>"
        self.unk_token = "<unk>"
        self.pad_token = "<pad>"
        self.additional_special_tokens = []

    def convert_ids_to_tokens(self, i):
        return self.names[i]

    def get_vocab(self):
        return {name: i for i, name in enumerate(self.names)}


def from_transformers(seed, class_name, special, **settings):
    """The specification that a loader makes of a random model of BART's kind."""
    return with_config(seed, class_name, special, d_model=16, encoder_layers=2,
        decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=32, init_std=0.4,
        **settings)


def with_config(seed, class_name, special, **settings):
    config = getattr(transformers, class_name)(**settings)
    loader = loaders._MODEL_LOADERS[class_name]
    model = getattr(transformers, loader.architecture_name)(config).eval()
    generator = torch.Generator().manual_seed(seed)
    draw(model, generator, 0.6)
    tokens = Tokens(config.vocab_size, special)
    spec = loader.get_model_spec(model)
    loader.set_config(spec.config, model, tokens)
    names = loader.get_vocabulary(model, tokens)
    loader.set_vocabulary(spec, names)
    return spec


def names_of(count):
    special = {0: "<unk>", 1: "<blank>", 2: "<s>", 3: "</s>"}
    return [special.get(i, f"t{i}") for i in range(count)]


def fill(spec, seed, sizes):
    """Weights for all that a specification leaves open; `sizes` says the extents."""
    generator = np.random.default_rng(seed)

    def visit(owner, name, value):
        key = name.split("/")[-1]
        if value is not None and name not in sizes:
            return
        shape = sizes[name] if name in sizes else shape_of(name, sizes)
        own = 0.2 if "embeddings" in name or "projection" in name else 0.6 if len(shape) > 1 else 0.3
        array = generator.normal(0, own, shape)
        if key == "gamma":
            array += 1
        setattr(owner, key, array.astype(np.float32))

    model_spec.visit_spec(spec, visit)


def shape_of(name, sizes):
    d, ffn, keys = sizes["width"], sizes["ffn"], sizes["keys"]
    parts = name.split("/")
    key = parts[-1]
    if key in ("gamma", "beta"):
        return (d,)
    side = parts[0]
    if parts[1].startswith("embeddings"):
        return (sizes[side], d)
    if parts[1] == "projection":
        return (sizes["decoder"], d)
    block, linear = parts[2], parts[3]
    rows = {
        "self_attention": {"linear_0": d + 2 * keys, "linear_1": d},
        "attention": {"linear_0": d, "linear_1": 2 * keys, "linear_2": d},
        "ffn": {"linear_0": ffn, "linear_0_noact": ffn, "linear_1": d},
    }[block][linear]
    columns = ffn if block == "ffn" and linear == "linear_1" else d
    return (rows, columns)


def opennmt(seed, sources=31, targets=27, keys=16, biases=True, positions=True,
            config=None, options=None, layers=(1, 2)):
    """Two vocabularies, and options that transformers' models do not have."""
    spec = specs.TransformerSpec.from_config(layers, 4, **(options or {}))
    sizes = {"width": 16, "ffn": 24, "keys": keys, "encoder": sources, "decoder": targets}
    if positions:
        for side in ("encoder", "decoder"):
            sizes[side + "/position_encodings/encodings"] = (32, 16)
    if biases:

        def add(owner, name, value):
            if name.endswith("/bias"):
                weight = name[: -len("bias")] + "weight"
                sizes[name] = shape_of(weight, sizes)[:1]

        model_spec.visit_spec(spec, add)
    fill(spec, seed, sizes)
    spec.register_source_vocabulary(names_of(sources))
    spec.register_target_vocabulary(names_of(targets))
    for key, value in (config or {}).items():
        setattr(spec.config, key, value)
    return spec


MARIAN = {0: "</s>", 1: "<unk>", 40: "<pad>"}
BART = {0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>"}


def language_model(seed, class_name, special, **settings):
    """The same of a decoder alone."""
    config = getattr(transformers, class_name)(vocab_size=41, **settings)
    loader = loaders._MODEL_LOADERS[class_name]
    model = getattr(transformers, loader.architecture_name)(config).eval()
    draw(model, torch.Generator().manual_seed(seed), 0.6)
    tokens = Tokens(config.vocab_size, special)
    spec = loader.get_model_spec(model)
    loader.set_config(spec.config, model, tokens)
    loader.set_vocabulary(spec, loader.get_vocabulary(model, tokens))
    return spec


def decoder_alone(seed, tokens=41, keys=16, config=None, **options):
    """A language model with options that transformers' models do not have."""
    spec = specs.TransformerDecoderModelSpec.from_config(2, 4, **options)
    sizes = {"width": 16, "ffn": 24, "keys": keys, "decoder": tokens}

    def add(owner, name, value):
        if name.endswith("/bias"):
            sizes[name] = shape_of(name[: -len("bias")] + "weight", sizes)[:1]

    model_spec.visit_spec(spec, add)
    fill(spec, seed, sizes)
    spec.register_vocabulary(names_of(tokens))
    for key, value in (config or {}).items():
        setattr(spec.config, key, value)
    return spec


T5 = {0: "<pad>", 1: "</s>", 2: "<unk>"}
LLAMA = {0: "<unk>", 1: "<s>", 2: "</s>"}

MODELS = {
    # transformers' models: an activation each, both orders of norms.
    "bart": lambda seed: from_transformers(
        seed, "BartConfig", BART, vocab_size=41, activation_function="gelu",
        normalize_before=False),
    "bart-scaled": lambda seed: from_transformers(
        seed, "BartConfig", BART, vocab_size=41, activation_function="gelu_new",
        scale_embedding=True, normalize_before=False),
    "mbart": lambda seed: from_transformers(
        seed, "MBartConfig", BART, vocab_size=41, activation_function="relu",
        scale_embedding=True, normalize_before=True,
        tokenizer_class="MBart50Tokenizer"),
    "marian": lambda seed: from_transformers(
        seed, "MarianConfig", MARIAN, vocab_size=41, activation_function="swish",
        scale_embedding=True, pad_token_id=40, eos_token_id=0,
        decoder_start_token_id=40, forced_eos_token_id=None),
    "pegasus": lambda seed: from_transformers(
        seed, "PegasusConfig", {0: "<pad>", 1: "</s>", 2: "<unk>"}, vocab_size=41,
        activation_function="quick_gelu", scale_embedding=True, pad_token_id=0,
        eos_token_id=1, normalize_before=True, normalize_embedding=False),
    # Biases of distances, of few buckets; tied, with a scale of outputs, and not.
    "t5": lambda seed: with_config(
        seed, "T5Config", T5, vocab_size=41, d_model=16, d_kv=6, d_ff=24, num_layers=2,
        num_decoder_layers=2, num_heads=4, relative_attention_num_buckets=8,
        relative_attention_max_distance=10, decoder_start_token_id=0),
    "mt5": lambda seed: with_config(
        seed, "MT5Config", T5, vocab_size=41, d_model=16, d_kv=4, d_ff=24, num_layers=1,
        num_decoder_layers=1, num_heads=4, feed_forward_proj="gated-gelu",
        tie_word_embeddings=False, decoder_start_token_id=0),
    # What other converters write.
    "gated": lambda seed: opennmt(
        seed, options=dict(
            ffn_glu=True, rms_norm=True, activation=common_spec.Activation.SWISH),
        biases=False, config={"layer_norm_epsilon": 1e-3}),
    "multi-query": lambda seed: opennmt(
        seed, keys=4, options=dict(
            multi_query_attention=True, pre_norm=False, layernorm_embedding=True,
            activation=common_spec.Activation.Tanh),
        config={"add_source_bos": True, "add_source_eos": True}),
    "sigmoid": lambda seed: opennmt(
        seed, options=dict(
            no_final_norm=True, activation=common_spec.Activation.Sigmoid),
        layers=(1, 1)),
    "aligned": lambda seed: opennmt(
        seed, options=dict(alignment_layer=0, alignment_heads=3)),
    "computed": lambda seed: opennmt(seed, positions=False, options=dict(
        activation=common_spec.Activation.GELU)),
}

SENTENCEPIECE = pathlib.Path(__file__).parent / "marian-npz-old-pre-norm" / "vocab.spm"


def pieces(seed):
    """The vocabulary of a SentencePiece model in another order than its own."""
    model = sentencepiece.SentencePieceProcessor(model_file=str(SENTENCEPIECE))
    names = [model.id_to_piece(i) for i in reversed(range(model.get_piece_size()))]
    if "<s>" not in names:
        names.append("<s>")
    spec = opennmt(seed, sources=len(names), targets=len(names))
    for side in spec._vocabularies.values():
        side[:] = [names]
    return spec


MODELS["pieces"] = pieces

# Merges of subword-nmt, and the tokens that they make of their training set.
FAIRSEQ = pathlib.Path(__file__).parent / "fairseq" / "merges"


def merges(seed):
    names = ["<unk>", "<s>", "</s>"]
    for side in ("en", "de"):
        lines = (FAIRSEQ / f"dict.{side}.txt").read_text().split("\n")
        names += [line.split(" ")[0] for line in lines if line]
    names = [name for name in dict.fromkeys(names) if not name.startswith("madeup")]
    spec = opennmt(seed, sources=len(names), targets=len(names))
    for side in spec._vocabularies.values():
        side[:] = [names]
    return spec


MODELS["merges"] = merges

# Decoders alone.
MODELS |= {
    "gpt2": lambda seed: language_model(
        seed, "GPT2Config", LLAMA, n_embd=16, n_layer=2, n_head=4, n_inner=24,
        n_positions=48),
    "llama": lambda seed: language_model(
        seed, "LlamaConfig", LLAMA, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, intermediate_size=24,
        max_position_embeddings=48, rms_norm_eps=1e-5),
    "gpt-neox": lambda seed: language_model(
        seed, "GPTNeoXConfig", LLAMA, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=24, rotary_pct=0.5,
        max_position_embeddings=48),
}

# Positions and norms of decoders alone: pairs of neighbours, of a part of a head,
# linear biases, of three heads and scaled, norms whose weights lack 1.
MODELS |= {
    "neighbours": lambda seed: decoder_alone(
        seed, rotary_dim=0, keys=8, num_heads_kv=2, rotary_base=100),
    "neighbours-part": lambda seed: decoder_alone(
        seed, rotary_dim=2, rms_norm=True, rotary_base=500),
    "alibi-scaled": lambda seed: decoder_alone(seed, alibi=True, scale_alibi=True),
    "bloom": lambda seed: language_model(
        seed, "BloomConfig", LLAMA, hidden_size=12, n_layer=2, n_head=3),
    "gemma": lambda seed: language_model(
        seed, "GemmaConfig", LLAMA, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=1, head_dim=6, intermediate_size=24,
        max_position_embeddings=48, rms_norm_eps=1e-4),
    "gemma2": lambda seed: language_model(
        seed, "Gemma2Config", LLAMA, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=6, intermediate_size=24,
        max_position_embeddings=48, rms_norm_eps=1e-5, hidden_activation="gelu"),
    "qwen2": lambda seed: language_model(
        seed, "Qwen2Config", LLAMA, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, intermediate_size=24,
        max_position_embeddings=48, rms_norm_eps=1e-5, tie_word_embeddings=True),
}

# Encoders alone: with types of tokens and a pooler, and without.
MODELS |= {
    "bert": lambda seed: with_config(
        seed, "BertConfig", BART, vocab_size=41, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=24, max_position_embeddings=32,
        type_vocab_size=2),
    "distilbert": lambda seed: with_config(
        seed, "DistilBertConfig", BART, vocab_size=41, dim=16, n_layers=1, n_heads=2,
        hidden_dim=24, max_position_embeddings=32, activation="relu"),
}

# Folders: a model, how it is quantised, the binary version and a change of its variables.
TYPES = ["float16", "bfloat16", "int16", "int8", "int8_float32", "int8_float16",
         "int8_bfloat16"]
FOLDERS = {name: (name, "float32", 6) for name in MODELS}
FOLDERS |= {"pieces": ("pieces", "float16", 6), "llama-int8": ("llama", "int8", 6)}
FOLDERS |= {"neighbours-int8": ("neighbours", "int8", 6)}
FOLDERS |= {f"marian-{kind}": ("marian", kind, 6) for kind in TYPES}
FOLDERS |= {f"multi-query-{kind}": ("multi-query", kind, 6) for kind in ["int8"]}
FOLDERS |= {f"version-{version}": ("version", "float32", version) for version in range(1, 6)}
FOLDERS |= {"version-3-int8": ("version", "int8", 3), "version-2-int16": ("version", "int16", 2)}


# --- Older layouts -----------------------------------------------------------


def make_older(folder, version):
    """Rewrites a folder as the library wrote it when `version` was the newest."""
    variables, aliases = parse((folder / "model.bin").read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").unlink()
    variables["with_source_eos"] = ((), 1, bytes([config["add_source_eos"]]))
    variables["with_target_bos"] = ((), 1, b"\1")
    specification, revision = "TransformerSpec", 5
    if version <= 2:
        # Heads are those of the name, options that came later are absent.
        specification, revision = "TransformerBase", 1
        for name in list(variables):
            if not variables[name][0] and not name.startswith("with_") and (
                    not name.endswith("_scale")):
                del variables[name]
    if version <= 4:
        rename = lambda name: name.replace("embeddings_0/", "embeddings/")
        variables = {rename(name): value for name, value in variables.items()}
        aliases = {rename(alias): rename(name) for alias, name in aliases.items()}
        # The alphabet has changed with the names.
    (folder / "model.bin").write_bytes(
        serialise(version, specification, revision, variables, aliases))
    for path in list(folder.glob("*.json")):
        tokens = json.loads(path.read_text())
        path.with_suffix(".txt").write_text("".join(token + "\n" for token in tokens))
        path.unlink()


MODELS["version"] = lambda seed: version_model(seed)


def version_model(seed):
    """Of eight heads, norms before, relu: what a file without options means."""
    spec = specs.TransformerSpec.from_config((1, 1), 8)
    sizes = {"width": 16, "ffn": 24, "keys": 16, "encoder": 31, "decoder": 31,
             "encoder/position_encodings/encodings": (32, 16),
             "decoder/position_encodings/encodings": (32, 16)}
    fill(spec, seed, sizes)
    # Equal variables become aliases.
    spec.decoder.embeddings.weight = spec.encoder.embeddings[0].weight
    spec.decoder.projection.weight = spec.encoder.embeddings[0].weight
    spec.register_source_vocabulary(names_of(31))
    spec.register_target_vocabulary(names_of(31))
    return spec


# --- What the library computes ------------------------------------------------


def tokens_of(folder, side):
    for name in (side + "_vocabulary", "shared_vocabulary"):
        for path in (folder / (name + ".json"), folder / (name + ".txt")):
            if path.exists():
                text = path.read_text()
                return json.loads(text) if path.suffix == ".json" else text.split("\n")[:-1]
    raise FileNotFoundError(folder)


def run(folder, kind, version, seed):
    """Inputs and what is found of them, or None where a greedy choice is close."""
    if (folder / "vocabulary.json").exists():
        return run_decoder(folder, kind, seed)
    source, target = tokens_of(folder, "source"), tokens_of(folder, "target")
    config = folder / "config.json"
    config = json.loads(config.read_text()) if config.exists() else {}
    generator = np.random.default_rng(seed)
    first = 4
    inputs = [[int(i) for i in generator.integers(first, len(source) - 1, n)] for n in SOURCE_LENGTHS]
    teacher = [[int(i) for i in generator.integers(first, len(target) - 1, n)] for n in TARGET_LENGTHS]
    # Before version 5 the engine truncated what it quantised.
    is_int8 = kind.startswith("int8") and version >= 5
    compute = "int8_float32" if is_int8 else "float32"
    translator = ctranslate2.Translator(str(folder), compute_type=compute, intra_threads=1)
    texts = [[source[i] for i in line] for line in inputs]
    ids = {name: i for i, name in reversed(list(enumerate(target)))}

    def search(beams, **options):
        results = translator.translate_batch(
            texts, beam_size=beams, max_decoding_length=MAX_LENGTH, return_scores=True,
            return_end_token=True, **options)
        return [[ids[token] for token in result.hypotheses[0]] for result in results], [
            result.scores[0] for result in results]

    results = translator.translate_batch(
        texts, beam_size=1, max_decoding_length=MAX_LENGTH, return_end_token=True,
        return_logits_vocab=True)
    greedy = [[ids[token] for token in result.hypotheses[0]] for result in results]
    for result in results:
        for logits in result.logits[0]:
            best = np.sort(np.asarray(logits, np.float32))[-2:]
            if best[1] - best[0] < (INTEGER_MARGIN if is_int8 else MARGIN):
                return None
    two, two_scores = search(2)
    four, four_scores = search(4, length_penalty=0.6)
    scores = [result.log_probs for result in translator.score_batch(
        texts, [[target[i] for i in line] for line in teacher])]
    # The engine puts these around a source; ids have them.
    if config.get("add_source_bos"):
        inputs = [[source.index(config["bos_token"])] + line for line in inputs]
    if config.get("add_source_eos"):
        inputs = [line + [source.index(config["eos_token"])] for line in inputs]
    return {"inputs": inputs, "greedy": greedy, "two": two, "two_scores": two_scores,
            "four": four, "four_scores": four_scores, "teacher": teacher, "scores": scores}


def run_decoder(folder, kind, seed):
    """The same of a language model: inputs are prompts."""
    names = json.loads((folder / "vocabulary.json").read_text())
    ids = {name: i for i, name in enumerate(names)}
    generator = np.random.default_rng(seed)
    inputs = [[int(i) for i in generator.integers(3, len(names), n)] for n in SOURCE_LENGTHS]
    teacher = [[int(i) for i in generator.integers(3, len(names), n)] for n in TARGET_LENGTHS]
    compute = "int8_float32" if kind.startswith("int8") else "float32"
    model = ctranslate2.Generator(str(folder), compute_type=compute, intra_threads=1)

    def search(beams, **options):
        """One prompt at a time: of several, the longer ones would be among the results."""
        results = [model.generate_batch(
            [[names[i] for i in prompt]], beam_size=beams, max_length=MAX_LENGTH,
            return_scores=True, return_end_token=True, include_prompt_in_result=False,
            **options)[0] for prompt in inputs]
        return [[ids[token] for token in result.sequences[0]] for result in results], [
            result.scores[0] for result in results]

    greedy, _ = search(1)
    two, two_scores = search(2)
    four, four_scores = search(4, length_penalty=0.6)
    scores = []
    for prompt, line in zip(inputs, teacher):
        (result,) = model.score_batch([[names[i] for i in prompt + line]])
        scores.append(result.log_probs[len(prompt) - 1 :])
    return {"inputs": inputs, "greedy": greedy, "two": two, "two_scores": two_scores,
            "four": four, "four_scores": four_scores, "teacher": teacher, "scores": scores}


def run_encoder(folder, seed):
    """The means of what the library computes of some lines."""
    count = len(json.loads((folder / "vocabulary.json").read_text()))
    generator = np.random.default_rng(seed)
    inputs = [[int(i) for i in generator.integers(4, count, n)] for n in SOURCE_LENGTHS]
    model = ctranslate2.Encoder(str(folder), compute_type="float32", intra_threads=1)
    vectors = []
    for line in inputs:
        states = np.array(model.forward_batch([line]).last_hidden_state, np.float32)[0]
        vectors.append([float(x) for x in states.astype(np.float64).mean(axis=0)])
    return {"inputs": inputs, "vectors": vectors}


def is_varied(found):
    if found and "vectors" in found:
        return True
    return (found and len({tuple(line) for line in found["greedy"]}) >= 4
            and sum(len(set(line)) > 2 for line in found["greedy"]) >= 3
            and found["two"] != found["greedy"])


def write_texts(folder):
    """Lines, and what they become with two beams and by argos-translate's search."""
    model = sentencepiece.SentencePieceProcessor(model_file=str(SENTENCEPIECE))
    lines = [" ".join(model.id_to_piece(i).replace("\u2581", " ") for i in range(at, at + 5))
             for at in range(4, model.get_piece_size() - 6, 3)]
    translator = ctranslate2.Translator(str(folder), compute_type="float32")
    texts = [model.encode(line, out_type=str) for line in lines]
    found = {"lines": lines}
    for key, options in {"two": {}, "argos": {"beam_size": 4, "length_penalty": 0.2}}.items():
        results = translator.translate_batch(texts, max_decoding_length=MAX_LENGTH, **options)
        # Texts have no spaces at their ends.
        found[key] = [model.decode(result.hypotheses[0]).strip() for result in results]
    (folder / "texts.json").write_text(json.dumps(found, indent=1) + "\n")


def write_words(folder):
    """Lines whose words are apart, by argos-translate's search."""
    bpe = apply_bpe.BPE(open(FAIRSEQ / "bpecodes"))
    lines = json.loads((FAIRSEQ / "texts.json").read_text())["lines"]
    translator = ctranslate2.Translator(str(folder), compute_type="float32")
    results = translator.translate_batch(
        [bpe.segment_tokens(line.split()) for line in lines],
        max_decoding_length=MAX_LENGTH, beam_size=4, length_penalty=0.2)
    argos = [(" ".join(result.hypotheses[0]) + " ").replace("@@ ", "").strip() for result in results]
    (folder / "texts.json").write_text(json.dumps({"lines": lines, "argos": argos}, indent=1) + "\n")


def write(name, target):
    model, kind, version = FOLDERS[name]
    for seed in itertools.count(1):
        spec = MODELS[model](seed)
        spec.validate()
        spec.optimize(quantization=kind)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        spec.save(str(target))
        if version < 6:
            make_older(target, version)
        is_encoder = isinstance(spec, specs.TransformerEncoderModelSpec)
        found = run_encoder(target, seed) if is_encoder else run(target, kind, version, seed)
        if is_varied(found):
            break
    (target / "expected.json").write_text(
        "{\n" + ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in found.items()) + "\n}\n")
    if model == "pieces":
        write_texts(target)
    if model == "merges":
        write_words(target)
    print(name, "seed", seed, sum(path.stat().st_size for path in target.iterdir()))


def main():
    parser = argparse.ArgumentParser()
    here = pathlib.Path(__file__).parent / "ctranslate2"
    parser.add_argument("--folder", type=pathlib.Path, default=here)
    parser.add_argument("names", nargs="*", default=list(FOLDERS))
    arguments = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name in arguments.names:
        write(name, arguments.folder / name)


main()
