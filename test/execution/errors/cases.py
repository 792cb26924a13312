"""What people give to Heddle that is wrong, and what it says.

A case: what is wrong, how it comes about (bash, in a folder of its own that
holds the links of `setup`), the command, its exit code and its sentence, in
which * stands for anything. The command may leave no file behind but those that
were there.
"""

from collections import namedtuple

Case = namedtuple("Case", "what prepare command code sentence")

CASES = []


def case(what, command, sentence, prepare="", code=1):
    CASES.append(Case(what, prepare, command, code, sentence))


def misuse(what, command, sentence, prepare=""):
    case(what, command, sentence, prepare, code=2)


# bart/, marian/ and opus/ are folders of models whose files are links, which
# `edit FILE` replaces by copies; model.heddle is an artifact of marian/.
COMPILE = "heddle-compile bart -o out --target x86-64-v3"

# --- What is not there, or is something else -------------------------------

case("a model that is missing", "heddle-compile absent -o out",
     "cannot read 'absent': No such file or directory")
case("an empty folder", "heddle-compile empty -o out",
     "'empty' *", "mkdir empty")
case("an empty module", "heddle-compile empty.mlir -o out",
     "'empty.mlir' *", ": >empty.mlir")
case("a module of something else", "heddle-compile text.mlir -o out",
     "*text.mlir:1:1*", "echo hello >text.mlir")
case("a module that does not verify", "heddle-compile wrong.mlir -o out",
     "*wrong.mlir*", 'echo "func.func @f() -> f32 { return }" >wrong.mlir')
case("a device in place of a model", "heddle-compile /dev/null -o out",
     "'/dev/null' *")
case("a model without its config", COMPILE, "'bart' *", "rm bart/config.json")
case("a model without its weights", COMPILE, "'bart' *",
     "rm bart/model.safetensors")
case("a folder in place of weights", COMPILE, "*'bart/model.safetensors'*",
     "rm bart/model.safetensors; mkdir bart/model.safetensors")
case("a configuration that links to itself", COMPILE,
     "'bart' is no model folder: it has neither config.json nor *",
     "rm bart/config.json; ln -s self bart/config.json; ln -s config.json bart/self")
case("a Marian folder without vocabulary", "heddle-compile marian -o out",
     "'marian' has no vocab*.spm, *", "rm marian/vocab* marian/config.yml")
case("a Marian folder with two models", "heddle-compile marian -o out",
     "'marian' has more than one model*.bin: *",
     "cp marian/model* marian/model.other.bin; rm marian/config.yml")

# --- Tokenizers -------------------------------------------------------------

for what, text, sentence in [
    ("a truncated tokenizer", '{"model": ', "*'bart/tokenizer.json'*"),
    ("a tokenizer without a model", "{}",
     "'bart/tokenizer.json' has no model"),
    ("a tokenizer without a vocabulary", '{"model": {"type": "BPE"}}',
     "'bart/tokenizer.json' has a model without 'vocab'"),
    ("a score that is none",
     '{"model": {"type": "Unigram", "vocab": [["a", "b"]]}}',
     "'bart/tokenizer.json' has the piece [\"a\",\"b\"] *"),
    ("an added token that is none", '{"added_tokens": [{"id": 0}]}',
     "'bart/tokenizer.json' has an added token without 'content'"),
]:
    case(what, COMPILE, sentence, f"echo '{text}' >bart/tokenizer.json")

# --- Configurations ---------------------------------------------------------

for what, text, sentence in [
    ("an empty configuration", "", "'bart/config.json' *"),
    ("a truncated configuration", '{"model_type": "bart", ', "*bart/config.json*"),
    ("a configuration that is a list", "[]", "*bart/config.json*"),
    ("a configuration in UTF-16", "\\xff\\xfe{\\x00}\\x00", "*bart/config.json*"),
    ("a configuration without a type", "{}", "*bart/config.json*"),
    ("an unknown architecture",
     '{"model_type": "gpt17", "architectures": ["GPT17"]}', "*gpt17*"),
    ("NLLB's mixture of experts",
     '{"model_type": "nllb-moe", "architectures": ["NllbMoeForConditionalGeneration"]}',
     "'bart/config.json' has 'model_type' with the value \"nllb-moe\" (supported: *m2m_100*"),
    ("an architecture that is a number", '{"model_type": 17}', "*model_type*"),
    ("a configuration of a thousand brackets", "[" * 1000, "*bart/config.json*"),
]:
    case(what, COMPILE, sentence, f"edit bart/config.json; printf '%b' '{text}' >bart/config.json")

