//===- SentenceSplitter.h - Cuts running text into sentences ----*- C++ -*-===//
//
// By two sets of rules. Those of ssplit-cpp, the splitter of the translation
// engine of browsers, as it runs there: without a list of abbreviations. (It
// asks bytes whether they are small letters; here the letters are asked.) A
// candidate is a run of . ? ! with what closes behind it, quotation marks,
// brackets and a footnote as "[1,2]". It ends a sentence where white space
// follows, unless
//
// - what comes next begins with a small letter, behind punctuation that opens;
// - or it is the "[...]" of a quotation, before neither capital nor number.
//
// The other rules are these and those for the full stops of other scripts
// (Unicode's Sentence_Terminal): such a run ends a sentence without white
// space, too, as in Unicode's annex 29, unless a comma, "と" or "って" goes on
// behind what closes, or a number behind a full stop of full width. An end of a
// line in the text ends a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_SENTENCESPLITTER_H
#define HEDDLE_RUNTIME_LINES_SENTENCESPLITTER_H

#include <string_view>
#include <vector>

namespace heddle {

enum class SplitRules { Browser, AllScripts };

/// A sentence, and the white space behind it. Borrowed from the text.
struct SentenceSpan {
  std::string_view text, space;
};

/// The sentences of a text, which together are all of it but for white space
/// before the first one. None of a text of white space. What is not
/// well-formed UTF-8 is neither letter nor space.
std::vector<SentenceSpan>
splitSentences(std::string_view text,
               SplitRules rules = SplitRules::AllScripts);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_SENTENCESPLITTER_H
