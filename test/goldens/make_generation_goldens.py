#!/usr/bin/env python3
"""Writes generation.jsonl: what config.json and generation_config.json of a
folder mean to `generate` of transformers 4.57.6.

usage: make_generation_goldens.py

A line is a class and a field. The field is absent, null, the default, or
something else in config.json; and likewise in a generation_config.json that is
not there, stands for itself, or was derived from a config.json
(`_from_model_config`), once beside a config.json that sets something else, too.
Each folder is loaded by from_pretrained, and `generate` runs up to the call of
its search: what the search is called with is the answer. Where that fails, a null
of config.json is what a generation_config.json derived from it has ("effectively
delegating its value to the generation config", says configuration_utils.py), and
other nulls are left out; where that fails, too, there is none.

`values` are the values, `places` the kinds of generation_config.json,
`outcomes` the different answers, each as its difference from the first (null
where a setting is not there; [] where there is no answer): `rows` numbers them, by place, then by the
value in generation_config.json where the place has one, then by the value in
config.json. `failures` are the rows in which transformers itself failed.
"""

import json
import pathlib
import string
import tempfile
import warnings

import torch
import transformers
from transformers import AutoConfig, AutoModelForSeq2SeqLM
from transformers.utils import logging

HERE = pathlib.Path(__file__).parent
VOCABULARY = 20
DIGITS = string.digits + string.ascii_letters

CONFIG = {
    "vocab_size": VOCABULARY,
    "d_model": 4,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 1,
    "decoder_attention_heads": 1,
    "encoder_ffn_dim": 2,
    "decoder_ffn_dim": 2,
    "eos_token_id": 2,
    "bos_token_id": 3,
    "decoder_start_token_id": 4,
    "pad_token_id": 5,
}
POSITIONS = {"max_position_embeddings": 64}
LED_POSITIONS = {
    "attention_window": 4,
    "max_encoder_position_embeddings": 64,
    "max_decoder_position_embeddings": 64,
}
GENERATION = {
    "eos_token_id": 6,
    "bos_token_id": 7,
    "decoder_start_token_id": 8,
    "pad_token_id": 9,
}
# Another setting of config.json, which makes it govern over a derived file.
OTHER_SETTING = {"encoder_no_repeat_ngram_size": 0, "repetition_penalty": 1.5}

CLASSES = {
    "bart": "BartForConditionalGeneration",
    "led": "LEDForConditionalGeneration",
    "marian": "MarianMTModel",
    "mbart": "MBartForConditionalGeneration",
    "pegasus": "PegasusForConditionalGeneration",
}

ABSENT = "absent"
# The default first; None stands for the class's own, where it has one.
FIELDS = {
    "bad_words_ids": [[[4]], [[5], [6, 7]]],
    "begin_suppress_tokens": [[4], [5, 6]],
    "bos_token_id": [None, 10],
    "decoder_forced_bos_token_id": [10],
    "decoder_forced_eos_token_id": [10],
    "decoder_max_length": [20, 12],
    "decoder_num_beams": [1, 4],
    "decoder_repetition_penalty": [1.0, 1.25],
    "decoder_start_token_id": [None, 10],
    "do_sample": [False, True],
    "early_stopping": [False, True, "never", 1],
    "eos_token_id": [None, 10, [11, 12]],
    "force_bos_token_to_be_generated": [False, True],
    "forced_bos_token_id": [10, 11],
    "forced_eos_token_id": [None, 10, [12, 11]],
    "length_penalty": [1.0, 2.0],
    "max_length": [20, 12, 2, 1, 0],
    "max_new_tokens": [20, 7, 1, 0],
    "min_length": [0, 5, 200, -1],
    "min_new_tokens": [0, 5, 200],
    "min_p": [0.0, 0.5],
    "no_repeat_ngram_size": [0, 3, -1],
    "num_beams": [1, 4],
    "pad_token_id": [None, 10],
    "renormalize_logits": [False, True],
    "repetition_penalty": [1.0, 1.25],
    "suppress_tokens": [[4], [5, 19, 20]],
    "temperature": [1.0, 0.5],
    "top_k": [50, 7, 0],
    "top_p": [1.0, 0.5],
}


class Found(Exception):
    pass


def searched(self, input_ids, **kwargs):
    raise Found(kwargs["generation_config"], input_ids)


for name in ("_sample", "_beam_search"):
    setattr(transformers.GenerationMixin, name, searched)


def write(folder, name, fields):
    (folder / name).write_text(json.dumps(fields))


