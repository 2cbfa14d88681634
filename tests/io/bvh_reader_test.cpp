#include "supple/io/bvh_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::assets;

Motion parse(std::string_view text) { return parse_bvh(as_bytes(text), "test.bvh"); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Channel* find_channel(const Motion& motion, int joint, ChannelTarget target) {
  for (const Channel& channel : motion.clip.channels)
    if (channel.joint == joint && channel.target == target) return &channel;
  return nullptr;
}

// Joint-to-model matrices of one frame from the keys as they are, without interpolation.
std::vector<Eigen::Matrix4d> matrices_of_keys(const Motion& motion, size_t frame) {
  std::vector<Transform> local;
  for (const Joint& joint : motion.skeleton.joints) local.push_back(joint.rest);
  for (const Channel& channel : motion.clip.channels) {
    const double* v = channel.values.data() + frame * channel.width;
    if (channel.target == ChannelTarget::translation)
      local[channel.joint].translation = Vec3d(v[0], v[1], v[2]);
    else
      local[channel.joint].rotation = Quatd(v[3], v[0], v[1], v[2]);
  }
  std::vector<Eigen::Matrix4d> globals;
  for (size_t j = 0; j < local.size(); ++j) {
    const int parent = motion.skeleton.joints[j].parent;
    const Eigen::Matrix4d matrix = local[j].matrix().matrix();
    globals.push_back(parent < 0 ? matrix : Eigen::Matrix4d(globals[parent] * matrix));
  }
  return globals;
}

// The reference: a reader and forward kinematics straight from the definition of the format, with
// 4x4 matrices of sines and cosines and a recursive descent over words.
class ReferenceBvh {
 public:
  explicit ReferenceBvh(const std::filesystem::path& path) : m_in(path) {
    for (std::string word; m_in >> word && word != "MOTION";)
      if (word == "ROOT") read_node(-1);
    std::string word;
    m_in >> word >> m_frames >> word >> word >> m_frame_time;
    for (double value; m_in >> value;) m_values.push_back(value);
  }

  size_t frames() const { return m_frames; }
  double frame_time() const { return m_frame_time; }
  size_t nodes() const { return m_nodes.size(); }
  size_t channels() const { return m_channels; }
  size_t values() const { return m_values.size(); }

  // Positions of all nodes, end sites included, in the order of the file.
  std::vector<Eigen::Vector3d> positions(size_t frame) const {
    std::vector<Eigen::Matrix4d> globals;
    std::vector<Eigen::Vector3d> result;
    const double* value = m_values.data() + frame * m_channels;
    for (const Node& node : m_nodes) {
      Eigen::Vector3d translation = node.offset;
      Eigen::Matrix4d rotation = Eigen::Matrix4d::Identity();
      for (const std::string& channel : node.channels) {
        const int axis = channel[0] - 'X';
        if (channel.substr(1) == "position")
          translation[axis] = *value++;
        else
          rotation = rotation * turn(axis, *value++ * 3.14159265358979323846 / 180);
      }
      Eigen::Matrix4d matrix = Eigen::Matrix4d::Identity();
      matrix.topRightCorner<3, 1>() = translation;
      matrix = matrix * rotation;
      if (node.parent >= 0) matrix = globals[node.parent] * matrix;
      globals.push_back(matrix);
      result.push_back(matrix.topRightCorner<3, 1>());
    }
    return result;
  }

 private:
  struct Node {
    int parent;
    Eigen::Vector3d offset;
    std::vector<std::string> channels;
  };

  static Eigen::Matrix4d turn(int axis, double angle) {
    Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    m(a, a) = m(b, b) = std::cos(angle);
    m(b, a) = std::sin(angle);
    m(a, b) = -std::sin(angle);
    return m;
  }

  void read_node(int parent) {
    const int index = static_cast<int>(m_nodes.size());
    m_nodes.push_back({parent, Eigen::Vector3d::Zero(), {}});
    std::string word;
    m_in >> word >> word;  // name and brace
    while (m_in >> word && word != "}") {
      if (word == "OFFSET") {
        for (int axis = 0; axis < 3; ++axis) m_in >> m_nodes[index].offset[axis];
      } else if (word == "CHANNELS") {
        size_t count;
        m_in >> count;
        m_nodes[index].channels.resize(count);
        for (std::string& channel : m_nodes[index].channels) m_in >> channel;
        m_channels += count;
      } else {
        read_node(index);
      }
    }
  }

  std::ifstream m_in;
  std::vector<Node> m_nodes;
  std::vector<double> m_values;
  size_t m_channels = 0, m_frames = 0;
  double m_frame_time = 0;
};

void expect_same_motion(const Motion& motion, const ReferenceBvh& reference) {
  ASSERT_EQ(motion.skeleton.size(), reference.nodes());
  ASSERT_EQ(reference.values(), reference.frames() * reference.channels());
  for (size_t frame = 0; frame < reference.frames(); ++frame) {
    const auto expected = reference.positions(frame);
    const auto found = matrices_of_keys(motion, frame);
    for (size_t j = 0; j < expected.size(); ++j)
      ASSERT_LT((found[j].topRightCorner<3, 1>() - expected[j]).norm(),
                1e-6 * std::max(1.0, expected[j].norm()))
          << "frame " << frame << ", joint " << motion.skeleton.joints[j].name;
  }
}

const std::string variants =
    "HIERARCHY\n"
    "ROOT Hips\n{\n"
    "  OFFSET 1 2 3\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT Leg\n  {\n    OFFSET 0 -1 0\n    CHANNELS 3 Yrotation Zrotation Xrotation\n"
    "    JOINT Fixed\n    {\n      OFFSET 0.5 0 0\n      CHANNELS 0\n"
    "      End Site\n      {\n        OFFSET 0 -1 0.25\n      }\n    }\n"
    "    JOINT Slider\n    {\n      OFFSET 4 5 6\n"
    "      CHANNELS 4 Xrotation Zposition Yrotation Xposition\n    }\n  }\n}\n"
    "ROOT Prop\n{\n  OFFSET 7 0 0\n  CHANNELS 1 Zrotation\n}\n"
    "MOTION\nFrames: 3\nFrame Time: 0.04\n"
    "0 0 0 0 0 0  0 0 0  0 0 0 0  0\n"
    "1 2 3 10 20 30  -40 50 -60  70 8 80 9  100\n"
    "-1 -2 -3 170 -120 200  99 98 97  -1 -2 -3 -4  -5\n";

TEST(BvhReader, ReadsHierarchyAndTiming) {
  const Motion motion = parse(variants);
  std::vector<std::string> names;
  std::vector<int> parents;
  for (const Joint& joint : motion.skeleton.joints) {
    names.push_back(joint.name);
    parents.push_back(joint.parent);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"Hips", "Leg", "Fixed", "Fixed_end", "Slider", "Prop"}));
  EXPECT_EQ(parents, (std::vector<int>{-1, 0, 1, 2, 1, -1}));
  EXPECT_EQ(motion.skeleton.joints[0].rest.translation, Vec3d(1, 2, 3));
  EXPECT_EQ(motion.skeleton.joints[3].rest.translation, Vec3d(0, -1, 0.25));
  EXPECT_EQ(motion.clip.name, "test");
  EXPECT_DOUBLE_EQ(motion.clip.rate, 25);
  for (const Channel& channel : motion.clip.channels) {
    EXPECT_EQ(channel.interpolation, Interpolation::linear);
    EXPECT_EQ(channel.times, (std::vector<double>{0, 0.04, 2 * 0.04}));
    EXPECT_EQ(channel.values.size(), 3u * channel.width);
  }
  // Only what has channels is animated.
  EXPECT_EQ(motion.clip.channels.size(), 6u);
  EXPECT_EQ(find_channel(motion, 2, ChannelTarget::rotation), nullptr);
  EXPECT_EQ(find_channel(motion, 3, ChannelTarget::rotation), nullptr);
  EXPECT_EQ(find_channel(motion, 1, ChannelTarget::translation), nullptr);
  EXPECT_EQ(find_channel(motion, 5, ChannelTarget::translation), nullptr);
}