for what, change, sentence in [
    ("a width that is a string", '"d_model": "many"', "*d_model*"),
    ("a width of zero", '"d_model": 0', "*d_model*"),
    ("a negative number of layers", '"encoder_layers": -1', "*encoder_layers*"),
    ("a number of heads that divides nothing", '"encoder_attention_heads": 7',
     "*heads*"),
    ("an activation that nobody knows", '"activation_function": "sinus"',
     "*sinus*"),
    ("a vocabulary of another size", '"vocab_size": 999999', "*"),
    ("a layer too many", '"decoder_layers": 2', "*"),
    ("an enormous width", '"d_model": 99999999999999999999', "*d_model*"),
    ("a start token outside of the vocabulary",
     '"decoder_start_token_id": 123456', "*decoder_start_token_id*"),
]:
    case(what, COMPILE, sentence,
         f"edit bart/config.json; python3 -c 'import json; "
         f"path = \"bart/config.json\"; all = json.load(open(path)); "
         f"all.update(json.loads(\"\"\"{{{change}}}\"\"\")); "
         f"json.dump(all, open(path, \"w\"))'")

case("a shape that contradicts the configuration", COMPILE, "*",
     "edit bart/config.json; sed -i 's/\"encoder_ffn_dim\": [0-9]*/\"encoder_ffn_dim\": 48/' bart/config.json")
case("an option of Marian that is unknown", "heddle-compile marian -o out",
     "'marian/config.yml' has the option 'n-best' with the value 'true' *",
     "rm -f marian/config.yml; echo 'n-best: true' >marian/config.yml")
case("YAML that is none", "heddle-compile marian -o out", "*marian/config.yml*",
     "rm -f marian/config.yml; printf 'models: [a\\n  - }' >marian/config.yml")

# --- Weights ------------------------------------------------------------------

WEIGHTS = "bart/model.safetensors"
for what, prepare, sentence in [
    ("empty weights", f": >{WEIGHTS}", f"*'{WEIGHTS}'*"),
    ("seven bytes of weights", f"printf 1234567 >{WEIGHTS}", f"*'{WEIGHTS}'*"),
    ("truncated weights", f"truncate -s 30000 {WEIGHTS}",
     f"tensor '*' of '{WEIGHTS}' ends at byte * but the file has 30000 bytes"),
    ("oversized weights", f"echo more >>{WEIGHTS}", f"*'{WEIGHTS}'*"),
    ("a header that is larger than the file",
     f"printf '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f{{}}' >{WEIGHTS}", f"*'{WEIGHTS}'*"),
    ("a header that is no JSON",
     f"printf '\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x00nope' >{WEIGHTS}", f"*'{WEIGHTS}'*"),
    ("a tensor of an unknown type", f"sed -i 's/\"F32\"/\"F17\"/' {WEIGHTS}", "*F17*"),
    ("a tensor of the wrong type", f"sed -i 's/\"F32\"/\"I32\"/' {WEIGHTS}", "*"),
    ("a tensor under another name",
     f"sed -i '0,/fc1.weight/s//fc9.weight/' {WEIGHTS}", "*fc1.weight*"),
    ("a pointer of Git LFS",
     f"printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:1\\nsize 2\\n' >{WEIGHTS}",
     "'bart/model.safetensors' is only a pointer to the file, which 'git lfs pull' fetches"),
]:
    case(what, COMPILE, sentence, f"edit {WEIGHTS}; {prepare}")
case("truncated weights of Marian", "heddle-compile marian -o out",
     "tensor 'Wemb' of 'marian/model*.bin' takes * bytes from byte * but the file has 5000000 bytes",
     "edit marian/model*.bin; truncate -s 5000000 marian/model*.bin")
