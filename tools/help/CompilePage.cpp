//===- CompilePage.cpp - What is said of heddle-compile -------------------===//

#include "tools/help/CompilePage.h"
#include "lib/Masks/MaskFunctions.h"

using namespace heddle;

static constexpr const char *kModel = "The model", *kOutput = "What is written",
                            *kMachine = "Machines", *kTypes = "Types",
                            *kAttention = "Attention",
                            *kInside = "Looking inside",
                            *kAbout = "About the compiler";

static std::vector<Flag> getFlags() {
  return {
      {"--weights", "FILE", kModel,
       "tensors of a .mlir module: safetensors or .bin"},
      {"--random-weights", "SEED", kModel,
       "compile a configuration that has no weights: normal numbers that "
       "follow from SEED"},
      {"--write-weights", "FILE", kModel,
       "write the weights of --random-weights as safetensors"},
      {"--tokenizer", "FILE", kModel,
       "tokenizer of a CTranslate2 folder that has none, tokenizer.json or a "
       "SentencePiece model; or of a checkpoint of fairseq or "
       "OpenNMT-py, such a model or merges of BPE"},
      {"--pool", "MODES", kModel,
       "make the vectors of an encoder so, in place of what its folder says: "
       "cls, max, mean, mean_sqrt, weighted_mean, last, or several with commas "
       "between, one behind the other"},
      {"--layers", "N", kModel,
       "import the first N layers of an encoder alone, without its heads: what "
       "they return is hidden_states[N] of transformers; 0 is the input of the "
       "first one, and -2 leaves the last one out"},
      {"--load-dialect-plugin", "FILE", kModel,
       "load a shared object with a dialect"},
      {"-o", "FILE", kOutput,
       "write to FILE; - is standard output, unless it is a terminal "
       "and the output is no text"},
      {"--emit", "artifact|exe|mlir|llvm|asm", kOutput,
       "what to write: the artifact (default), a program that runs it "
       "and needs nothing but glibc 2.34, the module as imported, LLVM "
       "IR or assembly; the last two show the best machine of --target, "
       "with a module for each GPU kernel"},
      {"--jobs", "N", kOutput,
       "compile on at most N threads (default: one for each core); the "
       "artifact is the same"},
      {"--target",
       "portable|native|x86-64-v3|avx-vnni|x86-64-v4|avx512-vnni|"
       "avx512-bf16|amx|cuda|sm_80|sm_90a",
       kMachine,
       "generate code for these machines, comma-separated: portable (the "
       "default; every ISA level), native (this machine), a level, cuda "
       "(NVIDIA GPUs) or one architecture"},
      {"--ptxas", "FILE", kMachine,
       "NVIDIA's assembler, or its name in PATH: add machine code for "
       "GPUs beside the PTX, which a driver assembles at the first start"},
      {"--gemm", "generated|onednn", kMachine,
       "compute linear layers by generated kernels (default) or by "
       "oneDNN, whose results depend, in the last bits, on what runs in "
       "the same batch; heddle-run then needs libheddle-onednn.so "
       "beside it"},
      {"--dtype", "auto|f32|bf16|f16|int8|int8w", kTypes,
       "the type in which weights are multiplied; auto (default) is "
       "int8 if the checkpoint stores 8-bit integers, as Marian's int8 "
       "models do, otherwise f32, also for 16-bit weights; bf16 is fast "
       "from avx512-bf16 on and emulated below; f16 ends at 65,504 and "
       "is fast on GPUs alone; int8w stores 8-bit weights that f32 values "
       "multiply: for language models, whose steps wait for memory"},
      {"--activation-dtype", "f32|bf16", kTypes,
       "the type of the vectors that multiply weights of int8w: f32 (default), "
       "or bf16, with which prompts are several times faster where the "
       "processor has AMX; keys and values then are bf16, too, unless "
       "--cache-dtype says otherwise"},
      {"--cache-dtype", "f32|bf16|f16|int8", kTypes,
       "the type in which attention multiplies, and KV caches hold, keys and "
       "values: by default that of --dtype bf16 or f16, that of "
       "--activation-dtype, otherwise f32; bf16 "
       "halves the caches of int8w and int8; int8 stores what decoders keep "
       "with a scale for each head of a position, a quarter of f32's bytes, "
       "and multiplies it as f32"},
      {"--tf32", "", kTypes,
       "multiply f32 values on a GPU as tf32, with 10 mantissa bits as f16: "
       "faster, but ids may differ from the CPU's; by default products have "
       "f32's bits, and attention differs only in the last bits"},
      {"--keep", "bf16:GLOB|f16:GLOB|f32:GLOB", kTypes,
       "keep weights whose checkpoint name matches GLOB in this type in place "
       "of --dtype: a wider type, or the other 16-bit type; may be given more "
       "than once, the first match wins"},
      {"--calibrate", "FILE", kTypes,
       "print the error that each layer adds to logits, or to vectors, against "
       "f32 on the lines of FILE (ids if the model has no tokenizer; pairs "
       "have a tab between their texts): which layers to --keep"},
      {"--attention", "RULES", kAttention,
       "let fewer pairs attend: LAYERS: MASK, with ; between several. "
       "LAYERS are encoder.self, decoder.self or decoder.cross, or one "
       "layer of these, counted from 1, as encoder.self.3. MASK is made of "
       "|, &, !, ( ) and the masks below. The last rule for a layer wins"},
      {"--explain", "", kInside,
       "print what was fused in each layer, what was not and why, and "
       "which GPU kernels have no emitter"},
      {"--explore", "FILE.html", kInside,
       "write a page with what each pass changed, layers down to their "
       "assembly, and masks; with -o, or alone"},
      {"--dump-passes", "DIR", kInside,
       "write the module after each pass to DIR"},
      {"--no-fuse", "NAME[,NAME...]", kInside,
       "leave out fusion passes, by the names that --explain prints, or "
       "all of them"},
      {"--reference", "", kInside,
       "generate plain loops in place of kernels: slow, the oracle to "
       "compare with"},
      {"--license", "", kAbout, "print the notices of what is linked in"},
      {"--help", "", kAbout, "print this; -h does, too"},
      {"--version", "", kAbout, "print the version"}};
}

