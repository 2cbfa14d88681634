// Text from files in messages: what is shown, what is replaced.
#include <gtest/gtest.h>

#include "supple/core/error.h"

namespace supple {
namespace {

TEST(Printable, KeepsWordsOfAllLanguages) {
  EXPECT_EQ(printable("walk fast"), "walk fast");
  EXPECT_EQ(printable("L\u00e4ufer \u8d70\u308b \U0001F41B"),
            "L\u00e4ufer \u8d70\u308b \U0001F41B");
}

TEST(Printable, ReplacesControlsAndBytesThatAreNoText) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(printable("\xC3"), "?");                 // cut off
  EXPECT_EQ(printable("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");       // half of a pair
  EXPECT_EQ(printable("\xF5\x80\x80\x80"), "????");  // past the last character
  EXPECT_EQ(printable("\u0085"), "??");              // a control of the upper set
  EXPECT_EQ(printable("\u202Ex"), "???x");           // would turn the rest around
}

TEST(Printable, ShortensByCharacters) {
  std::string longer;
  for (int i = 0; i < 61; ++i) longer += "\u00fc";
  const std::string shown = printable(longer);
  EXPECT_EQ(shown, longer.substr(0, 120) + "...");
  EXPECT_EQ(printable(longer.substr(0, 120)), longer.substr(0, 120));
}

}  // namespace
}  // namespace supple
