#include "supple/rig/character_chunk.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple {
namespace {

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// A character with every field filled, at random but valid.
Character random_character(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto vector = [&] { return Vec3d(normal(random), normal(random), normal(random)); };
  const auto affine = [&] {
    Affine matrix = Affine::Identity();
    matrix.linear() << vector(), vector(), vector();
    matrix.translation() = vector();
    return matrix;
  };
  Character c;
  c.name = "hero";
  c.source = std::string("a\0b", 3) + "/hero.fbx";
  c.notes = {"first", "", "third note"};
  for (int j = 0; j < 7; ++j) {
    Joint joint;
    joint.name = j == 3 ? "" : "joint " + std::to_string(j);
    joint.parent = below(j + 1) - 1;
    joint.rest = {vector(), Quatd::UnitRandom(), vector()};
    if (j % 3 == 1) joint.sheared = affine();
    joint.is_bone = j % 2;
    joint.source_node = 10 - j;
    c.skeleton.joints.push_back(joint);
  }
  const int vertices = 40;
  for (int v = 0; v < vertices; ++v) c.skin.positions.push_back(vector().cast<float>());
  for (int t = 0; t < 25; ++t)
    c.skin.triangles.emplace_back(below(vertices), below(vertices), below(vertices));
  c.parts = {{"body", "flesh", 2, 0, 1, false, {0, 30}, {0, 20}},
             {"hat", "", -1, 4, 0, true, {30, 10}, {20, 5}}};
  for (int b = 0; b < 5; ++b) c.binds.push_back({below(7), affine()});
  for (int v = 0; v < vertices; ++v) {
    for (int i = below(6); i >= 0; --i)
      c.weights.influences.push_back({below(5), static_cast<float>(below(100)) / 100});
    c.weights.offsets.push_back(static_cast<int32_t>(c.weights.influences.size()));
  }
  for (int s = 0; s < 3; ++s) {
    BlendShape shape{"shape " + std::to_string(s), {}, {}, normal(random)};
    for (int i = 0; i < 4 * s; ++i) {
      shape.vertices.push_back(below(vertices));
      shape.offsets.push_back(vector().cast<float>());
    }
    c.shapes.push_back(shape);
  }
  const auto channel = [&](ChannelTarget target, Interpolation interpolation, int joint, int width,
                           int keys) {
    Channel result{target, interpolation, joint, joint < 0 ? 1 : 0, width, {}, {}};
    for (int k = 0; k < keys; ++k) result.times.push_back(k * 0.25 + 0.1);
    const int per_key = width * (interpolation == Interpolation::cubic_spline ? 3 : 1);
    for (int i = 0; i < keys * per_key; ++i) result.values.push_back(normal(random));
    return result;
  };
  c.clips = {{"walk",
              {channel(ChannelTarget::rotation, Interpolation::linear, 4, 4, 5),
               channel(ChannelTarget::translation, Interpolation::cubic_spline, 0, 3, 2),
               channel(ChannelTarget::shape_weights, Interpolation::step, -1, 2, 3)},
              30},
             {"empty", {}, 0},
             {"one", {channel(ChannelTarget::scale, Interpolation::step, 6, 3, 1)}, 24}};
  VertexAttribute uv{"TEXCOORD_0", 2, {}}, stiffness{"_STIFFNESS", 1, {}};
  for (int v = 0; v < vertices; ++v) {
    stiffness.values.push_back(static_cast<float>(normal(random)));
    for (int k = 0; k < 2; ++k) uv.values.push_back(static_cast<float>(normal(random)));
  }
  c.attributes = {uv, stiffness};
  return c;
}

void expect_same_rig(const Character& a, const Character& b) {
  ASSERT_EQ(a.skeleton.size(), b.skeleton.size());
  for (size_t j = 0; j < a.skeleton.size(); ++j) {
    const Joint &x = a.skeleton.joints[j], &y = b.skeleton.joints[j];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.rest.translation, y.rest.translation);
    EXPECT_EQ(x.rest.rotation.coeffs(), y.rest.rotation.coeffs());
    EXPECT_EQ(x.rest.scale, y.rest.scale);
    ASSERT_EQ(x.sheared.has_value(), y.sheared.has_value());
    if (x.sheared) {
      EXPECT_EQ(x.sheared->matrix(), y.sheared->matrix());
    }
    EXPECT_EQ(x.is_bone, y.is_bone);
    EXPECT_EQ(x.source_node, y.source_node);
  }
  ASSERT_EQ(a.binds.size(), b.binds.size());
  for (size_t i = 0; i < a.binds.size(); ++i) {
    EXPECT_EQ(a.binds[i].joint, b.binds[i].joint);
    EXPECT_EQ(a.binds[i].rest_to_joint.matrix(), b.binds[i].rest_to_joint.matrix());
  }
  EXPECT_EQ(a.weights.offsets, b.weights.offsets);
  ASSERT_EQ(a.weights.influences.size(), b.weights.influences.size());
  for (size_t i = 0; i < a.weights.influences.size(); ++i) {
    EXPECT_EQ(a.weights.influences[i].bind, b.weights.influences[i].bind);
    EXPECT_EQ(a.weights.influences[i].weight, b.weights.influences[i].weight);
  }
}

