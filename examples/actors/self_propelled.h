// Animals that move by their own joints alone, after the test models of [Kim 2011, figure 15, table
// IV]: a worm, a fish and a starfish, each a closed skin on a free root and a few motors. They
// point along +X with Y up, in metres, on y = 0. Fins have no bones, and bones no mass: that is the
// scene's.
#pragma once

#include <vector>

#include "actors/cast.h"
#include "actors/motors.h"

namespace supple::actors {

/// A rigged character and how each joint of its skeleton moves, in the skeleton's order.
struct SelfPropelled {
  Character character;
  std::vector<ActorJoint> joints;
};

/// An earthworm, 0.4 m long and 50 mm thick, its head at +X: 262 vertices, four bones in a row, the
/// root the third from the head. Joints `root`, and from the tail to the head `spine1` to `spine3`,
/// which curl the ends up where positive. `detail` multiplies the rings and the vertices of each.
SelfPropelled worm(int detail = 1);

/// A fish, 0.4 m long and upright, its head at +X: 958 vertices, four bones in a row. Joints
/// `head`, the root, and from there to the tail `spine1` to `spine3`, which bend the tail towards
/// +Z where positive.
SelfPropelled fish(int detail = 1);

/// A starfish, 0.35 m across and 60 mm high: 1,162 vertices, five arms of three bones. Joints
/// `centre`, the root, and for every arm `armN_base`, `armN_middle` and `armN_tip`, where `arm1`
/// points along +X and the others follow round +Y. Positive lifts the arm, and swings its base
/// towards the next arm.
SelfPropelled starfish(int detail = 1);

/// The detail with which an actor that has `least` vertices at detail 1 has about `vertices`.
int detail_for(int vertices, int least);

/// Ground at y = 0 that feet hold on to, as JSON.
inline constexpr const char* ground_collider = R"({"type": "plane", "friction": 0.8})";

/// The settings of a body of tetrahedra on a skeleton that moves by itself, as JSON, for scenes of
/// such an animal. `young` is in Pa, `elements` the cage's; the entries of `control` and
/// `colliders` are JSON too, and `skeleton` what else the skeleton has, as fields with a comma
/// behind them. `contact_points` is how finely the skin is looked at for contact.
std::string self_propelled_body(const SelfPropelled& animal, double size, double young,
                                int elements, const std::string& control,
                                const std::string& colliders = ground_collider,
                                const std::string& skeleton = "", int contact_points = 1);

/// The three of them, by name.
const std::vector<CastMember>& self_propelled();

}  // namespace supple::actors
