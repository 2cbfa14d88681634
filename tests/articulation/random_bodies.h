// Random trees of bones, states and commands for tests.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "supple/articulation/hybrid_dynamics.h"
#include "supple/articulation/integrate.h"

namespace supple {

class RandomBodies {
 public:
  explicit RandomBodies(uint32_t seed) : m_random(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(m_random);
  }
  double normal() { return std::normal_distribution<double>()(m_random); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(m_random); }
  Vec3d vector() { return {normal(), normal(), normal()}; }
  Quatd turn() { return rotation_of(vector()); }

  // Inertia of a cloud of six random points, which any inertia may be like.
  void give_mass(BoneDescription& bone) {
    bone.mass = std::exp(uniform(-2, 2));
    bone.centre = 0.1 * vector();
    bone.inertia.setZero();
    for (int k = 0; k < 6; ++k) {
      const Vec3d r = 0.15 * vector();
      bone.inertia += bone.mass / 6 * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    }
  }

  // A tree (or several) of `size` bones; `reach` is how far back a parent may be.
  std::vector<BoneDescription> bones(int size, int reach) {
    std::vector<BoneDescription> result;
    for (int i = 0; i < size; ++i) {
      BoneDescription bone;
      bone.name = "bone" + std::to_string(i);
      bone.parent = i == 0 || whole(0, 19) == 0 ? -1 : whole(std::max(0, i - reach), i - 1);
      bone.joint = static_cast<JointType>(whole(bone.parent < 0 ? 0 : 1, 5));
      bone.axis = vector().normalized();
      bone.axis2 = bone.axis.unitOrthogonal();
      bone.position = 0.2 * vector();
      bone.orientation = turn();
      if (bone.joint != JointType::fixed || whole(0, 1) == 0) give_mass(bone);
      result.push_back(bone);
    }
    return result;
  }

  ArticulatedState state(const ArticulatedBody& body, double speed = 1) {
    ArticulatedState state = rest_state(body);
    Eigen::VectorXd to(body.velocity_numbers());
    for (double& x : to) x = normal();
    for (double& x : state.v) x = speed * normal();
    advance(body, state.q, to, 1);
    return state;
  }

  Eigen::VectorXd numbers_for(const ArticulatedBody& body, double size) {
    Eigen::VectorXd x(body.velocity_numbers());
    for (double& value : x) value = size * normal();
    return x;
  }

  std::vector<Wrench> wrenches(const ArticulatedBody& body) {
    std::vector<Wrench> result(body.size());
    for (Wrench& w : result) w = {3 * vector(), 10 * vector()};
    return result;
  }

  // Which joints are prescribed, with that probability each.
  std::vector<uint8_t> prescribed(const ArticulatedBody& body, double part) {
    std::vector<uint8_t> result(body.size());
    for (uint8_t& p : result) p = uniform(0, 1) < part ? 1 : 0;
    return result;
  }

 private:
  std::mt19937 m_random;
};

}  // namespace supple
