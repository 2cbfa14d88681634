#include "supple/io/bvh_reader.h"

#include <algorithm>
#include <array>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

// A column of the motion table: a position or a rotation (degrees) along one axis.
struct Column {
  bool rotation = false;
  int axis = 0;
};

// The columns of one joint; they follow those of the joint before it.
struct JointColumns {
  std::array<Column, 6> columns;
  int count = 0;
  bool declared = false;

  bool has(bool rotation) const {
    return std::any_of(columns.begin(), columns.begin() + count,
                       [&](const Column& c) { return c.rotation == rotation; });
  }
};

struct Hierarchy {
  Skeleton skeleton;
  std::vector<JointColumns> columns;  // one per joint

  size_t column_count() const {
    size_t sum = 0;
    for (const JointColumns& joint : columns) sum += joint.count;
    return sum;
  }
};

// A joint whose braces are still open.
struct OpenJoint {
  int joint = -1;
  bool is_end = false;
  bool has_offset = false;
};

Column to_column(const TextScanner& scanner, std::string_view token) {
  for (int axis = 0; axis < 3; ++axis)
    if (!token.empty() && same_word(token.substr(0, 1), std::string_view("xyz").substr(axis, 1))) {
      if (same_word(token.substr(1), "position")) return {false, axis};
      if (same_word(token.substr(1), "rotation")) return {true, axis};
    }
  scanner.fail_expected("a channel (Xposition, Yposition, Zposition, Xrotation, ...)", token);
}

// CHANNELS n NAME ...
void read_channels(TextScanner& scanner, JointColumns& joint) {
  if (joint.declared) scanner.fail("the joint has CHANNELS already");
  joint.declared = true;
  const int64_t count = scanner.integer("the number of channels");
  if (count < 0 || count > 6)
    scanner.fail(fmt::format("expected 0 to 6 channels, found {}", count));
  for (int i = 0; i < count; ++i) {
    const std::string_view token = scanner.token("a channel");
    const Column column = to_column(scanner, token);
    for (int k = 0; k < joint.count; ++k)
      if (joint.columns[k].rotation == column.rotation && joint.columns[k].axis == column.axis)
        scanner.fail_expected("each channel of a joint once", token);
    joint.columns[joint.count++] = column;
  }
}

void read_offset(TextScanner& scanner, OpenJoint& open, Joint& joint) {
  if (open.has_offset) scanner.fail("the joint has an OFFSET already");
  open.has_offset = true;
  for (int axis = 0; axis < 3; ++axis)
    joint.rest.translation[axis] = scanner.number("a number of OFFSET");
}

// Adds a joint up to its opening brace: NAME {
OpenJoint open_joint(TextScanner& scanner, Hierarchy& hierarchy, int parent, bool is_end) {
  const std::string_view text = scanner.text_until('{');
  Joint joint;
  joint.parent = parent;
  joint.source_node = static_cast<int>(hierarchy.skeleton.size());
  if (is_end) {
    if (text.size() < 4 || !same_word(text.substr(0, 4), "site"))
      scanner.fail_expected("'Site' after 'End'", text);
    joint.name = hierarchy.skeleton.joints[parent].name + "_end";
  } else {
    if (text.empty()) scanner.fail("expected the name of a joint, found none");
    joint.name = clean_name(text);
  }
  scanner.expect("{");
  hierarchy.skeleton.joints.push_back(std::move(joint));
  hierarchy.columns.emplace_back();
  return {static_cast<int>(hierarchy.skeleton.size()) - 1, is_end, false};
}

// Reads one ROOT and all below it. The open braces are kept in a list rather than on the call
// stack, so that no depth of nesting can exhaust it.
void read_tree(TextScanner& scanner, Hierarchy& hierarchy) {
  std::vector<OpenJoint> open{open_joint(scanner, hierarchy, -1, false)};
  while (!open.empty()) {
    const char* expected = "OFFSET, CHANNELS, JOINT, End Site or }";
    const std::string_view word = scanner.token(expected);
    OpenJoint& joint = open.back();
    if (same_word(word, "OFFSET")) {
      read_offset(scanner, joint, hierarchy.skeleton.joints[joint.joint]);
    } else if (word == "}") {
      if (!joint.has_offset)
        scanner.fail(fmt::format("joint '{}' has no OFFSET",
                                 printable(hierarchy.skeleton.joints[joint.joint].name)));
      open.pop_back();
    } else if (joint.is_end) {
      scanner.fail_expected("OFFSET or } in an End Site", word);
    } else if (same_word(word, "CHANNELS")) {
      read_channels(scanner, hierarchy.columns[joint.joint]);
    } else if (same_word(word, "JOINT")) {
      open.push_back(open_joint(scanner, hierarchy, joint.joint, false));
    } else if (same_word(word, "End")) {
      open.push_back(open_joint(scanner, hierarchy, joint.joint, true));
    } else {
      scanner.fail_expected(expected, word);
    }
  }
}

// Everything up to and with the line MOTION.
Hierarchy read_hierarchy(TextScanner& scanner) {
  Hierarchy hierarchy;
  scanner.expect("HIERARCHY");
  while (true) {
    const std::string_view word = scanner.token("ROOT or MOTION");
    if (same_word(word, "MOTION")) break;
    if (!same_word(word, "ROOT")) scanner.fail_expected("ROOT or MOTION", word);
    read_tree(scanner, hierarchy);
  }
  if (hierarchy.skeleton.joints.empty()) scanner.fail("expected at least one ROOT before MOTION");
  return hierarchy;
}

