#include "supple/io/fbx_clips.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "supple/core/error.h"

namespace supple::fbx {
namespace {

constexpr double default_rate = 24;

// A rotation about a pivot moves the joint along an arc; keys closer than this angle (radians)
// keep straight lines within 4e-4 of the arc's radius.
constexpr double finest_turn = 0.05;
constexpr int most_steps = 128;

// Keys further apart than this many frames are noted: between them curves became lines.
constexpr double sparse_frames = 2.5;

// More keys than hours of motion need; Assimp makes millions out of one wildly wrong angle.
constexpr unsigned most_keys = 1'000'000;

// Values over time: xyz for vectors, xyzw for rotations.
struct Track {
  std::vector<double> times;
  std::vector<Eigen::Vector4d> values;
};

Eigen::Vector4d as_value(const aiVector3D& v) { return {v.x, v.y, v.z, 0}; }

Eigen::Vector4d as_value(const aiQuaternion& q) { return {q.x, q.y, q.z, q.w}; }

Quatd as_rotation(const Eigen::Vector4d& v) { return Quatd(v[3], v[0], v[1], v[2]); }

// The keys of a track in seconds; keys that do not come after the one before are dropped.
template <class Key>
Track read_track(const Key* keys, unsigned count, double rate, std::string_view file) {
  Track track;
  if (!keys) return track;
  if (count > most_keys)
    throw_input_error(
        file, "animation",
        fmt::format("a channel has {} keys, at most {} are allowed", count, most_keys));
  for (unsigned k = 0; k < count; ++k) {
    const double time = keys[k].mTime / rate;
    Eigen::Vector4d value = as_value(keys[k].mValue);
    if (!std::isfinite(time) || !value.allFinite())
      throw_input_error(file, "animation", "a number is not finite");
    if constexpr (std::is_same_v<Key, aiQuatKey>) {
      if (value.norm() < 1e-6) throw_input_error(file, "animation", "a rotation is zero");
      value.normalize();
    }
    if (!track.times.empty() && time <= track.times.back()) continue;
    track.times.push_back(time);
    track.values.push_back(value);
  }
  return track;
}

// The value at a time, held before the first key and after the last.
Eigen::Vector4d sample(const Track& track, double time, bool rotation) {
  const auto after = std::upper_bound(track.times.begin(), track.times.end(), time);
  if (after == track.times.begin()) return track.values.front();
  const auto i = static_cast<size_t>(after - track.times.begin());
  if (i == track.times.size()) return track.values.back();
  const double u = (time - track.times[i - 1]) / (track.times[i] - track.times[i - 1]);
  if (!rotation) return (1 - u) * track.values[i - 1] + u * track.values[i];
  return as_rotation(track.values[i - 1]).slerp(u, as_rotation(track.values[i])).coeffs();
}

// The largest angle, in radians, that a track of rotations turns by between two keys.
double turn_between(const Track& track, double from, double to) {
  return as_rotation(sample(track, from, true))
      .angularDistance(as_rotation(sample(track, to, true)));
}

// One joint's animation: of its whole transform, or of single factors.
struct JointTracks {
  bool whole = false;
  Track translation, rotation, scale;
  std::map<int, Track> factors;
};

class ClipReader {
 public:
  ClipReader(const Tree& tree, const std::vector<ShapeGroup>& groups, std::string_view file,
             Character& character)
      : m_tree(tree), m_groups(groups), m_file(file), m_out(character) {}

  void read(const aiAnimation& animation, unsigned number) {
    m_clip = {};
    m_clip.name = std::string(animation.mName.data, animation.mName.length);
    if (m_clip.name.empty()) m_clip.name = fmt::format("clip {}", number);
    const double rate = animation.mTicksPerSecond;
    m_rate = std::isfinite(rate) && rate > 0 ? rate : default_rate;
    m_clip.rate = m_rate;
    m_sparse = false;
    m_joints.clear();
    for (unsigned c = 0; c < animation.mNumChannels; ++c) collect(animation.mChannels[c]);
    for (auto& [joint, tracks] : m_joints) add_joint(joint, tracks);
    for (unsigned c = 0; c < animation.mNumMorphMeshChannels; ++c)
      add_morph(animation.mMorphMeshChannels[c]);
    if (m_sparse)
      m_out.notes.push_back(
          fmt::format("clip '{}' has keys far apart, which are joined by straight lines; bake the "
                      "animation on export if that is wrong",
                      printable(m_clip.name)));
    if (!m_clip.channels.empty()) m_out.clips.push_back(std::move(m_clip));
  }

  size_t lost_channels() const { return m_lost; }

