//===- RunPage.cpp - What is said of heddle-run ---------------------------===//

#include "tools/help/RunPage.h"

#include "runtime/artifact/SearchSettings.h"
#include "runtime/heddle.h"

using namespace heddle;

/// The groups of flags that no setting has.
static constexpr const char *kJobs = "Other jobs", *kAbout = "About a run";

/// The flags that no setting has, behind the settings of their group.
static std::vector<Flag> getOwnFlags() {
  return {
      {"--ensemble", "FILE", kSearchGroup,
       "translate with the model of this file, too, and take the mean of what "
       "the models say of each token; repeatable"},
      {"--allow", "FILE", kSearchGroup,
       "generate only the words of FILE, or its ids with --ids: one "
       "line for all inputs, or a line for each"},
      {"--bad-words", "FILE", kSearchGroup,
       "never generate the sequences of FILE, one a line"},
      {"--stop", "TEXT", kSearchGroup,
       "end what is generated in front of TEXT, whatever tokens spell it; "
       "repeatable"},
      {"--prefix", "FILE", kSearchGroup,
       "begin each target with its line of FILE"},
      {"--alignments", "weights", kSearchGroup,
       "print ' ||| ' and the alignment behind each text: pairs 0-0 2-1 of a "
       "source token and the target token that comes from it, counted from 0; "
       "weights: the probabilities of all source tokens, for each target token",
       /*isValueOptional=*/true},
      {"--split", "browser", kTextGroup,
       "translate running text sentence by sentence; white space and "
       "ends of lines stay; browser cuts as browsers do, at . ? ! alone",
       /*isValueOptional=*/true},
      {"--output", "FILE.npy", kVectorGroup,
       "write the vectors, an array [lines, width], instead of printing "
       "one JSON object a line"},
      {"--vector-type", "float32|float16|int8|bits", kVectorGroup,
       "print or write the vectors in this type (default: float32); int8: "
       "127 times the vector of length 1; bits: 1 for each number above "
       "0, eight of them in a byte, the first one highest"},
      {"--nearest", "FILE", kVectorGroup,
       "print the lines of FILE that are nearest to each query, the best "
       "first, with their scores: 10, or as many as --top says. FILE has "
       "texts, or is what --output wrote. The score is the cosine of two "
       "vectors, or the fraction of their bits that are equal. Unless "
       "--prompt says otherwise, the model's prompt 'query' is in front of "
       "queries, and the first that it has of 'document', 'passage' and "
       "'corpus' in front of FILE's texts"},
      {"--query", "TEXT", kVectorGroup,
       "with --nearest: the only query; without, each TEXT or line of "
       "standard input is one, and results begin with its number"},
      {"--plain", "", kTextGroup,
       "print of vectors the numbers alone, and of labels the best one of "
       "each place, with its score if it is a text's"},
      {"--in-bytes", "", kLabelGroup,
       "print where tokens, spans and answers stand in bytes of UTF-8, not in "
       "characters"},
      {"--pairs", "", kLabelGroup,
       "read pairs of texts with a tab between them, as a classifier of "
       "pairs takes them; questions and texts always stand so"},
      {"--second", "FILE", kLabelGroup,
       "read the second texts of pairs from FILE, one a line, the first ones "
       "as usual"},
      {"--question", "TEXT", kLabelGroup,
       "print the answer to TEXT that stands in each line"},
      {"--rank", "TEXT", kLabelGroup,
       "print the lines, each with its score as the second text of a "
       "pair with TEXT, the best first"},
      {"--task", "NAME", kTextGroup,
       "do this of what the model can do: generate, classify, tag, answer, "
       "embed or fill (default: what another flag is for, as --output for "
       "vectors and --aggregate for a tagger, otherwise the first of these)"},
      {"--score", "FILE", kJobs,
       "print the log-probability of each line of FILE as a "
       "translation, a tab and that of each token; at the end, the "
       "perplexity of all on standard error"},
      {"--teacher", "FILE", kJobs,
       "with --logits: feed the decoder the target ids of FILE, one "
       "line for each input"},
      {"--logits", "FILE.npy", kJobs,
       "with --teacher: write the logits, float32 [lines, longest, "
       "vocabulary]"},
      {"--form", "full|step|prefill", kJobs,
       "with --teacher: compute all positions at once (full, the "
       "default), by decode steps, or by prefill"},
      {"--hidden", "FILE.npy", kJobs,
       "write the encoder's output for each line instead of translating "
       "it, float32 [lines, longest, width]"},
      {"--device", "cpu|cuda|auto", kMachineGroup,
       "run on the CPU, on the first NVIDIA GPU, or (auto, the default) "
       "on the GPU if the model has code for it and it works"},
      {"--profile", "FILE", kAbout,
       "print at the end, on standard error, how long each CPU kernel "
       "took and how close it came to this machine's peaks, which takes "
       "a second to measure; FILE gets the same as JSON, FILE.html a "
       "page with layers",
       /*isValueOptional=*/true},
      {"--verify", "", kAbout,
       "also check the weights, and that padding between sections is "
       "zero"},
      {"--info", "", kAbout,
       "print what the file holds, and the memory that a sentence needs to "
       "decode, at --max-length positions if given"},
      {"--license", "", kAbout, "print the notices of what is linked in"},
      {"--help", "", kAbout, "print this; -h does, too"},
      {"--version", "", kAbout, "print the version"}};
}