case("a pickle that runs a program", "heddle-compile bart -o out",
     "*bart/pytorch_model.bin*",
     "rm bart/model.safetensors; "
     "python3 -c 'import os, pickle; "
     "Run = type(\"Run\", (), {\"__reduce__\": lambda self: (os.system, (\"touch ran\",))}); "
     "open(\"bart/pytorch_model.bin\", \"wb\").write(pickle.dumps(Run()))' 2>/dev/null || "
     "printf 'cos\\nsystem\\n(S\"touch ran\"\\ntR.' >bart/pytorch_model.bin")
case("a damaged vocabulary", "heddle-compile marian -o out",
     "'marian/vocab.enpt.spm' is not a SentencePiece model*",
     "edit marian/vocab.enpt.spm; truncate -s 100000 marian/vocab.enpt.spm")
case("a vocabulary of another model", "heddle-compile marian -o out", "*vocab*",
     "rm marian/vocab*; cp $SOURCE/test/goldens/marian-npz-two-vocabularies/srcvocab*.spm marian/vocab.enpt.spm")
case("a damaged shortlist", "heddle-compile marian -o out",
     "'marian/lex*.bin' announces *", "edit marian/lex*.bin; truncate -s 1000 marian/lex*.bin")

# --- Command lines ------------------------------------------------------------

misuse("no model", "heddle-compile", "no model is given, *")
misuse("two models", "heddle-compile a b", "two models are given, 'a' and 'b', expected one (-o FILE names the output)")
misuse("an unknown flag of the compiler", "heddle-compile bart --fast", "unknown flag '--fast'*")
misuse("a flag without its value", "heddle-compile bart -o", "-o needs a value*")
misuse("a target that is none", "heddle-compile bart -o out --target z80", "*z80*")
misuse("a type that is none", "heddle-compile bart -o out --dtype f8", "*f8*")
misuse("jobs that are no number", "heddle-compile bart -o out --jobs some", "*some*")
misuse("rules that are none", "heddle-compile bart -o out --attention 'encoder.self: winow(3)'",
       "--attention: *")
misuse("no file to run", "heddle-run", "no model file is given, expected heddle-run FILE")
misuse("an unknown flag of the runner", "heddle-run model.heddle --beams 4", "unknown flag '--beams'*")
misuse("a number that is none", "heddle-run model.heddle --batch many",
       "--batch has the value 'many', expected a number from 1 to 4096")
misuse("flags that contradict each other", "heddle-run model.heddle --sample --beam 4 x",
       "--sample draws one sequence, but --beam is 4")
misuse("a flag that is given twice", "heddle-run model.heddle --batch 2 --batch 3",
       "--batch is given twice, as '2' and as '3'")
case("more hypotheses than beams", "heddle-run model.heddle --n-best 3 x",
     "--n-best is 3 but 'model.heddle' searches with 1 beam (--beam N asks for more)")
case("a token outside of the vocabulary", "heddle-run model.heddle --suppress 999999 x",
     "--suppress has the id 999999, expected ids from 0 to 31999")
case("global tokens of a model without", "heddle-run model.heddle --global 0 x",
     "--global is given, but 'model.heddle' has no input 'global'")

# --- Artifacts ----------------------------------------------------------------

case("an artifact that is missing", "heddle-run absent", "cannot open 'absent': No such file or directory")
misuse("a model's folder in place of an artifact", "heddle-run bart", "'bart' is a folder of a model, expected an artifact: heddle-compile bart -o FILE writes one")
case("a folder in place of an artifact", "heddle-run folder", "'folder' is a directory, expected an artifact", "mkdir folder")
case("a pipe in place of an artifact", "heddle-run fifo", "'fifo' is not a regular file, expected an artifact",
     "mkfifo fifo")
case("an empty artifact", "heddle-run empty", "'empty' is empty, expected an artifact", ": >empty")
case("a model in place of an artifact", "heddle-run bart/config.json x", "'bart/config.json' is not an artifact of heddle-compile*")
case("an executable of somebody else", "heddle-run /bin/true x", "'/bin/true' *")
case("a truncated artifact", "heddle-run cut x", "'cut' has 1000000 bytes but its header says *",
     "head -c 1000000 model.heddle >cut")