TEST(BvhReader, PositionChannelsReplaceTheOffsetAxisByAxis) {
  const Motion motion = parse(variants);
  EXPECT_EQ(find_channel(motion, 0, ChannelTarget::translation)->values,
            (std::vector<double>{0, 0, 0, 1, 2, 3, -1, -2, -3}));
  EXPECT_EQ(find_channel(motion, 4, ChannelTarget::translation)->values,
            (std::vector<double>{0, 5, 0, 9, 5, 8, -4, 5, -2}));
}

TEST(BvhReader, RotatesInEachJointsOwnOrder) {
  test::TemporaryFolder folder;
  write_file(folder / "variants.bvh", variants);
  expect_same_motion(parse(variants), ReferenceBvh(folder / "variants.bvh"));
}

TEST(BvhReader, AllRotationOrdersAgreeWithTheReference) {
  test::TemporaryFolder folder;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> angle(-360, 360);
  for (std::string order : {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "XY", "ZX", "Y"}) {
    std::ostringstream text;
    text << "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS " << order.size();
    for (char axis : order) text << ' ' << axis << "rotation";
    text << "\nEnd Site\n{\nOFFSET 1 2 4\n}\n}\nMOTION\nFrames: 20\nFrame Time: 0.01\n";
    for (int frame = 0; frame < 20; ++frame) {
      for (size_t i = 0; i < order.size(); ++i) text << angle(random) << ' ';
      text << '\n';
    }
    write_file(folder / "order.bvh", text.str());
    expect_same_motion(parse(text.str()), ReferenceBvh(folder / "order.bvh"));
  }
}