struct Timing {
  size_t frames = 0;
  double frame_time = 0;  // seconds
};

// Frames: n, Frame Time: seconds
Timing read_timing(TextScanner& scanner, size_t column_count) {
  Timing timing;
  scanner.expect_label("Frames");
  // Every number takes a digit and a blank.
  timing.frames = scanner.count("the number of frames", 2 * column_count);
  scanner.expect_label("Frame Time");
  timing.frame_time = scanner.number("the frame time in seconds");
  const bool needed = timing.frames > 1;
  if (timing.frame_time < 0 || timing.frame_time > 1e6 || (needed && timing.frame_time < 1e-6))
    scanner.fail(
        fmt::format("expected a frame time from 1e-6 to 1e6 seconds, found {}", timing.frame_time));
  return timing;
}

// The motion table, frame after frame.
std::vector<double> read_table(TextScanner& scanner, const Timing& timing, size_t column_count) {
  std::vector<double> table(timing.frames * column_count);
  for (size_t i = 0; i < table.size(); ++i) {
    const auto token = scanner.try_token();
    if (!token)
      scanner.fail(fmt::format("expected {} frames of {} numbers, found {} numbers", timing.frames,
                               column_count, i));
    table[i] = scanner.to_number(*token, "a number of the motion");
  }
  if (const auto more = scanner.try_token())
    scanner.fail_expected(fmt::format("the end of the file after {} frames of {} numbers",
                                      timing.frames, column_count),
                          *more);
  return table;
}

// R = R1 · R2 · R3 in the order of the rotation columns.
Quatd to_rotation(const JointColumns& joint, const double* values) {
  Quatd rotation = Quatd::Identity();
  for (int i = 0; i < joint.count; ++i)
    if (joint.columns[i].rotation)
      rotation = rotation * Quatd(Eigen::AngleAxisd(values[i] * (std::numbers::pi / 180),
                                                    Vec3d::Unit(joint.columns[i].axis)));
  return rotation.normalized();
}

Channel new_channel(ChannelTarget target, int joint, int width, const Timing& timing) {
  Channel channel;
  channel.target = target;
  channel.joint = joint;
  channel.width = width;
  channel.times.reserve(timing.frames);
  channel.values.reserve(width * timing.frames);
  for (size_t frame = 0; frame < timing.frames; ++frame)
    channel.times.push_back(static_cast<double>(frame) * timing.frame_time);
  return channel;
}

// `values` are the joint's numbers in the first frame; those of the next are `stride` further.
Channel translation_keys(const JointColumns& joint, int index, const Vec3d& offset,
                         const double* values, size_t stride, const Timing& timing) {
  Channel channel = new_channel(ChannelTarget::translation, index, 3, timing);
  for (size_t frame = 0; frame < timing.frames; ++frame) {
    Vec3d translation = offset;
    for (int i = 0; i < joint.count; ++i)
      if (!joint.columns[i].rotation)
        translation[joint.columns[i].axis] = values[frame * stride + i];
    channel.values.insert(channel.values.end(), translation.data(), translation.data() + 3);
  }
  return channel;
}

Channel rotation_keys(const JointColumns& joint, int index, const double* values, size_t stride,
                      const Timing& timing) {
  Channel channel = new_channel(ChannelTarget::rotation, index, 4, timing);
  Quatd previous = Quatd::Identity();
  for (size_t frame = 0; frame < timing.frames; ++frame) {
    Quatd rotation = to_rotation(joint, values + frame * stride);
    // q and -q are one rotation; neighbouring keys stay on one side so that they blend directly.
    if (rotation.dot(previous) < 0) rotation.coeffs() = -rotation.coeffs();
    channel.values.insert(channel.values.end(), rotation.coeffs().data(),
                          rotation.coeffs().data() + 4);
    previous = rotation;
  }
  return channel;
}

}  // namespace

Motion read_bvh(const std::filesystem::path& path) {
  return parse_bvh(read_file(path), path.string());
}

Motion parse_bvh(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file);
  Hierarchy hierarchy = read_hierarchy(scanner);
  const size_t column_count = hierarchy.column_count();
  const Timing timing = read_timing(scanner, column_count);
  const std::vector<double> table = read_table(scanner, timing, column_count);

  Motion motion;
  motion.clip.name = clean_name(std::filesystem::path(file).stem().string());
  motion.clip.rate = timing.frame_time >= 1e-6 ? 1 / timing.frame_time : 0;
  const double* values = table.data();
  for (size_t j = 0; j < hierarchy.columns.size() && timing.frames > 0; ++j) {
    const JointColumns& joint = hierarchy.columns[j];
    const int index = static_cast<int>(j);
    if (joint.has(false))
      motion.clip.channels.push_back(translation_keys(joint, index,
                                                      hierarchy.skeleton.joints[j].rest.translation,
                                                      values, column_count, timing));
    if (joint.has(true))
      motion.clip.channels.push_back(rotation_keys(joint, index, values, column_count, timing));
    values += joint.count;
  }
  motion.skeleton = std::move(hierarchy.skeleton);
  return motion;
}

}  // namespace supple
