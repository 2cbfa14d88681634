// Real characters with flesh, whole clips up to 4 s, no scene file: `make soak`. Prints a row of
// what was measured for every clip. SUPPLE_SOAK is the most clips of a character, SUPPLE_BUDGET the
// number of cells, SUPPLE_CLIP the one clip to play, SUPPLE_SECONDS how much of a clip is played.
// With SUPPLE_OVERLAP=0 overlap is not measured, which takes longer than the flesh. With
// SUPPLE_WHERE it says of every frame which joints deep vertices are of, with SUPPLE_FRAMES what
// volume skin and cells have. SUPPLE_TARGET is the widest instruction set to use, such as AVX2:
// rounding is another then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numbers>

#include "supple/core/timer.h"
#include "supple/io/load.h"
#include "supple/math/simd.h"
#include "supple/mesh/topology.h"
#include "supple/sim/flesh_shown.h"
#include "supple/sim/lattice_body.h"
#include "supple/sim/session.h"
#include "support/skin_overlap.h"
#include "support/test_support.h"

namespace supple {
namespace {

// The most seconds of a clip.
double longest() {
  const char* seconds = std::getenv("SUPPLE_SECONDS");
  return seconds != nullptr ? std::atof(seconds) : 4;
}

bool measures_overlap() {
  const char* overlap = std::getenv("SUPPLE_OVERLAP");
  return overlap == nullptr || std::atoi(overlap) != 0;
}

// What one clip came to.
struct Outcome {
  int frames = 0;
  double mean_time = 0, longest_time = 0;        // seconds per frame
  double least_volume = 10, largest_volume = 0;  // relative to rest
  double plain_least = 10, plain_largest = 0;    // the same of plain skinning
  double largest_cells = 0;  // the same of the flesh itself, also where the skin has holes
  bool is_closed = false;    // whether the skin encloses a volume
  size_t plain_deep = 0, flesh_deep = 0;    // vertices more than half a cell deep, worst frame
  double plain_depth = 0, flesh_depth = 0;  // sums over all frames and vertices, in cells
  size_t behind = 0;           // of those of the flesh, more than half a cell behind a surface
  double furthest_behind = 0;  // in cells
  size_t vertices = 0;
  double worst_skull = 0, worst_foot = 0;  // distortion, worst frame
  int crowded = 0;  // frames with more than 0.1 % deep, and more than a tenth of plain skinning's
  std::vector<std::string> warnings;
};

double volume_of(const TriangleMesh& mesh, std::span<const Vec3f> positions) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles) {
    const Vec3d a = positions[static_cast<size_t>(t[0])].cast<double>(),
                b = positions[static_cast<size_t>(t[1])].cast<double>(),
                c = positions[static_cast<size_t>(t[2])].cast<double>();
    sum += a.dot(b.cross(c)) / 6;
  }
  return sum;
}

// How far the skin of one joint is from the shape it has at rest, moved rigidly as fits best: root
// of the mean square over its points, relative to its longest side. 0 without such a joint.
double distortion(const Character& character, const FleshSkin& skin, std::string_view joint,
                  std::span<const Vec3f> posed) {
  constexpr float own = 0.9f;  // skin weight of what is the joint's alone
  std::vector<size_t> points;
  for (size_t p = 0; p < posed.size(); ++p)
    for (const Influence& i : character.weights.of(static_cast<size_t>(skin.vertex_of_point[p])))
      if (i.weight >= own &&
          character.skeleton
                  .joints[static_cast<size_t>(character.binds[static_cast<size_t>(i.bind)].joint)]
                  .name == joint)
        points.push_back(p);
  if (points.size() < 4) return 0;
  Eigen::Matrix3Xd rest(3, points.size()), now(3, points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    rest.col(static_cast<Eigen::Index>(i)) = skin.mesh.positions[points[i]].cast<double>();
    now.col(static_cast<Eigen::Index>(i)) = posed[points[i]].cast<double>();
  }
  const Eigen::Affine3d fit(Eigen::umeyama(rest, now, false));
  const double size = (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).maxCoeff();
  return std::sqrt((fit * rest - now).colwise().squaredNorm().mean()) / size;
}