 private:
  // Files one of Assimp's channels under its joint; a joint's second channel of a kind is dropped.
  void collect(const aiNodeAnim* channel) {
    if (!channel) throw_input_error(m_file, "animation", "a channel is missing");
    const auto found =
        m_tree.places.find(std::string(channel->mNodeName.data, channel->mNodeName.length));
    if (found == m_tree.places.end() || m_out.skeleton.joints[found->second.joint].sheared) {
      ++m_lost;
      return;
    }
    const auto [joint, factor] = found->second;
    JointTracks& tracks = m_joints[joint];
    Track moves = read_track(channel->mPositionKeys, channel->mNumPositionKeys, m_rate, m_file);
    Track turns = read_track(channel->mRotationKeys, channel->mNumRotationKeys, m_rate, m_file);
    Track scales = read_track(channel->mScalingKeys, channel->mNumScalingKeys, m_rate, m_file);
    m_sparse |= is_sparse(moves) || is_sparse(turns) || is_sparse(scales);
    if (factor < 0) {
      if (tracks.whole) return;
      tracks.whole = true;
      tracks.translation = std::move(moves);
      tracks.rotation = std::move(turns);
      tracks.scale = std::move(scales);
      return;
    }
    const FactorKind kind = m_tree.nodes[joint].factors[factor].kind;
    Track& chosen = kind == FactorKind::rotation  ? turns
                    : kind == FactorKind::scaling ? scales
                                                  : moves;
    if (!chosen.times.empty()) tracks.factors.try_emplace(factor, std::move(chosen));
  }

  // Whether straight lines replace curves over more than a few frames.
  bool is_sparse(const Track& track) const {
    for (size_t k = 1; k < track.times.size(); ++k)
      if ((track.times[k] - track.times[k - 1]) * m_rate > sparse_frames &&
          track.values[k] != track.values[k - 1])
        return true;
    return false;
  }

  void add_joint(int joint, JointTracks& tracks) {
    if (tracks.whole)
      correct_post_rotation(joint, tracks.rotation);
    else
      compose(joint, tracks);
    add_channel(ChannelTarget::translation, joint, tracks.translation);
    add_channel(ChannelTarget::rotation, joint, tracks.rotation);
    add_channel(ChannelTarget::scale, joint, tracks.scale);
  }

  // FBX rotates by Rpre · R · Rpost⁻¹; Assimp's keys of whole transforms hold Rpre · R · Rpost,
  // while the factor it keeps is Rpost⁻¹, as it should be.
  void correct_post_rotation(int joint, Track& rotation) const {
    for (const Factor& factor : m_tree.nodes[joint].factors) {
      if (!factor.post_rotation) continue;
      const Quatd inverse(factor.matrix.linear());
      for (Eigen::Vector4d& value : rotation.values)
        value = (as_rotation(value) * inverse * inverse).normalized().coeffs();
    }
  }

  // Multiplies the factors of a joint at every time one of them has a key.
  void compose(int joint, JointTracks& tracks) const {
    const std::vector<Factor>& factors = m_tree.nodes[joint].factors;
    for (const double time : key_times(joint, tracks)) {
      Affine product = Affine::Identity();
      Quatd rotation = Quatd::Identity();
      Vec3d scale = Vec3d::Ones();
      for (size_t f = 0; f < factors.size(); ++f) {
        const auto track = tracks.factors.find(static_cast<int>(f));
        const Affine local =
            track == tracks.factors.end()
                ? factors[f].matrix
                : factor_matrix(factors[f].kind, sample(track->second, time,
                                                        factors[f].kind == FactorKind::rotation));
        product = product * local;
        if (factors[f].kind == FactorKind::rotation) rotation = rotation * Quatd(local.linear());
        if (factors[f].kind == FactorKind::scaling)
          scale = scale.cwiseProduct(Vec3d(local.linear().diagonal()));
      }
      Vec3d moved = product.translation();
      add_key(tracks.translation, time, {moved[0], moved[1], moved[2], 0});
      add_key(tracks.rotation, time, rotation.normalized().coeffs());
      add_key(tracks.scale, time, {scale[0], scale[1], scale[2], 0});
    }
  }

  static void add_key(Track& track, double time, const Eigen::Vector4d& value) {
    track.times.push_back(time);
    track.values.push_back(value);
  }

  static Affine factor_matrix(FactorKind kind, const Eigen::Vector4d& value) {
    Affine matrix = Affine::Identity();
    if (kind == FactorKind::rotation)
      matrix.linear() = as_rotation(value).toRotationMatrix();
    else if (kind == FactorKind::scaling)
      matrix.linear() = value.head<3>().asDiagonal();
    else
      matrix.translation() = value.head<3>();
    return matrix;
  }

