// How Pomelo stands and moves in every clip: feet on the ground, angles in degrees.
#pragma once

#include <string>

#include "modelling/choreography.h"

namespace supple::actors {

/// What one foot does: it turns about its toes, which stand `side` further out and `ahead` further
/// forward than at rest (metres), and `height` above the ground. Angles are degrees.
struct Step {
  modelling::Curve side = modelling::still(0), ahead = modelling::still(0),
                   height = modelling::still(0);
  modelling::Curve heel = modelling::still(0);  ///< positive lifts the heel
  modelling::Curve turn = modelling::still(0);  ///< of both feet about the middle of the stance
};

/// A choreography in degrees, for Pomelo's joints.
class Routine {
 public:
  Routine(const modelling::Armature& armature, std::string name, double seconds)
      : m_choreography(armature, std::move(name), seconds) {}

  /// Turns a joint about its freedom by a curve in degrees.
  void turn(const std::string& joint, const std::string& freedom, const modelling::Curve& degrees);

  /// Turns both joints of a pair as mirror images.
  void turn_pair(const std::string& joint, const std::string& freedom,
                 const modelling::Curve& degrees);

  /// Moves the pelvis along its freedom by a curve in metres.
  void slide(const std::string& freedom, const modelling::Curve& metres);

  /// Curls all fingers of a hand ("left" or "right") by a curve from 0 (open) to 1 (fist).
  void curl(const std::string& hand, const modelling::Curve& amount);

  /// Puts a foot ("left" or "right") on the ground.
  void stand(const std::string& foot, const Step& step);

  /// The clip.
  Clip clip() const { return m_choreography.clip(); }

 private:
  modelling::Choreography m_choreography;
};

}  // namespace supple::actors
