// Selections and scripted motions of scenes.
#include "supple/sim/script.h"

#include <gtest/gtest.h>

#include "supple/core/error.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

template <class Make>
std::string refusal(const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "was taken";
}

bool selects(const SelectSettings& settings, const Vec3d& point, double slack = 1e-6) {
  return Selection(settings, slack, "s.json", "select").contains(point);
}

TEST(Selection, ShapesHoldTheirBorders) {
  const SelectSettings box{.box = BoxSelection{{0, 0, 0}, {1, 2, 3}}};
  EXPECT_TRUE(selects(box, {0, 0, 0}));
  EXPECT_TRUE(selects(box, {1, 2, 3.0000005}));
  EXPECT_FALSE(selects(box, {1, 2, 3.001}));
  EXPECT_FALSE(selects(box, {0.5, -0.001, 1}));
  const SelectSettings ball{.sphere = SphereSelection{{1, 0, 0}, 2}};
  EXPECT_TRUE(selects(ball, {3, 0, 0}));
  EXPECT_TRUE(selects(ball, {1, 1.41, 1.41}));
  EXPECT_FALSE(selects(ball, {1, 1.42, 1.42}));
  // The side the normal points to, whatever its length.
  const SelectSettings half{.plane = PlaneSelection{{0, 1, 0}, {0, -1e-200, 0}}};
  EXPECT_TRUE(selects(half, {5, 1, 5}));
  EXPECT_TRUE(selects(half, {5, -7, 5}));
  EXPECT_FALSE(selects(half, {5, 1.001, 5}));
}

TEST(Selection, SeveralShapesMeanWhatLiesInAll) {
  SelectSettings settings{.box = BoxSelection{{-1, -1, -1}, {1, 1, 1}}};
  settings.plane = PlaneSelection{{0, 0, 0}, {1, 0, 0}};
  EXPECT_TRUE(selects(settings, {0.5, 0, 0}));
  EXPECT_FALSE(selects(settings, {-0.5, 0, 0}));
  EXPECT_FALSE(selects(settings, {1.5, 0, 0}));
}

TEST(Selection, MistakesAreNamed) {
  const auto make = [](const SelectSettings& settings) {
    return refusal([&] { selects(settings, Vec3d::Zero()); });
  };
  EXPECT_EQ(make({}), "s.json: select: is missing: give a box, sphere or plane");
  EXPECT_EQ(make({.box = BoxSelection{{0, 3, 0}, {1, 2, 1}}}),
            "s.json: select.box: min[1] = 3 is more than max[1] = 2");
  EXPECT_EQ(make({.plane = PlaneSelection{}}), "s.json: select.plane.normal: must not be 0 0 0");
}

FrameRange range(int first, int last) {
  FrameRange result;
  result.first = first;
  result.last = last;
  return result;
}

Script script(const ScriptSettings& settings) {
  return Script({settings}, range(1, 11), "s.json", "motion");
}

TEST(Script, KeysAreInterpolatedAndHeldBeyond) {
  ScriptSettings settings;
  settings.translate = {2, 0, -4};
  settings.keys = {{1, 0}, {2, 1}, {4, -0.5}};
  settings.ramp = Ramp::linear;
  const auto at = [&](double time) -> Vec3d {
    return script(settings).at({time, 99}) * Vec3d(1, 1, 1);
  };
  EXPECT_TRUE(at(-5).isApprox(Vec3d(1, 1, 1)));
  EXPECT_TRUE(at(1.5).isApprox(Vec3d(2, 1, -1)));
  EXPECT_TRUE(at(2).isApprox(Vec3d(3, 1, -3)));
  EXPECT_TRUE(at(3).isApprox(Vec3d(1.5, 1, 0)));
  EXPECT_TRUE(at(9).isApprox(Vec3d(0, 1, 3)));
  settings.ramp = Ramp::smooth;
  EXPECT_TRUE(at(1.5).isApprox(Vec3d(2, 1, -1)));
  // At rest at the keys.
  EXPECT_NEAR((at(2.001) - at(2)).norm(), 0, 1e-4);
  EXPECT_TRUE(at(1.25).isApprox(Vec3d(1 + 2 * 0.15625, 1, 1 - 4 * 0.15625)));
  settings.unit = TimeUnit::frames;
  EXPECT_TRUE((script(settings).at({0, 2}) * Vec3d(1, 1, 1)).isApprox(Vec3d(3, 1, -3)));
}

TEST(Script, TurnsAboutAnAxisThenShifts) {
  ScriptSettings settings;
  settings.rotate = {{0, 0, 5}, 90, {1, 0, 0}};
  settings.translate = {0, 0, 3};
  settings.keys = {{0, 1}};
  const Affine motion = script(settings).at({});
  EXPECT_TRUE((motion * Vec3d(2, 0, 0)).isApprox(Vec3d(1, 1, 3)));
  EXPECT_TRUE((motion * Vec3d(1, 0, 0)).isApprox(Vec3d(1, 0, 3)));
}

TEST(Script, MotionsFollowEachOther) {
  ScriptSettings shift, turn;
  shift.translate = {1, 0, 0};
  turn.rotate = {{0, 0, 1}, 180, {0, 0, 0}};
  shift.keys = turn.keys = {{0, 1}};
  const Script both({shift, turn}, range(1, 2), "s.json", "motion");
  EXPECT_TRUE((both.at({}) * Vec3d(1, 0, 0)).isApprox(Vec3d(-2, 0, 0)));
  EXPECT_TRUE(Script().at({3, 4}).isApprox(Affine::Identity()));
}

TEST(Script, WithoutKeysItTakesTheWholeRun) {
  ScriptSettings settings;
  settings.translate = {0, 1, 0};
  EXPECT_NEAR((script(settings).at({0, 1}) * Vec3d::Zero().eval())[1], 0, 1e-12);
  EXPECT_NEAR((script(settings).at({0, 6}) * Vec3d::Zero().eval())[1], 0.5, 1e-12);
  EXPECT_NEAR((script(settings).at({0, 11}) * Vec3d::Zero().eval())[1], 1, 1e-12);
  const Script one({settings}, range(5, 5), "s.json", "motion");
  EXPECT_NEAR((one.at({0, 5}) * Vec3d::Zero().eval())[1], 1, 1e-12);
}

TEST(Script, MistakesAreNamed) {
  ScriptSettings settings;
  const auto make = [&] { return refusal([&] { script(settings); }); };
  settings.keys = {{0, 0}, {1}};
  EXPECT_EQ(make(), "s.json: motion[0].keys[1]: must be [time, amount], found 1 numbers");
  settings.keys = {{1, 0}, {1, 1}};
  EXPECT_EQ(make(), "s.json: motion[0].keys[1]: time 1 is not after the one before, 1");
  settings.keys = {};
  settings.rotate.axis = {0, 0, 0};
  EXPECT_EQ(make(), "s.json: motion[0].rotate.axis: must not be 0 0 0");
}

}  // namespace
}  // namespace supple
