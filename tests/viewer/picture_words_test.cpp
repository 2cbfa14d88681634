// Words of the command line: what is meant, and what is refused with a message that helps.
#include "viewer/picture_words.h"

#include <gtest/gtest.h>

#include "browser_support.h"

namespace supple::viewer {
namespace {

std::string refusal(const std::function<void()>& parse) {
  return test::problem_of(parse, ErrorKind::usage);
}

TEST(PictureWords, Sizes) {
  EXPECT_EQ(parse_size("1280x720", "--size"), (std::pair{1280, 720}));
  EXPECT_EQ(parse_size("16x8192", "--size"), (std::pair{16, 8192}));
  for (const char* bad : {"", "x", "15x720", "1280x8193", "1280", "1280x720x2", " 1280x720",
                          "1280x-720", "1e3x720", "99999999999999x720", "1280X720"})
    EXPECT_EQ(refusal([&] { parse_size(bad, "--size"); }),
              fmt::format("--size: '{}' is not WIDTHxHEIGHT with 16 to 8192 pixels each", bad));
}

TEST(PictureWords, Frames) {
  using Frames = std::vector<int>;
  EXPECT_EQ(parse_frame_list("7", "--frame"), Frames{7});
  EXPECT_EQ(parse_frame_list("-7", "--frame"), Frames{-7});
  EXPECT_EQ(parse_frame_list("3-5", "--frame"), (Frames{3, 4, 5}));
  EXPECT_EQ(parse_frame_list("-2:1", "--frame"), (Frames{-2, -1, 0, 1}));
  EXPECT_EQ(parse_frame_list("-2--1", "--frame"), (Frames{-2, -1}));
  EXPECT_EQ(parse_frame_list("9,1-2,9", "--frame"), (Frames{9, 1, 2, 9}));
  for (const char* bad : {"", ",", "1,", "x", "5-3", "1-", "1-2-3", "1.5", "99999999999"})
    EXPECT_NE(refusal([&] { parse_frame_list(bad, "--frame"); }).find("FIRST-LAST"),
              std::string::npos)
        << bad;
  EXPECT_NE(refusal([] {
              parse_frame_list("-2000000000:2000000000", "--frame");
            }).find("at most 1000000 frames"),
            std::string::npos);
  EXPECT_NE(refusal([] { parse_frame_list("1-999999,1-2", "--frame"); }).find("at most"),
            std::string::npos);
}

TEST(PictureWords, Cameras) {
  PictureOptions options;
  parse_camera("quarter", "--camera", options);
  EXPECT_EQ(options.camera, "quarter");
  EXPECT_FALSE(options.angles);
  parse_camera("-30,15.5", "--camera", options);
  ASSERT_TRUE(options.angles);
  EXPECT_EQ(options.angles->azimuth, -30);
  EXPECT_EQ(options.angles->elevation, 15.5);
  EXPECT_EQ(options.angles->zoom, 1);
  parse_camera("+0,-90,2", "--camera", options);
  EXPECT_EQ(options.angles->zoom, 2);
  for (const char* bad :
       {"", "frnt", "30", "30,15,1,1", "30,91", "30,15,0", "nan,0", "inf,0", "1,,2"})
    EXPECT_NE(refusal([&] { parse_camera(bad, "--camera", options); }).find("AZIMUTH,ELEVATION"),
              std::string::npos)
        << bad;
  EXPECT_NE(
      refusal([&] { parse_camera("frnt", "--camera", options); }).find("did you mean 'front'"),
      std::string::npos);
}

TEST(PictureWords, RangesLayersAndColours) {
  EXPECT_EQ(parse_range("-0.5,2e-1", "--range"), (std::pair{-0.5, 0.2}));
  for (const char* bad : {"", "1", "1,1", "2,1", "1,2,3", "a,b", "0,inf"})
    EXPECT_NE(refusal([&] { parse_range(bad, "--range"); }).find("MIN,MAX"), std::string::npos);
  EXPECT_EQ(parse_layers("skin,bones", "--show"), (std::vector<std::string>{"skin", "bones"}));
  EXPECT_EQ(
      refusal([] { parse_layers("skin,bonse", "--show"); }),
      "--show: 'bonse' is not one of skin, bones, mesh, colliders, ground, wireframe; did you "
      "mean 'bones'?");
  EXPECT_EQ(colour_name("distance"), "distance");
  EXPECT_EQ(colour_name("stretch"), "map/stretch");
  EXPECT_EQ(colour_name("map/stretch"), "map/stretch");
  EXPECT_EQ(colour_name(""), "");
}

}  // namespace
}  // namespace supple::viewer
