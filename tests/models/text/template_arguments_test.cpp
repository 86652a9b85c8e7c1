#include "models/text/template_arguments.hpp"

#include <gtest/gtest.h>

namespace linebounce {
namespace {

TEST(TemplateArguments, LongOnesAreLeftOut) {
  EXPECT_EQ(without_template_arguments("std::unordered_map<std::string, Session, std::hash<std::string> >::find(int)"),
            "std::unordered_map<...>::find(int)");
}

TEST(TemplateArguments, EachNameOfASentenceIsShortened) {
  EXPECT_EQ(without_template_arguments("misses on list<std::pair<long, long> > in walk<Tree<int, std::less<int> > > (a.cpp:3)"),
            "misses on list<...> in walk<...> (a.cpp:3)");
}

TEST(TemplateArguments, ShortOnesStay) {
  EXPECT_EQ(without_template_arguments("std::vector<int> and std::atomic<unsigned>"),
            "std::vector<int> and std::atomic<unsigned>");
}

TEST(TemplateArguments, WhatOnlyLooksLikeThemStays) {
  for (const char* text :
       {"#include <a_long_header_name.h>", "operator<<(std::ostream&, int)", "operator<(Key, Key) with more > less",
        "a < b and then some more text > c", "cut_off<std::pair<long, std::string", "x->y"})
    EXPECT_EQ(without_template_arguments(text), text);
}

}  // namespace
}  // namespace linebounce