def resolve(model, folder, config, generation):
    """The settings that the search is called with."""
    write(folder, "config.json", config)
    path = folder / "generation_config.json"
    path.unlink(missing_ok=True)
    if generation is not None:
        write(folder, path.name, generation)
    loaded = AutoConfig.from_pretrained(folder)
    try:
        # As from_pretrained ends, without reading the weights again.
        model.config = loaded
        model.generation_config = (
            transformers.GenerationConfig.from_model_config(loaded)
        )
        if generation is not None:
            model.generation_config = (
                transformers.GenerationConfig.from_pretrained(folder)
            )
        ones = torch.ones(1, 1, dtype=torch.long)
        model.generate(ones, attention_mask=ones)
    except Found as found:
        settings, start = found.args
    eos = settings._eos_token_tensor
    answer = {
        "decoder_start_token_id": start[0, 0].item(),
        "eos_token_id": None if eos is None else eos.tolist(),
        "pad_token_id": None
        if eos is None
        else settings._pad_token_tensor.item(),
    }
    for field in FIELDS:
        if field not in answer and hasattr(settings, field):
            answer[field] = getattr(settings, field)
    # Beams ask `early_stopping is True`, which 1 is not.
    if answer.get("early_stopping") == 1:
        answer["early_stopping"] = answer["early_stopping"] is True
    # Only what searches read.
    for field in ("bos_token_id", "max_new_tokens", "min_new_tokens"):
        del answer[field]
    return {key: value for key, value in answer.items() if value is not None}


def without_nulls(fields):
    return fields and {k: v for k, v in fields.items() if v is not None}


def delegated(config, generation):
    derived = generation and "_from_model_config" in generation
    known = generation if derived else {}
    return without_nulls(
        {k: known.get(k) if v is None else v for k, v in config.items()}
    )


def answer(model, folder, config, generation):
    """The answer and whether transformers fails."""
    try:
        return resolve(model, folder, config, generation), False
    except (ValueError, TypeError, AttributeError, RuntimeError):
        pass
    try:
        config = delegated(config, generation)
        return resolve(model, folder, config, without_nulls(generation)), True
    except (ValueError, TypeError, AttributeError, RuntimeError):
        return None, True


def variants(base, field, values):
    for value in values:
        fields = {k: v for k, v in base.items() if k != field}
        yield fields if value == ABSENT else fields | {field: value}


def places_of(kind):
    """The two files of each place, without the field."""
    base = CONFIG | (LED_POSITIONS if kind == "led" else POSITIONS)
    base |= {"model_type": kind, "architectures": [CLASSES[kind]]}
    derived = GENERATION | {"_from_model_config": True}
    return {
        "none": (base, None),
        "own": (base, GENERATION),
        "derived": (base, derived),
        "derived, other": (base | OTHER_SETTING, derived),
    }


def values_of(kind, field):
    """A default of the class that the vocabulary does not have is left out."""
    default = getattr(type(AutoConfig.for_model(kind))(), field, None)
    own = [default] if type(default) is int and default < VOCABULARY else []
    found = [ABSENT, None]
    for value in FIELDS[field]:
        found += own if value is None else [value]
    return found


def change(first, found):
    keys = sorted(first.keys() | found.keys())
    return {k: found.get(k) for k in keys if first.get(k) != found.get(k)}


def line(kind, field, model, folder):
    values, places = values_of(kind, field), places_of(kind)
    outcomes, rows, failures = [], "", []
    for config, generation in places.values():
        generations = [None]
        if generation is not None:
            generations = variants(generation, field, values)
        for one in generations:
            for other in variants(config, field, values):
                found, fails = answer(model, folder, other, one)
                if found not in outcomes:
                    outcomes.append(found)
                if fails:
                    failures.append(len(rows))
                rows += DIGITS[outcomes.index(found)]
    first = outcomes[0]
    changes = [[] if o is None else change(first, o) for o in outcomes[1:]]
    return {
        "class": kind,
        "field": field,
        "values": values,
        "outcomes": [first] + changes,
        "rows": rows,
        "failures": failures,
    }


def main():
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in CLASSES:
            places = places_of(kind)
            lines.append({"class": kind, "places": places})
            write(folder, "config.json", places["none"][0])
            model = AutoModelForSeq2SeqLM.from_config(
                AutoConfig.from_pretrained(folder)
            ).eval()
            for field in FIELDS:
                lines.append(line(kind, field, model, folder))
    with open(HERE / "generation.jsonl", "w") as file:
        for fields in lines:
            print(json.dumps(fields), file=file)


if __name__ == "__main__":
    main()