void expect_same_skin(const Character& a, const Character& b) {
  EXPECT_EQ(a.skin.positions, b.skin.positions);
  EXPECT_EQ(a.skin.triangles, b.skin.triangles);
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (size_t p = 0; p < a.parts.size(); ++p) {
    const Part &x = a.parts[p], &y = b.parts[p];
    EXPECT_EQ(std::tie(x.name, x.material, x.joint, x.source_mesh, x.source_primitive, x.rigid),
              std::tie(y.name, y.material, y.joint, y.source_mesh, y.source_primitive, y.rigid));
    EXPECT_EQ(std::tie(x.vertices.first, x.vertices.count, x.triangles.first, x.triangles.count),
              std::tie(y.vertices.first, y.vertices.count, y.triangles.first, y.triangles.count));
  }
  ASSERT_EQ(a.attributes.size(), b.attributes.size());
  for (size_t i = 0; i < a.attributes.size(); ++i) {
    EXPECT_EQ(a.attributes[i].name, b.attributes[i].name);
    EXPECT_EQ(a.attributes[i].components, b.attributes[i].components);
    EXPECT_EQ(a.attributes[i].values, b.attributes[i].values);
  }
  ASSERT_EQ(a.shapes.size(), b.shapes.size());
  for (size_t s = 0; s < a.shapes.size(); ++s) {
    EXPECT_EQ(a.shapes[s].name, b.shapes[s].name);
    EXPECT_EQ(a.shapes[s].vertices, b.shapes[s].vertices);
    EXPECT_EQ(a.shapes[s].offsets, b.shapes[s].offsets);
    EXPECT_EQ(a.shapes[s].rest_weight, b.shapes[s].rest_weight);
  }
}

void expect_same_clips(const Character& a, const Character& b) {
  ASSERT_EQ(a.clips.size(), b.clips.size());
  for (size_t c = 0; c < a.clips.size(); ++c) {
    EXPECT_EQ(a.clips[c].name, b.clips[c].name);
    EXPECT_EQ(a.clips[c].rate, b.clips[c].rate);
    ASSERT_EQ(a.clips[c].channels.size(), b.clips[c].channels.size());
    for (size_t i = 0; i < a.clips[c].channels.size(); ++i) {
      const Channel &x = a.clips[c].channels[i], &y = b.clips[c].channels[i];
      EXPECT_EQ(std::tie(x.target, x.interpolation, x.joint, x.first_shape, x.width),
                std::tie(y.target, y.interpolation, y.joint, y.first_shape, y.width));
      EXPECT_EQ(x.times, y.times);
      EXPECT_EQ(x.values, y.values);
    }
  }
}

TEST(CharacterChunk, KeepsEveryField) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Character given = random_character(seed);
    const Bytes bytes = to_chunk(given).serialise();
    const Character read = character_from_chunk(Chunk::parse(bytes, "a.chunk"), "a.chunk");
    EXPECT_EQ(read.name, given.name);
    EXPECT_EQ(read.source, given.source);
    EXPECT_EQ(read.notes, given.notes);
    expect_same_rig(given, read);
    expect_same_skin(given, read);
    expect_same_clips(given, read);
    EXPECT_EQ(to_chunk(read).serialise(), bytes);
  }
}

TEST(CharacterChunk, KeepsAnEmptyCharacter) {
  const Character read = character_from_chunk(to_chunk(Character{}), "a");
  EXPECT_TRUE(read.skin.positions.empty());
  EXPECT_EQ(read.weights.offsets, std::vector<int32_t>{0});
}

