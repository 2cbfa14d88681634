#include "modelling/choreography.h"

#include <Eigen/Dense>

#include <cmath>

namespace supple::modelling {
namespace {

constexpr double instant = 1e-4;  // seconds over which slopes are measured

using Vec6d = Eigen::Matrix<double, 6, 1>;
using Mat6d = Eigen::Matrix<double, 6, 6>;

// Where a footing puts the foot's joint.
Affine target(const Footing& footing, const Vec3d& place, double time) {
  Affine result = Affine::Identity();
  result.linear() = (Eigen::AngleAxisd(footing.yaw(time), Vec3d::UnitY()) *
                     Eigen::AngleAxisd(footing.pitch(time), Vec3d::UnitX()))
                        .toRotationMatrix();
  result.translation() = footing.pivot + result.linear() * (place - footing.pivot) +
                         Vec3d(footing.x(time), footing.y(time), footing.z(time));
  return result;
}

// How far a frame is from its target: metres, and radians as a rotation vector.
Vec6d miss(const Affine& frame, const Affine& target) {
  const Eigen::AngleAxisd turn(Mat3d(frame.linear() * target.linear().transpose()));
  Vec6d result;
  result << frame.translation() - target.translation(), turn.angle() * turn.axis();
  return result;
}

// One key: slope, value, slope.
template <class Values>
void add_key(Channel& channel, double time, const Values& slope, const Values& value) {
  channel.times.push_back(time);
  for (const Values* part : {&slope, &value, &slope})
    channel.values.insert(channel.values.end(), part->data(), part->data() + part->size());
}

}  // namespace

void Choreography::move(const std::string& joint, const std::string& freedom, Curve curve) {
  m_moves.push_back({m_armature.freedom(joint, freedom), std::move(curve)});
}

void Choreography::move_pair(const std::string& joint, const std::string& freedom,
                             const Curve& curve) {
  move("left_" + joint, freedom, curve);
  move("right_" + joint, freedom, curve);
}

void Choreography::place_foot(const std::string& hip, const std::string& knee,
                              const std::string& ankle, Footing footing) {
  Leg leg;
  for (const std::string& joint : {hip, knee, ankle})
    for (const size_t freedom : m_armature.freedoms_of(joint)) leg.freedoms.push_back(freedom);
  leg.foot = m_armature.joint(ankle);
  leg.foot_place = m_armature.place(ankle);
  leg.footing = std::move(footing);
  m_legs.push_back(std::move(leg));
}

std::vector<double> Choreography::values(double time) const {
  std::vector<double> values(m_armature.freedom_count(), 0.0);
  for (const Move& move : m_moves) values[move.freedom] += move.curve(time);
  for (const Leg& leg : m_legs) solve(leg, time, values);
  return values;
}

// Newton's method on the six freedoms of a leg, from the values the moves gave them; a little
// damping while the miss is large keeps a stretched leg from running away.
void Choreography::solve(const Leg& leg, double time, std::vector<double>& values) const {
  const Affine goal = target(leg.footing, leg.foot_place, time);
  const auto miss_now = [&] { return miss(m_armature.frame(leg.foot, values), goal); };
  Vec6d now = miss_now();
  for (int round = 0; round < 60 && now.norm() > 1e-12; ++round) {
    Mat6d slopes;
    for (int c = 0; c < 6; ++c) {
      double& value = values[leg.freedoms[static_cast<size_t>(c)]];
      const double kept = value;
      value = kept + 1e-6;
      slopes.col(c) = (miss_now() - now) / 1e-6;
      value = kept;
    }
    const double damping = 1e-3 * std::min(1.0, now.squaredNorm());
    const Vec6d step = (slopes.transpose() * slopes + damping * Mat6d::Identity())
                           .ldlt()
                           .solve(-slopes.transpose() * now);
    const double shorten = std::min(1.0, 0.5 / std::max(step.norm(), 1e-300));
    for (int c = 0; c < 6; ++c) values[leg.freedoms[static_cast<size_t>(c)]] += shorten * step[c];
    now = miss_now();
  }
}

Clip Choreography::clip(double rate) const {
  Clip clip;
  clip.name = m_name;
  clip.rate = rate;
  const int joints = static_cast<int>(m_armature.skeleton().size());
  for (int j = 0; j < joints; ++j)
    for (const ChannelTarget target : {ChannelTarget::translation, ChannelTarget::rotation}) {
      const bool turn = target == ChannelTarget::rotation;
      if (!(turn ? m_armature.turns(j) : m_armature.slides(j))) continue;
      Channel channel;
      channel.target = target;
      channel.interpolation = Interpolation::cubic_spline;
      channel.joint = j;
      channel.width = turn ? 4 : 3;
      clip.channels.push_back(std::move(channel));
    }
  const int keys = static_cast<int>(std::lround(m_seconds * rate));
  for (int k = 0; k <= keys; ++k) {
    // The last key is the first one, so that the loop closes to the last bit.
    const double time = (k % keys) / rate;
    const Pose before = pose(time - instant), now = pose(time), after = pose(time + instant);
    for (Channel& channel : clip.channels) {
      const auto j = static_cast<size_t>(channel.joint);
      if (channel.target == ChannelTarget::rotation) {
        const Eigen::Vector4d slope =
            (after.local[j].rotation.coeffs() - before.local[j].rotation.coeffs()) / (2 * instant);
        add_key(channel, k / rate, slope, now.local[j].rotation.coeffs());
      } else {
        const Vec3d slope =
            (after.local[j].translation - before.local[j].translation) / (2 * instant);
        add_key(channel, k / rate, slope, now.local[j].translation);
      }
    }
  }
  return clip;
}

}  // namespace supple::modelling