// Of which joints the deep vertices of a frame are.
void print_where(const Character& character, const FleshSkin& skin, int frame,
                 const test::SkinOverlap& plain, const test::SkinOverlap& flesh, double cell) {
  std::map<std::string, int> by_joint;
  for (const int32_t point : flesh.vertices) {
    const auto vertex = static_cast<size_t>(skin.vertex_of_point[static_cast<size_t>(point)]);
    const auto of = character.weights.of(vertex);
    const auto most = std::max_element(
        of.begin(), of.end(),
        [](const Influence& a, const Influence& b) { return a.weight < b.weight; });
    if (most != of.end())
      ++by_joint[character.skeleton
                     .joints[static_cast<size_t>(
                         character.binds[static_cast<size_t>(most->bind)].joint)]
                     .name];
  }
  fmt::print("frame {:4}: {} deep of {} by skinning, deepest {:.2f} cells, behind {:.2f}:", frame,
             flesh.deep, plain.deep, flesh.deepest / cell, flesh.furthest_behind / cell);
  for (const auto& [name, count] : by_joint) fmt::print(" {} {}", name, count);
  fmt::print("\n");
}

Outcome play(const PreparedScene& prepared, Scene scene, const Clip* clip) {
  if (const char* target = std::getenv("SUPPLE_TARGET")) set_widest_target(target);
  if (const char* budget = std::getenv("SUPPLE_BUDGET")) scene.body.budget = std::atoi(budget);
  const Character& character = *prepared.character;
  if (clip != nullptr) {
    const double rate = scene.frames.rate > 0 ? scene.frames.rate : clip_rate(*clip);
    const double length = std::min(longest(), clip->end() - clip->start());
    scene.frames.last = scene.frames.first + static_cast<int>(length * rate);
  }
  Session session(prepared.character, scene, clip, "soak");
  const auto& body = dynamic_cast<const LatticeBody&>(session.body());
  const FleshSkin& skin = body.model().skin;
  const double cell = body.model().solid.spacing;
  const test::OverlapMeter meter(skin.mesh, 2 * cell);
  const Skinner skinner(character.weights, character.binds);
  const double rest = volume_of(skin.mesh, skin.mesh.positions);
  const auto points_of = [&](std::span<const Vec3f> vertices) {
    std::vector<Vec3f> points;
    for (const int32_t v : skin.vertex_of_point) points.push_back(vertices[static_cast<size_t>(v)]);
    return points;
  };
  Outcome outcome;
  outcome.vertices = meter.vertices();
  outcome.is_closed = analyse_topology(skin.mesh.positions.size(), skin.mesh.triangles).closed();
  FrameRecord record;
  while (!session.done()) {
    const Stopwatch watch;
    const FrameReport report = session.advance(record);
    const double seconds = watch.seconds();
    ++outcome.frames;
    outcome.mean_time += seconds;
    outcome.longest_time = std::max(outcome.longest_time, seconds);
    for (const std::string& warning : report.warnings)
      outcome.warnings.push_back(fmt::format("frame {}: {}", report.frame, warning));
    std::vector<Vec3f> plain = character.skin.positions;
    skinner.skin(SkinningMethod::linear, record.joints, plain, plain);
    const std::vector<Vec3f> flesh = points_of(record.body.positions), rigged = points_of(plain);
    for (const Vec3f& p : flesh)
      if (!p.allFinite()) ADD_FAILURE() << "frame " << report.frame << " is not finite";
    const double volume = volume_of(skin.mesh, flesh) / rest;
    outcome.least_volume = std::min(outcome.least_volume, volume);
    outcome.largest_volume = std::max(outcome.largest_volume, volume);
    const double cells_volume = volume_part(body.model(), body.node_positions());
    outcome.largest_cells = std::max(outcome.largest_cells, cells_volume);
    if (std::getenv("SUPPLE_FRAMES") != nullptr)
      fmt::print("frame {:4}: skin {:.4f} cells {:.4f} of their volume, {:.2f} s\n", report.frame,
                 volume, cells_volume, seconds);
    const double plain_volume = volume_of(skin.mesh, rigged) / rest;
    outcome.plain_least = std::min(outcome.plain_least, plain_volume);
    outcome.plain_largest = std::max(outcome.plain_largest, plain_volume);
    outcome.worst_skull = std::max(outcome.worst_skull, distortion(character, skin, "head", flesh));
    for (const char* foot : {"foot.L", "foot.R"})
      outcome.worst_foot = std::max(outcome.worst_foot, distortion(character, skin, foot, flesh));
    if (!measures_overlap()) continue;
    const test::SkinOverlap a = meter.measure(rigged, cell / 2), b = meter.measure(flesh, cell / 2);
    if (std::getenv("SUPPLE_WHERE") != nullptr)
      print_where(character, skin, report.frame, a, b, cell);
    outcome.plain_deep = std::max(outcome.plain_deep, a.deep);
    outcome.flesh_deep = std::max(outcome.flesh_deep, b.deep);
    outcome.behind = std::max(outcome.behind, b.behind);
    outcome.furthest_behind = std::max(outcome.furthest_behind, b.furthest_behind / cell);
    const double allowed =
        0.1 * std::max(0.01 * static_cast<double>(outcome.vertices), static_cast<double>(a.deep));
    outcome.crowded += static_cast<double>(b.deep) > allowed ? 1 : 0;
    outcome.plain_depth += a.depth / cell;
    outcome.flesh_depth += b.depth / cell;
  }
  outcome.mean_time /= outcome.frames;
  return outcome;
}

