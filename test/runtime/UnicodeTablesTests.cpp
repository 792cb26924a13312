//===- UnicodeTablesTests.cpp - What kind of character one is -------------===//

#include "runtime/tokenizer/UnicodeTables.h"
#include "gtest/gtest.h"

using namespace heddle;

TEST(UnicodeTables, have_small_letters) {
  for (auto [character, letter] : {std::pair(U'A', U'a'),
                                   {U'Z', U'z'},
                                   {U'a', U'a'},
                                   {U'@', U'@'},
                                   {U'[', U'['},
                                   {U'\0', U'\0'},
                                   {U'Ä', U'ä'},
                                   {U'×', U'×'},
                                   // Every other character of a run.
                                   {U'Ā', U'ā'},
                                   {U'ā', U'ā'},
                                   {U'Į', U'į'},
                                   {U'Σ', U'σ'},
                                   {U'ς', U'ς'},
                                   {U'Я', U'я'},
                                   // The sign for ohms, and a letter whose
                                   // small one is of two characters.
                                   {U'\u2126', U'ω'},
                                   {U'\u0130', U'\u0130'},
                                   {U'漢', U'漢'},
                                   {U'\U0001E921', U'\U0001E943'},
                                   {U'\U0010FFFF', U'\U0010FFFF'}})
    EXPECT_EQ(toLowercase(character), letter)
        << std::hex << uint32_t(character);
}
