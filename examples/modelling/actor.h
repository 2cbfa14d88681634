// Actors: what a sculptor, a rigger and an animator made, put together as a character.
#pragma once

#include <string>
#include <vector>

#include "modelling/armature.h"
#include "modelling/sculpture.h"
#include "supple/rig/auto_weights.h"
#include "supple/rig/character.h"

namespace supple::modelling {

/// One closed surface of an actor.
struct Piece {
  std::string name;
  Sculpture sculpture;
  double share = 1;   ///< of the actor's vertices
  std::string joint;  ///< joint it follows rigidly; empty for smooth automatic weights
};

/// A region of the skin that follows one joint alone, fading into the smooth weights over `seam`
/// metres beyond the shape. Mirrored: also on the other side of x = 0.
struct Grip {
  std::string joint;
  Shape shape;
  double seam = 0;
  bool mirrored = false;
};

/// A character to be: pieces that do not touch (the one with smooth weights first), an armature and
/// the clips made for it.
struct Actor {
  std::string name;
  std::vector<Piece> pieces;
  Armature armature;
  std::vector<Clip> clips;
  AutoWeightOptions weighting;  ///< how smooth weights are made
  std::vector<Grip> grips;      ///< where they give way to single joints
};

/// The skin of an actor with about `vertices` vertices: shape, colours and parts, without a rig.
Character model(const Actor& actor, int vertices);

/// Builds an actor with about `vertices` skin vertices, with colours, weights, parts and clips.
Character build(const Actor& actor, int vertices);

/// A thing of one sculpture without bones, with about so many vertices.
Character sculpted_prop(const std::string& name, const Sculpture& sculpture, int vertices);

}  // namespace supple::modelling
