// Animations of the glTF reader.
#include "supple/core/error.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_nodes.h"

namespace supple {
namespace {

Interpolation read_interpolation(const JsonField& sampler) {
  const auto field = sampler.find("interpolation");
  const std::string name = field ? field->text() : "LINEAR";
  if (name == "STEP") return Interpolation::step;
  if (name == "LINEAR") return Interpolation::linear;
  if (name == "CUBICSPLINE") return Interpolation::cubic_spline;
  field->fail(fmt::format("'{}' is not one of STEP, LINEAR, CUBICSPLINE", printable(name)));
}

// Keys at the same time (some exporters write them) keep the last value; time must not run back.
void read_keys(const GltfReading& reading, const JsonField& sampler, Channel& channel) {
  const std::vector<float> times = read_float_accessor(reading.document, sampler["input"], 1);
  if (times.empty()) sampler["input"].fail("has no keys");
  const int components = channel.target == ChannelTarget::shape_weights ? 1 : channel.width;
  const std::vector<float> values =
      read_float_accessor(reading.document, sampler["output"], components);
  const size_t per_key = static_cast<size_t>(channel.width) *
                         (channel.interpolation == Interpolation::cubic_spline ? 3 : 1);
  if (values.size() != per_key * times.size())
    sampler["output"].fail(fmt::format("has {} values, expected {} for {} keys", values.size(),
                                       per_key * times.size(), times.size()));
  channel.times.reserve(times.size());
  channel.values.reserve(values.size());
  for (size_t k = 0; k < times.size(); ++k) {
    if (!channel.times.empty() && times[k] < channel.times.back())
      sampler["input"].fail(fmt::format("key {}: times must increase", k));
    if (!channel.times.empty() && times[k] == channel.times.back()) {
      channel.times.pop_back();
      channel.values.resize(channel.values.size() - per_key);
    }
    channel.times.push_back(times[k]);
    channel.values.insert(channel.values.end(),
                          values.begin() + static_cast<ptrdiff_t>(k * per_key),
                          values.begin() + static_cast<ptrdiff_t>((k + 1) * per_key));
  }
}

// What a channel drives; false for targets this program has no use for.
bool read_target(GltfReading& reading, const JsonField& target, Channel& channel) {
  const auto node = target.find("node");
  if (!node) return false;
  const int joint =
      reading
          .joint_of_node[static_cast<size_t>(node->index(reading.joint_of_node.size(), "nodes"))];
  const std::string path = target["path"].text();
  channel.joint = joint;
  if (path == "translation") {
    channel.target = ChannelTarget::translation;
  } else if (path == "scale") {
    channel.target = ChannelTarget::scale;
  } else if (path == "rotation") {
    channel.target = ChannelTarget::rotation;
    channel.width = 4;
  } else if (path == "weights") {
    channel.target = ChannelTarget::shape_weights;
    channel.joint = -1;
    channel.first_shape = reading.first_shape_of_joint[static_cast<size_t>(joint)];
    channel.width = reading.shapes_of_joint[static_cast<size_t>(joint)];
    return channel.width > 0;
  } else {
    reading.character.notes.push_back(
        fmt::format("animated property '{}' is left out", printable(path)));
    return false;
  }
  if (reading.character.skeleton.joints[static_cast<size_t>(joint)].sheared)
    target.fail("animates a node whose matrix has shear");
  return true;
}

}  // namespace

void read_gltf_animations(GltfReading& reading) {
  const auto animations = reading.document.fields().find("animations");
  if (!animations) return;
  for (size_t a = 0; a < animations->size(); ++a) {
    const JsonField animation = (*animations)[a];
    Clip clip;
    const auto name = animation.object().find("name");
    clip.name = name ? name->text() : fmt::format("clip{}", a);
    const JsonField channels = animation["channels"];
    const JsonField samplers = animation["samplers"];
    for (size_t c = 0; c < channels.size(); ++c) {
      const JsonField field = channels[c];
      const JsonField sampler =
          samplers[static_cast<size_t>(field["sampler"].index(samplers.size(), "samplers"))];
      Channel channel;
      channel.interpolation = read_interpolation(sampler);
      if (!read_target(reading, field["target"], channel)) continue;
      read_keys(reading, sampler, channel);
      clip.channels.push_back(std::move(channel));
    }
    reading.character.clips.push_back(std::move(clip));
  }
}

}  // namespace supple
