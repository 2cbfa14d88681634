// A session: one scene on its way through its frames.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "supple/rig/character.h"
#include "supple/rig/pose_space.h"
#include "supple/sim/body.h"
#include "supple/sim/report.h"
#include "supple/sim/scene.h"

namespace supple {

/// The frames of a run, with all defaults resolved.
struct FrameRange {
  int first = 1;
  int last = 1;
  double rate = 24;      ///< frames per second
  double clip_time = 0;  ///< time in the clip at the first frame, in seconds
  int preroll = 0;       ///< steps in the first pose before the first frame

  /// Number of frames.
  int count() const { return last - first + 1; }

  /// Time in the clip at a frame, in seconds.
  double time_of(int frame) const { return clip_time + (frame - first) / rate; }
};

/// A frame as it goes to the cache.
struct FrameRecord {
  int frame = 0;
  double time = 0;             ///< seconds in the clip
  std::vector<Affine> joints;  ///< joint-to-model matrices
  BodyFrame body;
};

/// One scene on its way through its frames.
class Session {
 public:
  /// Builds the body the scene asks for; `clip` drives it (null for the rest pose). Throws an input
  /// error naming `file` when the scene asks for something the character does not have.
  Session(const std::shared_ptr<const Character>& character, const Scene& scene, const Clip* clip,
          const std::string& file);

  /// As above, with a body made elsewhere.
  Session(std::shared_ptr<const Character> character, const Scene& scene, const Clip* clip,
          std::unique_ptr<Body> body, const std::string& file);

  /// Simulates the next frame. Throws a simulation error when the result is not finite.
  FrameReport advance(FrameRecord& out);

  /// Number of the frame the next advance() simulates.
  int next_frame() const { return m_next_frame; }

  /// True when the last frame has been simulated.
  bool done() const { return m_next_frame > m_range.last; }

  /// The frames of the run.
  const FrameRange& range() const { return m_range; }

  /// The simulated body.
  const Body& body() const { return *m_body; }
  Body& body() { return *m_body; }

  /// Everything the coming frames depend on.
  Chunk save() const;

  /// Continues from what save() returned; `file` names the source in messages.
  void load(const Chunk& state, std::string_view file);

 private:
  void pose_rig(double time, Drive& drive) const;
  void drive_body(int frame, double time, Drive& drive) const;
  void look_ahead();
  StepReport step_body();
  void check(const FrameRecord& record, FrameReport& report) const;

  std::shared_ptr<const Character> m_character;
  const Clip* m_clip;
  std::vector<PoseSpace> m_pose_spaces;
  FrameRange m_range;
  std::unique_ptr<Body> m_body;
  Pose m_rest;
  Drive m_drive;
  int m_next_frame;
};

/// The type of body a scene means for a character: its own word, or what is usual for it.
std::string_view body_type(const BodySettings& settings, const Character& character);

/// Whether bodies of a type move without any animation, so that they are watched for a while.
bool moves_alone(std::string_view type);

/// Resolves the defaults of a scene's frames against the clip it plays (null for none, which lasts
/// for `seconds`).
FrameRange resolve_frames(const FrameSettings& settings, const Clip* clip, const std::string& file,
                          double seconds = 0);

/// What a run does with its results; members left empty are skipped.
struct RunHooks {
  std::function<void(const FrameRecord&)> frame;                 ///< keeps a finished frame
  std::function<void(const Chunk&, int last_frame)> checkpoint;  ///< keeps the state after a frame
  std::function<void(const FrameReport&)> progress;              ///< told after every frame
  std::function<bool()> interrupted;                             ///< asked before every frame
};

/// Runs a session to its last frame, with a checkpoint every `checkpoint_every` frames, at the end,
/// and when interrupted.
RunReport run(Session& session, int checkpoint_every, const RunHooks& hooks);

}  // namespace supple