TEST(BvhReader, NeighbouringKeysStayOnOneHemisphere) {
  std::string text =
      "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 100\n"
      "Frame Time: 0.1\n";
  for (int frame = 0; frame < 100; ++frame) text += std::to_string(frame * 20 % 360) + "\n";
  const Motion motion = parse(text);
  const std::vector<double>& values = motion.clip.channels[0].values;
  for (size_t key = 1; key < 100; ++key) {
    double dot = 0;
    for (int i = 0; i < 4; ++i) dot += values[4 * key + i] * values[4 * (key - 1) + i];
    EXPECT_NEAR(dot, std::cos(10 * 3.14159265358979323846 / 180), 1e-12);
  }
}

TEST(BvhReader, AcceptsWhatRealFilesDo) {
  const Motion reference = parse(variants);
  // CRLF, everything on a few very long lines, upper and lower case, braces beside names.
  std::string crlf, upper = variants;
  for (char c : variants) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  std::string joined = variants;
  for (size_t at = joined.find("MOTION") + 7; at < joined.size(); ++at)
    if (joined[at] == '\n') joined[at] = ' ';
  std::string braces = variants;
  for (size_t at; (at = braces.find("\n{")) != std::string::npos;) braces[at] = ' ';
  for (const std::string& text : {crlf, upper, joined, braces}) {
    const Motion motion = parse(text);
    ASSERT_EQ(motion.clip.channels.size(), reference.clip.channels.size());
    for (size_t c = 0; c < motion.clip.channels.size(); ++c)
      EXPECT_EQ(motion.clip.channels[c].values, reference.clip.channels[c].values);
  }
  EXPECT_EQ(parse(braces).skeleton.joints[1].name, "Leg");
  const Motion spaced = parse(
      "HIERARCHY\nROOT My Hips\n{\nCHANNELS 0\nOFFSET 0 0 0\nEnd site\n{\nOFFSET 0 1 0\n}\n}\n"
      "MOTION\nFrames:0\nFrame Time:\t0\n");
  EXPECT_EQ(spaced.skeleton.joints[1].name, "My Hips_end");
  EXPECT_TRUE(spaced.clip.channels.empty());
  EXPECT_EQ(spaced.clip.rate, 0);
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = variants;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(BvhReader, RefusesWrongFilesByLine) {
  EXPECT_EQ(error_of(""), "test.bvh: line 1: expected 'HIERARCHY', found the end of the file");
  EXPECT_EQ(error_of(with("OFFSET 1 2 3", "OFFSET 1 two 3")),
            "test.bvh: line 4: expected a number of OFFSET, found 'two'");
  EXPECT_NE(error_of(with("OFFSET 1 2 3", "OFFSET 1 nan 3")).find("line 4"), std::string::npos);
  EXPECT_NE(error_of(with("OFFSET 1 2 3", "")).find("'Hips' has no OFFSET"), std::string::npos);
  EXPECT_NE(error_of(with("OFFSET 1 2 3", "OFFSET 1 2 3 OFFSET 1 2 3")).find("already"),
            std::string::npos);
  EXPECT_NE(error_of(with("CHANNELS 0", "CHANNELS 7")).find("expected 0 to 6 channels, found 7"),
            std::string::npos);
  EXPECT_NE(error_of(with("CHANNELS 0", "CHANNELS -1")).find("found -1"), std::string::npos);
  EXPECT_NE(error_of(with("CHANNELS 0", "CHANNELS 1 Wrotation")).find("found 'Wrotation'"),
            std::string::npos);
  EXPECT_NE(error_of(with("CHANNELS 0", "CHANNELS 0 CHANNELS 0")).find("already"),
            std::string::npos);
  EXPECT_NE(error_of(with("4 Xrotation Zposition Yrotation", "4 Xrotation Xrotation Yrotation"))
                .find("once"),
            std::string::npos);
  EXPECT_NE(error_of(with("OFFSET 0 -1 0.25", "JOINT x")).find("End Site"), std::string::npos);
  EXPECT_NE(error_of(with("End Site", "End Sight")).find("'Site'"), std::string::npos);
  EXPECT_NE(error_of(with("JOINT Leg", "BONE Leg")).find("found 'BONE'"), std::string::npos);
  EXPECT_NE(error_of(with("JOINT Leg", "JOINT")).find("name of a joint"), std::string::npos);
  EXPECT_NE(error_of("HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n").find("at least one ROOT"),
            std::string::npos);
}

TEST(BvhReader, ChecksTheFramesAgainstTheData) {
  EXPECT_NE(error_of(with("Frames: 3", "Frames: 2")).find("the end of the file after 2 frames"),
            std::string::npos);
  EXPECT_NE(error_of(with("Frames: 3", "Frames: 4")).find("4 frames of 14 numbers, found 42"),
            std::string::npos);
  EXPECT_NE(error_of(with("Frames: 3", "Frames: 2000000000")).find("remaining"), std::string::npos);
  EXPECT_NE(error_of(with("Frames: 3", "Frames: -3")).find("found -3"), std::string::npos);
  EXPECT_NE(error_of(with("Frames: 3", "Frames: 99999999999999999999")).find("line 32"),
            std::string::npos);
  EXPECT_NE(error_of(with("Frames: 3", "Frames 3")).find("'Frames:'"), std::string::npos);
  for (const char* bad : {"0", "-0.1", "1e-30", "1e30", "inf", "nan", "x"})
    EXPECT_NE(error_of(with("0.04", bad)).find("frame time"), std::string::npos) << bad;
  EXPECT_NE(error_of(with("-40 50", "-40 1e400")).find("a number of the motion"),
            std::string::npos);
  // Two thousand million frames without channels are none.
  EXPECT_TRUE(parse("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 2000000000\n"
                    "Frame Time: 1\n")
                  .clip.channels.empty());
}

TEST(BvhReader, DeepNestingIsReadOrRefused) {
  constexpr int depth = 100'000;
  std::string open = "HIERARCHY\nROOT r\n{\nOFFSET 0 1 0\n", close;
  for (int i = 0; i < depth; ++i) {
    open += "JOINT j\n{\nOFFSET 0 1 0\n";
    close += "}\n";
  }
  const Motion motion = parse(open + close + "}\nMOTION\nFrames: 1\nFrame Time: 1\n");
  EXPECT_EQ(motion.skeleton.size(), depth + 1u);
  EXPECT_EQ(motion.skeleton.joints.back().parent, depth - 1);
  EXPECT_NE(error_of(open).find("the end of the file"), std::string::npos);
}

TEST(BvhReader, LongNamesDoNotMultiply) {
  std::string text = "HIERARCHY\nROOT " + std::string(1 << 20, 'n') + "\n{\nOFFSET 0 0 0\n";
  for (int i = 0; i < 20'000; ++i) text += "End Site\n{\nOFFSET 0 1 0\n}\n";
  const Motion motion = parse(text + "}\nMOTION\nFrames: 0\nFrame Time: 1\n");
  EXPECT_EQ(motion.skeleton.size(), 20'001u);
  EXPECT_EQ(motion.skeleton.joints[1].name.size(), 259u);
}

TEST(BvhReader, ReadsMotionCapture) {
  SUPPLE_NEEDS_ASSETS();
  struct Expected {
    const char* file;
    size_t frames;
    double lowest, highest;
  };
  for (const Expected& e : {Expected{"cmu_02_01_walk.bvh", 344, 16.5, 17.797},
                            Expected{"cmu_16_03_high_jump.bvh", 411, 13.59, 26.792}}) {
    const std::filesystem::path path = *assets() / "bvh" / e.file;
    const Motion motion = read_bvh(path);
    EXPECT_EQ(motion.clip.name, path.stem().string());
    size_t ends = 0;
    for (const Joint& joint : motion.skeleton.joints) ends += joint.name.ends_with("_end");
    EXPECT_EQ(motion.skeleton.size() - ends, 31u);
    EXPECT_EQ(ends, 7u);
    EXPECT_EQ(motion.clip.channels.size(), 32u);
    const Channel* root = find_channel(motion, 0, ChannelTarget::translation);
    ASSERT_NE(root, nullptr);
    ASSERT_EQ(root->times.size(), e.frames);
    EXPECT_NEAR(motion.clip.rate, 120, 1e-3);
    EXPECT_DOUBLE_EQ(root->times.back(), static_cast<double>(e.frames - 1) * .0083333);
    double lowest = 1e9, highest = -1e9;
    for (size_t frame = 0; frame < e.frames; ++frame) {
      lowest = std::min(lowest, root->values[3 * frame + 1]);
      highest = std::max(highest, root->values[3 * frame + 1]);
    }
    EXPECT_NEAR(lowest, e.lowest, 1e-3);
    EXPECT_NEAR(highest, e.highest, 1e-3);
    const ReferenceBvh reference(path);
    EXPECT_EQ(reference.frames(), e.frames);
    expect_same_motion(motion, reference);
  }
}

TEST(BvhReader, RefusesDamage) {
  const auto read = [](const Bytes& bytes) { parse_bvh(bytes, "damaged.bvh"); };
  const ByteView view = as_bytes(variants);
  test::expect_damage_is_refused(Bytes(view.begin(), view.end()), read, 2000, 3000);
  if (assets())
    test::expect_damage_is_refused(read_file(*assets() / "bvh/cmu_02_01_walk.bvh"), read, 30, 60);
}

}  // namespace
}  // namespace supple