case("an oversized artifact", "heddle-run long x", "'long' has * bytes but its header says *",
     "cp model.heddle long; echo >>long")
case("an altered artifact", "heddle-run altered x", "'altered' is altered: the checksum of *",
     "cp model.heddle altered; printf X | dd of=altered bs=1 seek=200 conv=notrunc status=none")
case("altered weights", "heddle-run altered --verify x", "'altered' is altered: the checksum of the weights from byte * of their section differs",
     "cp model.heddle altered; printf X | dd of=altered bs=1 seek=9000000 conv=notrunc status=none")
case("an artifact of a newer version", "heddle-run newer x", "'newer' *version 99*",
     "cp model.heddle newer; printf '\\x63\\x00\\x00\\x00' | dd of=newer bs=1 seek=8 conv=notrunc status=none")
case("a level that the artifact lacks", "HEDDLE_ISA=z80 heddle-run model.heddle x",
     "HEDDLE_ISA is 'z80' but 'model.heddle' has code for 'x86-64-v3'*")

# --- Input ----------------------------------------------------------------------

case("a line that is too long", "heddle-run model.heddle <long",
     "line 2 of standard input is longer than 1048576 bytes",
     "(echo; head -c 3000000 /dev/zero | tr '\\0' a) >long")
case("a line of too many tokens", "heddle-run model.heddle --max-source 3 <lines",
     "line 2 of standard input has * tokens, expected at most 3 (--max-source N admits more)",
     "printf 'A.\\nOne two three four five six.\\n' >lines")
case("ids that are none", "heddle-run model.heddle --ids '1 x'",
     "text 1 has 'x', expected token ids separated by spaces")
case("an id outside of the vocabulary", "heddle-run model.heddle --ids 32000",
     "text 1 has the id 32000 but the vocabulary has 32000")
case("a folder in place of text", "heddle-run model.heddle <bart", "cannot read standard input: Is a directory")
case("prefixes that are missing", "heddle-run model.heddle --prefix absent x", "cannot open 'absent': No such file or directory")
case("a prefix too few", "heddle-run model.heddle --prefix one a b",
     "line 1 of 'one' is the last, but the input has more lines", "echo x >one")
case("a prefix too many", "heddle-run model.heddle --prefix two a",
     "line 2 of 'two' belongs to no line of input", "printf 'x\\ny\\n' >two")
case("targets that are no ids", "heddle-run model.heddle --ids --teacher t --logits out 1",
     "line 1 of 't' has 'x', expected token ids separated by spaces", "echo x >t")

# --- Where it is written -------------------------------------------------------

case("a folder that does not exist", "heddle-compile bart -o absent/out --target x86-64-v3",
     "*'absent/out*No such file or directory*")
case("a folder in place of the output", "heddle-compile bart -o bart --target x86-64-v3", "*'bart'*")
case("an output that is the model", "heddle-compile bart -o bart/model.safetensors --target x86-64-v3",
     "*'bart/model.safetensors'*")
case("a folder that may not be written", "heddle-compile bart -o /proc/out --target x86-64-v3", "*'/proc/out*")
case("a full disk", "heddle-run model.heddle x >/dev/full",
     "cannot write standard output: No space left on device")
case("a full disk for a compiler", "heddle-compile bart --emit=mlir -o - >/dev/full",
     "*No space left on device*")
case("an output that is closed", "heddle-run model.heddle x >&-",
     "cannot write standard output: Bad file descriptor")
case("files that may not grow", "(ulimit -f 8; exec heddle-compile bart -o out --target x86-64-v3)",
     "*File too large*")
case("a file of numbers in no folder", "heddle-run model.heddle --hidden absent/a.npy x",
     "*absent/a.npy*No such file or directory*")

# --- Memory ----------------------------------------------------------------------

case("a limit below all that works", "heddle-run model.heddle --max-memory 1 x",
     "'model.heddle' needs * MiB of memory (--max-memory is 1)")
case("no memory for the runner", "(ulimit -v 40000; exec heddle-run model.heddle --workers 1 <lines)",
     "*memory*", "for i in {1..400}; do echo \"This is line $i of the text, and the same again: $i.\"; done >lines")