  // All key times of a joint's factors, and more where a rotation carries a pivot along an arc.
  std::vector<double> key_times(int joint, const JointTracks& tracks) const {
    std::vector<double> times;
    const Track* turning = nullptr;
    bool pivot = false;
    for (const auto& [f, track] : tracks.factors) {
      times.insert(times.end(), track.times.begin(), track.times.end());
      if (m_tree.nodes[joint].factors[f].kind == FactorKind::rotation) turning = &track;
    }
    for (const Factor& factor : m_tree.nodes[joint].factors)
      pivot |=
          factor.kind == FactorKind::translation && factor.name.find("Pivot") != std::string::npos;
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    if (!turning || !pivot) return times;
    std::vector<double> finer;
    for (size_t k = 0; k < times.size(); ++k) {
      finer.push_back(times[k]);
      if (k + 1 == times.size()) break;
      const double turn = turn_between(*turning, times[k], times[k + 1]);
      const int steps = std::clamp(static_cast<int>(std::ceil(turn / finest_turn)), 1, most_steps);
      for (int s = 1; s < steps; ++s) {
        const double time = times[k] + (times[k + 1] - times[k]) * s / steps;
        if (time > finer.back() && time < times[k + 1]) finer.push_back(time);
      }
    }
    return finer;
  }

  // A track that never changes becomes one key.
  void add_channel(ChannelTarget target, int joint, const Track& track) {
    if (track.times.empty()) return;
    const bool constant = std::all_of(track.values.begin(), track.values.end(),
                                      [&](const auto& v) { return v == track.values.front(); });
    const size_t keys = constant ? 1 : track.times.size();
    Channel channel;
    channel.target = target;
    channel.joint = joint;
    channel.width = target == ChannelTarget::rotation ? 4 : 3;
    channel.times.assign(track.times.begin(), track.times.begin() + static_cast<ptrdiff_t>(keys));
    for (size_t k = 0; k < keys; ++k)
      channel.values.insert(channel.values.end(), track.values[k].data(),
                            track.values[k].data() + channel.width);
    m_clip.channels.push_back(std::move(channel));
  }

  // The blend shapes a morph channel "NODE*GEOMETRY" drives, or null.
  const ShapeGroup* find_group(std::string_view name) const {
    const size_t star = name.rfind('*');
    if (star == std::string_view::npos) return nullptr;
    const auto place = m_tree.places.find(std::string(name.substr(0, star)));
    if (place == m_tree.places.end()) return nullptr;
    const std::string_view number = name.substr(star + 1);
    for (const ShapeGroup& group : m_groups)
      if (group.joint == place->second.joint && number == std::to_string(group.geometry))
        return &group;
    return nullptr;
  }

  // Each key names the shapes it sets, so every shape has keys of its own.
  void add_morph(const aiMeshMorphAnim* morph) {
    if (!morph || (morph->mNumKeys > 0 && !morph->mKeys))
      throw_input_error(m_file, "animation", "a morph channel is missing");
    const ShapeGroup* group = find_group({morph->mName.data, morph->mName.length});
    if (!group) {
      ++m_lost;
      return;
    }
    std::vector<Channel> channels(static_cast<size_t>(group->count));
    for (unsigned k = 0; k < morph->mNumKeys; ++k) {
      const aiMeshMorphKey& key = morph->mKeys[k];
      const double time = key.mTime / m_rate;
      if (!std::isfinite(time)) throw_input_error(m_file, "animation", "a time is not finite");
      for (unsigned i = 0; i < key.mNumValuesAndWeights; ++i) {
        if (key.mValues[i] >= channels.size()) continue;
        if (!std::isfinite(key.mWeights[i]))
          throw_input_error(m_file, "animation", "a shape weight is not finite");
        Channel& channel = channels[key.mValues[i]];
        if (!channel.times.empty() && time <= channel.times.back()) continue;
        channel.times.push_back(time);
        channel.values.push_back(key.mWeights[i]);
      }
    }
    for (size_t s = 0; s < channels.size(); ++s) {
      if (channels[s].times.empty()) continue;
      channels[s].target = ChannelTarget::shape_weights;
      channels[s].first_shape = group->first_shape + static_cast<int>(s);
      channels[s].width = 1;
      m_clip.channels.push_back(std::move(channels[s]));
    }
  }

  const Tree& m_tree;
  const std::vector<ShapeGroup>& m_groups;
  std::string_view m_file;
  Character& m_out;
  Clip m_clip;
  double m_rate = default_rate;
  bool m_sparse = false;
  std::map<int, JointTracks> m_joints;
  size_t m_lost = 0;
};

}  // namespace

void add_clips(const aiScene& scene, const Tree& tree, const std::vector<ShapeGroup>& groups,
               std::string_view file, Character& character) {
  ClipReader reader(tree, groups, file, character);
  for (unsigned a = 0; a < scene.mNumAnimations; ++a) {
    if (!scene.mAnimations || !scene.mAnimations[a])
      throw_input_error(file, "animation", "an animation is missing");
    reader.read(*scene.mAnimations[a], a);
  }
  if (reader.lost_channels() > 0)
    character.notes.push_back(
        fmt::format("{} animation channels drive nothing that was read", reader.lost_channels()));
}

}  // namespace supple::fbx
