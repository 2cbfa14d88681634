// PC2 and MDD against readers written here byte by byte.
#include <cstring>

#include "export_test_support.h"
#include "supple/io/mdd_writer.h"
#include "supple/io/pc2_writer.h"

namespace supple::test {
namespace {

// Four bytes at `at`, least significant first or last.
uint32_t word(const Bytes& bytes, size_t at, bool big) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= std::to_integer<uint32_t>(bytes.at(at + i)) << (8 * (big ? 3 - i : i));
  return value;
}

float number(const Bytes& bytes, size_t at, bool big) {
  const uint32_t bits = word(bytes, at, big);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// All samples from `at` to the end of the file, compared bit by bit with the skin's frames.
void expect_samples(const Bytes& bytes, size_t at, bool big, const AnimatedSkin& skin, UpAxis up) {
  ASSERT_EQ(bytes.size(), at + skin.rest.size() * 12 * static_cast<size_t>(skin.frame_count));
  for (int f = 0; f < skin.frame_count; ++f)
    for (const Vec3f& position : skin.frame(f).positions) {
      const Vec3f expected = up == UpAxis::z ? z_up(position) : position;
      for (int k = 0; k < 3; ++k, at += 4)
        ASSERT_EQ(word(bytes, at, big), std::bit_cast<uint32_t>(expected[k])) << "frame " << f;
    }
}

TEST(Pc2Writer, WritesHeaderAndPositions) {
  TemporaryFolder folder;
  for (const int first : {1001, 1, 0, -12})
    for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
      const AnimatedSkin skin = moving_strips(first, 5);
      write_pc2(folder / "a.pc2", skin, {up, {}});
      const Bytes bytes = read_file(folder / "a.pc2");
      ASSERT_GE(bytes.size(), 32u);
      EXPECT_EQ(std::memcmp(bytes.data(), "POINTCACHE2\0", 12), 0);
      EXPECT_EQ(word(bytes, 12, false), 1u);
      EXPECT_EQ(word(bytes, 16, false), 20u);
      EXPECT_EQ(number(bytes, 20, false), static_cast<float>(first));
      EXPECT_EQ(number(bytes, 24, false), 1.0f);
      EXPECT_EQ(word(bytes, 28, false), 5u);
      expect_samples(bytes, 32, false, skin, up);
    }
}

TEST(MddWriter, WritesTimesAndPositions) {
  TemporaryFolder folder;
  for (const int first : {1001, 1, 0, -12})
    for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
      const AnimatedSkin skin = moving_strips(first, 5, 29.97);
      write_mdd(folder / "a.mdd", skin, {up, {}});
      const Bytes bytes = read_file(folder / "a.mdd");
      ASSERT_GE(bytes.size(), 8u);
      EXPECT_EQ(word(bytes, 0, true), 5u);
      EXPECT_EQ(word(bytes, 4, true), 20u);
      for (int f = 0; f < 5; ++f)
        EXPECT_EQ(number(bytes, 8 + 4 * static_cast<size_t>(f), true),
                  static_cast<float>((first + f) / 29.97));
      expect_samples(bytes, 28, true, skin, up);
    }
}

TEST(Pc2Writer, FailuresLeaveNoTrace) { expect_failures_leave_no_trace(write_pc2, "a.pc2"); }
TEST(MddWriter, FailuresLeaveNoTrace) { expect_failures_leave_no_trace(write_mdd, "a.mdd"); }
TEST(Pc2Writer, ReportsProgress) { expect_progress(write_pc2, "a.pc2"); }
TEST(MddWriter, ReportsProgress) { expect_progress(write_mdd, "a.mdd"); }

TEST(Pc2Writer, RefusesASkinWithoutVertices) {
  TemporaryFolder folder;
  AnimatedSkin skin;
  skin.frame_count = 1;
  skin.frame = [](int) { return SkinFrame{}; };
  expect_output_error([&] { write_pc2(folder / "a.pc2", skin, {}); }, {"no vertices"});
  EXPECT_TRUE(snapshot(folder.path()).empty());
}

TEST(Pc2Writer, RefusesAMissingFolder) {
  TemporaryFolder folder;
  expect_output_error([&] { write_pc2(folder / "no/a.pc2", moving_strips(1, 1), {}); },
                      {(folder / "no/a.pc2").string()});
}

}  // namespace
}  // namespace supple::test