void print(const std::string& name, const Outcome& o) {
  const double all = static_cast<double>(o.vertices) / 100;
  fmt::print(
      "{:<40} {:4} frames {:5.2f} s (most {:5.2f}) volume {:.3f} to {:.3f} (plain {:.3f} to "
      "{:.3f}, cells up to {:.3f}) "
      "deep {:5.2f} % (plain {:5.2f} %) behind {} ({:.2f} cells) depth {:6.1f} (plain {:6.1f}) "
      "crowded {} warnings {}\n",
      name, o.frames, o.mean_time, o.longest_time, o.least_volume, o.largest_volume, o.plain_least,
      o.plain_largest, o.largest_cells, static_cast<double>(o.flesh_deep) / all,
      static_cast<double>(o.plain_deep) / all, o.behind, o.furthest_behind, o.flesh_depth,
      o.plain_depth, o.crowded, o.warnings.size());
  constexpr size_t shown = 8;
  for (size_t i = 0; i < std::min(shown, o.warnings.size()); ++i)
    fmt::print("    {}\n", o.warnings[i]);
  if (o.warnings.size() > shown) fmt::print("    and {} more\n", o.warnings.size() - shown);
  std::fflush(stdout);
}

class Characters : public testing::TestWithParam<const char*> {};

TEST_P(Characters, KeepTheirFlesh) {
  SUPPLE_NEEDS_ASSETS();
  Scene scene;
  scene.character.file = *test::assets() / "gltf" / GetParam();
  const PreparedScene prepared = prepare_scene(scene);
  const auto& clips = prepared.character->clips;
  ASSERT_FALSE(clips.empty());
  const char* only = std::getenv("SUPPLE_CLIP");
  if (only != nullptr &&
      std::none_of(clips.begin(), clips.end(), [&](const Clip& clip) { return clip.name == only; }))
    GTEST_SKIP() << GetParam() << " has no clip " << only;
  const auto most = only != nullptr ? clips.size() : static_cast<size_t>(test::soak_factor());
  for (size_t i = 0; i < std::min(clips.size(), most); ++i) {
    if (only != nullptr && clips[i].name != only) continue;
    const Outcome outcome = play(prepared, scene, &clips[i]);
    print(fmt::format("{:.20} {}", GetParam(), clips[i].name), outcome);
    EXPECT_TRUE(outcome.warnings.empty()) << clips[i].name;
    EXPECT_LT(outcome.largest_cells, 1.03) << clips[i].name;
    if (outcome.is_closed) {
      EXPECT_LT(outcome.largest_volume, 1.03) << clips[i].name;
    }
    if (std::string_view(GetParam()) == "human.glb" &&
        (clips[i].name == "squat" || clips[i].name == "curl")) {
      EXPECT_EQ(outcome.crowded, 0) << clips[i].name;
      EXPECT_EQ(outcome.behind, 0u) << clips[i].name;
      EXPECT_GE(outcome.least_volume, 0.97) << clips[i].name;
      fmt::print("    skull off by {:.2f} % of its length, feet by {:.2f} %\n",
                 100 * outcome.worst_skull, 100 * outcome.worst_foot);
      EXPECT_LT(outcome.worst_skull, 0.01) << clips[i].name;
      EXPECT_LT(outcome.worst_foot, 0.03) << clips[i].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Real, Characters,
                         testing::Values("CesiumMan.glb", "Fox.glb", "RiggedSimple.glb",
                                         "KayKit-Barbarian.glb",
                                         "quaternius-animals_pack-Horse.glb",
                                         "quaternius-animals_pack-Alpaca.glb",
                                         "quaternius-dinosaurs_pack-Trex.glb", "human.glb"));

// The furthest that a vertex of the flesh is from where it was modelled in 20 frames of the bind
// pose, of the character's longest side.
double sag_of(const Character& character, const BodySettings& settings) {
  FrameRange range;
  range.last = 20;
  LatticeBody body(character, settings, range, "soak");
  const Pose rest = rest_pose(character);
  const Instant bound =
      bind_instant(character, {{}, rest, global_matrices(character.skeleton, rest)});
  BodyFrame out;
  double sag = 0;
  for (int frame = 1; frame <= 20; ++frame) {
    body.step({frame, (frame - 1) / 24.0, bound.pose, bound.joints, {}}, 1.0 / 24);
    body.skin(out);
    for (const int32_t v : body.model().skin.vertex_of_point) {
      const auto at = static_cast<size_t>(v);
      const Vec3f off = out.positions[at] - character.skin.positions[at];
      sag = std::max(sag, static_cast<double>(off.norm()));
    }
  }
  return sag / body.model().length;
}

TEST_P(Characters, StandAsTheyWereModelled) {
  SUPPLE_NEEDS_ASSETS();
  Scene scene;
  scene.character.file = *test::assets() / "gltf" / GetParam();
  const PreparedScene prepared = prepare_scene(scene);
  BodySettings settings = scene.body;
  double sag[2];
  for (const WeightCarrier carrier : {WeightCarrier::tension, WeightCarrier::rest_shape}) {
    settings.gravity.compensate_by = carrier;
    double& own = sag[carrier == WeightCarrier::rest_shape];
    own = sag_of(*prepared.character, settings);
    EXPECT_LT(own, 1e-3);
  }
  settings.gravity.compensate = false;
  fmt::print("{:<40} sags by {:.4f} % by tension, {:.4f} % by its rest shape, {:.2f} % by itself\n",
             GetParam(), 100 * sag[0], 100 * sag[1], 100 * sag_of(*prepared.character, settings));
}

TEST(Characters, WalkWithCapturedMotion) {
  SUPPLE_NEEDS_ASSETS();
  for (const char* motion : {"cmu_02_01_walk.bvh", "cmu_16_03_high_jump.bvh"}) {
    Scene scene;
    scene.character.file = *test::assets() / "gltf/quaternius-modular_women-Casual.glb";
    scene.character.motion.file = *test::assets() / "bvh" / motion;
    const PreparedScene prepared = prepare_scene(scene);
    scene.frames.rate = 30;
    const Outcome outcome = play(prepared, scene, prepared.clip);
    print(fmt::format("women-Casual {}", motion), outcome);
    EXPECT_TRUE(outcome.warnings.empty()) << motion;
  }
}

// All fingers curl into the palm within a second, and open again.
TEST(Characters, HandMakesAFist) {
  SUPPLE_NEEDS_ASSETS();
  Scene scene;
  scene.character.file = *test::assets() / "gltf/webxr-generic-hand-left.glb";
  PreparedScene prepared = prepare_scene(scene);
  Clip fist;
  fist.name = "fist";
  fist.rate = 24;
  const Skeleton& skeleton = prepared.character->skeleton;
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const std::string& name = skeleton.joints[j].name;
    const bool bends = name.find("phalanx") != std::string::npos;
    if (!bends) continue;
    const bool thumb = name.find("thumb") != std::string::npos;
    Channel channel;
    channel.target = ChannelTarget::rotation;
    channel.joint = static_cast<int>(j);
    channel.width = 4;
    for (const double part : {0.0, 1.0, 1.0, 0.0}) {
      const double angle = part * (thumb ? 30 : 75) * std::numbers::pi / 180;
      const Quatd q =
          skeleton.joints[j].rest.rotation * Quatd(Eigen::AngleAxisd(-angle, Vec3d::UnitX()));
      channel.times.push_back(static_cast<double>(channel.times.size()));
      channel.values.insert(channel.values.end(), {q.x(), q.y(), q.z(), q.w()});
    }
    fist.channels.push_back(channel);
  }
  const Outcome outcome = play(prepared, scene, &fist);
  print("hand fist", outcome);
  EXPECT_TRUE(outcome.warnings.empty());
}

}  // namespace
}  // namespace supple
