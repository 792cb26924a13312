"""The tokenizer of SMaLL-100, whose class is code in its folder and not a part of
transformers: M2M100Tokenizer with the language to translate into in front of the
source. Languages are special tokens, listed or not."""

from transformers import M2M100Tokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES


class Small100Tokenizer(M2M100Tokenizer):
    def __init__(self, vocab_file, spm_file, tgt_lang=None, **options):
        names = FAIRSEQ_LANGUAGE_CODES[options.get("language_codes", "m2m100")]
        options["additional_special_tokens"] = [f"__{name}__" for name in names]
        options.pop("src_lang", None)
        front = tgt_lang or "en"
        super().__init__(vocab_file, spm_file, src_lang=front, **options)