static std::vector<Flag> getFlags() {
  size_t count = 0;
  const heddle_setting *settings = heddle_settings_list(&count);
  std::vector<Flag> flags;
  for (size_t i = 0; i < count; ++i) {
    std::string name = "--" + std::string(settings[i].name);
    const char *value = settings[i].value;
    // The tool's own say more.
    if (name != "--profile" && name != "--split" && name != "--alignments")
      flags.push_back(
          {name, value ? value : "", settings[i].group, settings[i].help});
  }
  for (Flag &flag : getOwnFlags())
    flags.push_back(std::move(flag));
  return flags;
}

ToolPage heddle::getRunPage(const std::string &program) {
  std::string use = program.empty() ? "heddle-run FILE" : program;
  ToolPage page;
  page.name = program.empty() ? "heddle-run" : program;
  page.summary = "run a compiled transformer";
  page.usage = use + " [TEXT...] [options]";
  page.description =
      "Translates each TEXT, or each line of standard input, or continues it, "
      "with the model " +
      std::string(program.empty() ? "that heddle-compile wrote to FILE"
                                  : "in this file") +
      ", and prints a line for each; other models embed or label it, and print "
      "a JSON object. After --, every argument is text, even "
      "if it begins with a dash or names a file. If the model sets an option "
      "of the search or of samples, its value is the default.";
  page.examples = {use + " \"Good morning.\"",
                   use + " --beam 4 <in.txt >out.txt", use + " --info"};
  page.groups = {kSearchGroup, kSamplesGroup, kVectorGroup, kLabelGroup,
                 kTextGroup,   kMachineGroup, kJobs,        kAbout};
  page.flags = getFlags();
  page.foreign = {
      {{"-i", "--input"},
       "lines are read from standard input: " + use + " <letters.txt"},
      {{"-o"}, "answers go to standard output: " + use + " >answers.txt"},
      {{"-m", "--model", "--models"},
       program.empty() ? "the model's file is the first argument: " + use
                       : "the model is in this file"},
      {{"--dtype", "--target", "--attention", "--keep", "--calibrate", "--emit",
        "--explain", "--weights", "--quantize", "--compute-type"},
       "it is a flag of heddle-compile: the artifact has what it decides"},
      {{"--precision"},
       "the type of vectors is --vector-type float32|float16|int8|bits"},
      {{"-q", "--quiet"},
       "errors and warnings are all that is said beside the answers"}};
  page.listings = {
      {"Environment",
       {"HEDDLE_ISA=x86-64-v3  load the code of this ISA level instead of the "
        "best",
        "HEDDLE_GPU_ARCH=sm_80 load kernels of this architecture instead of "
        "the best",
        "HEDDLE_LIBCUDA=FILE   a CUDA driver in place of libcuda.so.1",
        "HEDDLE_PERF_MAP=1     name kernels for perf in /tmp/perf-PID.map"}}};
  page.exitStatus =
      "The exit code is 0 on success, even if --on-error skipped or cut lines, "
      "1 if the input, the file or the machine is at fault, and 2 if the "
      "command line is.";
  return page;
}
