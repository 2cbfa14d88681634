// What a session asks of a body. Bodies differ only inside step().
#pragma once

#include <string>
#include <vector>

#include "supple/core/chunk.h"
#include "supple/core/timer.h"
#include "supple/rig/skeleton.h"

namespace supple {

/// The rig's state a body is driven by at one frame.
struct Drive {
  int frame = 0;
  double time = 0;             ///< seconds in the clip
  Pose pose;                   ///< local transforms and shape weights
  std::vector<Affine> joints;  ///< joint-to-model matrices
  std::vector<Drive> ahead;    ///< of the frames after this one, for bodies that look ahead
};

/// How a step went.
struct StepReport {
  int iterations = 0;
  double residual = 0;   ///< relative, of the last solve
  double time_step = 0;  ///< of bodies that choose it themselves, s
  StageTimes stages;     ///< parts of the step
  std::vector<std::string> warnings;
};

/// What a body shows of itself at one frame.
struct BodyFrame {
  std::vector<Vec3f> positions;    ///< skin vertices in the input file's order, in metres
  std::vector<ChunkArray> extras;  ///< per-vertex maps ("map/NAME"), simulation mesh ("mesh/NAME")
};

/// A fact about a body that users ask for.
struct BodyFact {
  std::string name;
  double value = 0;
  std::string unit;  ///< empty for counts
};

/// A simulated body: built once from a scene, then stepped frame by frame.
class Body {
 public:
  virtual ~Body() = default;

  /// Advances by `dt` seconds to the state driven by `drive`.
  virtual StepReport step(const Drive& drive, double dt) = 0;

  /// Writes the skin, and whatever else the body has to show, to `out`.
  virtual void skin(BodyFrame& out) const = 0;

  /// Adds all state the next step depends on to `state`.
  virtual void save(Chunk& state) const = 0;

  /// Takes back what save() wrote; `file` names the source in messages.
  virtual void load(const Chunk& state, std::string_view file) = 0;

  /// How many frames ahead it must know what drives it.
  virtual int looks_ahead() const { return 0; }

  /// What a body shows that never changes, such as the cells of its simulation mesh ("mesh/NAME").
  virtual std::vector<ChunkArray> shown_once() const { return {}; }

  /// How large the body is.
  virtual std::vector<BodyFact> facts() const { return {}; }
};

}  // namespace supple