TEST(CharacterChunk, RefusesWhatIsWrong) {
  using Break = void (*)(Character&);
  const Break breaks[] = {
      [](Character& c) { c.skeleton.joints[2].parent = 2; },
      [](Character& c) { c.skeleton.joints[2].parent = -2; },
      [](Character& c) { c.skeleton.joints[0].rest.translation[1] = inf; },
      [](Character& c) { c.skeleton.joints[0].rest.rotation = Quatd(0, 0, 0, 0); },
      [](Character& c) { (*c.skeleton.joints[1].sheared)(0, 3) = inf; },
      [](Character& c) { c.skin.positions[39][2] = nan_f; },
      [](Character& c) { c.skin.triangles[24][0] = 40; },
      [](Character& c) { c.skin.triangles[0][2] = -1; },
      [](Character& c) { c.parts[0].joint = 7; },
      [](Character& c) { c.parts[1].vertices.count = 11; },
      [](Character& c) {
        c.parts[1].vertices = {2147483647, 2147483647};
      },
      [](Character& c) { c.parts[1].triangles.first = -1; },
      [](Character& c) { c.binds[4].joint = -1; },
      [](Character& c) { c.binds[4].joint = 7; },
      [](Character& c) { c.binds[0].rest_to_joint(2, 2) = inf; },
      [](Character& c) { c.weights.influences[5].bind = 5; },
      [](Character& c) { c.weights.influences[5].weight = -0.5f; },
      [](Character& c) { c.weights.influences[5].weight = nan_f; },
      [](Character& c) { c.weights.offsets.clear(); },
      [](Character& c) { c.weights.offsets.front() = 1; },
      [](Character& c) { c.weights.offsets.pop_back(); },
      [](Character& c) { c.weights.offsets[7] = 100000; },
      [](Character& c) { c.weights.offsets.back() += 1; },
      [](Character& c) { c.shapes[1].vertices[0] = 40; },
      [](Character& c) { c.shapes[1].offsets[0][0] = nan_f; },
      [](Character& c) { c.shapes[1].offsets.pop_back(); },
      [](Character& c) { c.shapes[0].rest_weight = inf; },
      [](Character& c) { c.clips[0].rate = -1; },
      [](Character& c) { c.clips[0].channels[0].joint = 7; },
      [](Character& c) { c.clips[0].channels[0].width = 3; },
      [](Character& c) { c.clips[0].channels[0].times[1] = c.clips[0].channels[0].times[0]; },
      [](Character& c) { c.clips[0].channels[0].values[3] = inf; },
      [](Character& c) { c.clips[0].channels[1].values.pop_back(); },
      [](Character& c) { c.clips[0].channels[2].first_shape = 2; },
      [](Character& c) { c.clips[0].channels[2].first_shape = -1; },
      [](Character& c) { c.attributes[0].components = 0; },
      [](Character& c) { c.attributes[0].values.pop_back(); },
      [](Character& c) { c.attributes[1].values[0] = nan_f; },
  };
  for (size_t i = 0; i < std::size(breaks); ++i) {
    Character broken = random_character(3);
    breaks[i](broken);
    for (const bool through_chunk : {false, true}) {
      try {
        if (through_chunk)
          character_from_chunk(to_chunk(broken), "a.chunk");
        else
          check_character(broken, "a.chunk");
        ADD_FAILURE() << "accepted number " << i << (through_chunk ? " in a chunk" : "");
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_EQ(std::string(error.what()).rfind("a.chunk: ", 0), 0u) << error.what();
      }
    }
  }
}

// Damage that a checksum would catch, without the checksum: arrays missing, cut, with other
// components, or with elements replaced by extreme values.
TEST(CharacterChunk, SurvivesDamagedArrays) {
  const Chunk good = to_chunk(random_character(5));
  std::mt19937 random(11);
  int refused = 0;
  const int rounds = 3000 * test::soak_factor();
  for (int round = 0; round < rounds; ++round) {
    Chunk damaged;
    const size_t victim = random() % good.arrays().size();
    for (size_t a = 0; a < good.arrays().size(); ++a) {
      ChunkArray array = good.arrays()[a];
      const size_t row = element_size(array.type) * array.components;
      const auto way = a == victim ? random() % 5 : 9;
      if (way == 0) continue;
      if (way == 1 && array.rows() > 0) array.data.resize(row * (random() % array.rows()));
      if (way == 2) array.data.resize(array.data.size() + row);
      if (way >= 3 && way < 5 && !array.data.empty()) {
        const uint32_t extremes[] = {0, 0xffffffff, 0x7fffffff, 0x80000000, 0x7f800000, 1, 1000};
        const uint32_t value = extremes[random() % std::size(extremes)];
        const size_t size = element_size(array.type);
        const size_t element = random() % (array.data.size() / size);
        std::memcpy(&array.data[element * size + (size == 8 ? 4 : 0)], &value,
                    std::min<size_t>(size, 4));
      }
      damaged.add(std::move(array));
    }
    try {
      character_from_chunk(damaged, "a.chunk");
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    }
  }
  EXPECT_GT(refused, rounds / 3);
}

TEST(CharacterChunk, RefusesDamagedBytes) {
  const Bytes good = to_chunk(random_character(2)).serialise();
  test::expect_damage_is_refused(
      good, [](const Bytes& bytes) { character_from_chunk(Chunk::parse(bytes, "a"), "a"); });
}

}  // namespace
}  // namespace supple