ToolPage heddle::getCompilePage() {
  ToolPage page;
  page.name = "heddle-compile";
  page.summary = "compile a transformer to one file";
  page.usage = "heddle-compile MODEL -o FILE [options]";
  page.description =
      "Compiles MODEL - a Marian folder, a Hugging Face folder or a .mlir "
      "module in the transformer dialect - to the artifact FILE, which "
      "heddle-run executes, or to a program that needs no other.";
  page.examples = {
      "heddle-compile opus-mt-en-de -o en-de.heddle",
      "heddle-compile opus-mt-en-de --emit exe -o translate",
      "heddle-compile bart-large --dtype bf16 --target native -o bart.heddle",
      "heddle-compile layer.mlir --weights layer.safetensors -o layer.heddle",
      "heddle-compile bart-large --explore passes.html"};
  page.groups = {kModel,     kOutput, kMachine, kTypes,
                 kAttention, kInside, kAbout};
  page.flags = getFlags();
  page.foreign = {
      {{"--output", "--out", "--output-file", "--output_file", "--output-dir",
        "--output_dir"},
       "is '-o' meant?"},
      {{"--quantize", "--quantization", "--compute-type", "--compute_type",
        "--precision", "--fp16", "--bf16", "--int8"},
       "is '--dtype' meant?"},
      {{"-i", "--input", "-m", "--model", "--models"},
       "the model has no flag: " + page.usage},
      // Those that people try here, not all that heddle-run has.
      {{"--beam", "--batch", "--threads", "--workers", "--ids", "--max-length",
        "--min-length", "--length-penalty", "--device", "--scores", "--n-best",
        "--sample", "--prefix", "--profile", "--info"},
       "it is a flag of heddle-run, which runs what this tool writes"},
      {{"-q", "--quiet"},
       "errors and warnings are all that is said in a pipe"}};
  Listing masks{"Masks, with default parameters", {}};
  for (const MaskFunction &function : getMaskFunctions())
    masks.lines.push_back(formatSignature(function));
  page.listings = {std::move(masks)};
  page.exitStatus =
      "The exit code is 0 on success, 1 if the model, a file or the machine "
      "is at fault, and 2 if the command line is.";
  return page;
}
