// A scene: everything a run depends on, as plain settings with defaults. Files are read by io/;
// scene_fields.h describes every field once, for the reader, the schema and the documentation.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supple/articulation/articulated_body.h"
#include "supple/material/law.h"
#include "supple/mesh/tet_cage.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/skinning.h"
#include "supple/sim/surface_settings.h"

namespace supple {

/// Motion capture put on the character instead of one of its own clips.
struct MotionSettings {
  std::string file;
  std::string clip;
  std::map<std::string, std::string> joint_map;
  double scale = 0;
};

/// One example of a pose-space deformation: joint rotations at which a shape is fully on.
struct PoseSampleSettings {
  std::vector<std::vector<double>> rotations;
  std::string shape;
};

/// Corrective shapes driven by the rotations of some joints.
struct PoseSpaceSettings {
  std::vector<std::string> joints;
  double radius = 0;
  std::vector<PoseSampleSettings> samples;
};

using Numbers3 = std::array<double, 3>;  ///< a point or vector as scene files have it: x, y, z

/// Solids that are made instead of read.
enum class ShapeType { none, box, sphere, tube };

/// A simple solid in place of a character file.
struct ShapeSettings {
  ShapeType type = ShapeType::none;
  Numbers3 centre = {0, 0, 0};
  Numbers3 size = {1, 1, 1};
  double radius = 0.5;
  double ring = 1;
  double bore = 0;
  double angle = 90;
  double edge = 0;
};

/// The rigged character and its animation.
struct CharacterSettings {
  std::string file;
  ShapeSettings shape;
  std::string clip;
  double scale = 1;
  SkinningMethod skinning = SkinningMethod::linear;
  MotionSettings motion;
  std::vector<PoseSpaceSettings> pose_space;
};

/// A box whose sides are parallel to the axes.
struct BoxSelection {
  Numbers3 min = {0, 0, 0};
  Numbers3 max = {0, 0, 0};
};

/// A ball.
struct SphereSelection {
  Numbers3 centre = {0, 0, 0};
  double radius = 0;
};

/// The half of space that a plane's normal points into.
struct PlaneSelection {
  Numbers3 point = {0, 0, 0};
  Numbers3 normal = {0, 0, 0};
};

/// A part of the body at rest: what lies in all the given shapes.
struct SelectSettings {
  std::optional<BoxSelection> box = {};
  std::optional<SphereSelection> sphere = {};
  std::optional<PlaneSelection> plane = {};
};

/// What the times of keys count.
enum class TimeUnit { seconds, frames };

/// How a motion goes from key to key.
enum class Ramp { smooth, linear };

/// A turn about an axis.
struct TurnSettings {
  Numbers3 axis = {1, 0, 0};
  double angle = 0;
  Numbers3 about = {0, 0, 0};
};

/// A scripted motion: a turn and a shift, done to the amount that keys give.
struct ScriptSettings {
  Numbers3 translate = {0, 0, 0};
  TurnSettings rotate;
  std::vector<std::vector<double>> keys;
  TimeUnit unit = TimeUnit::seconds;
  Ramp ramp = Ramp::smooth;
};

/// Nodes held where a script puts them.
struct FixedSettings {
  SelectSettings select;
  std::vector<ScriptSettings> motion;
  bool skin = false;
};

/// Nodes drawn by springs to where a script puts them.
struct PulledSettings {
  SelectSettings select;
  double stiffness = 0;
  std::vector<ScriptSettings> motion;
  bool skin = false;
};

/// A force on a spot of the skin for a while.
struct PokeSettings {
  Numbers3 at = {0, 0, 0};
  double radius = 0;
  Numbers3 force = {0, 0, 0};
  double from = 0;
  double to = 0;
  TimeUnit unit = TimeUnit::seconds;
};

/// What flesh is made of, by name; `same` is what is around.
enum class MaterialPreset { flesh, fat, muscle, firm, same };

/// A ramp over the way from a bone (0) to the skin (1).
struct DepthSettings {
  double full = 0;
  double none = 1;
};

/// Cells of another material than the rest; what is not given is the body's.
struct RegionSettings {
  SelectSettings select;
  std::vector<std::string> bones = {};
  std::string attribute = {};
  std::optional<DepthSettings> depth = {};
  MaterialPreset material = MaterialPreset::same;
  std::optional<double> young = {};
  std::optional<double> poisson = {};
  std::optional<double> density = {};
};

/// How flesh holds on to bones; `same` is as to the others.
enum class BoneHold { soft, hard, sliding, none, same };

/// One bone's own settings; what is not given is the body's.
struct BoneSettings {
  std::string joint;
  BoneHold hold = BoneHold::same;
  std::optional<double> thickness = {};
  std::optional<double> stiffness = {};
  std::string file = {};
  std::shared_ptr<const TriangleMesh> mesh = {};  ///< what `file` holds
};

/// How flesh is tied to the rig.
struct AttachSettings {
  BoneHold hold = BoneHold::soft;
  double stiffness = 20;
  double thickness = 0.2;
  double follow = 0.7;
  std::vector<BoneSettings> bones;
};

/// Where there is flesh; elsewhere the skin follows the rig.
struct FleshSettings {
  std::string attribute;
  std::vector<std::string> bones;
  std::vector<SelectSettings> regions;
  double blend = 0.05;
};

/// Kinds of rigid colliders.
enum class ColliderType { plane, sphere, capsule, box, mesh };

/// A rigid thing that flesh collides with.
struct ColliderSettings {
  ColliderType type = ColliderType::plane;
  std::string file;
  Numbers3 centre = {0, 0, 0};
  Numbers3 normal = {0, 1, 0};
  Numbers3 size = {1, 1, 1};
  double radius = 0.1;
  double length = 0.5;
  std::string joint;
  std::vector<ScriptSettings> motion;
  double friction = 0;
  double thickness = 0;
  std::string free;
  double density = 1000;
  std::shared_ptr<const TriangleMesh> mesh;  ///< what `file` holds, read by whoever reads scenes
};

/// What flesh collides with, and how.
struct ContactSettings {
  std::optional<bool> self = {};
  double stiffness = 8;
  double grip = 0.2;
  double points = 1;
  bool clear_skin = true;
  bool props = false;
  std::vector<ColliderSettings> colliders;
};

/// What carries the weight of the modelled shape: a tension that turns with the rig, or stresses of
/// cells whose rest shape is found by an inverse static solve.
enum class WeightCarrier { tension, rest_shape };

/// Weight, and whether and how the body makes up for it.
struct GravitySettings {
  Numbers3 acceleration = {0, -9.81, 0};
  std::optional<bool> compensate = {};
  WeightCarrier compensate_by = WeightCarrier::tension;
};

/// How linear systems are solved.
enum class SolverMethod { multigrid_cg, v_cycle, jacobi_cg, plain_cg };

/// Which derivative of the elastic force is used.
enum class SolverDifferential { automatic, projected, exact, warped, zhu };

/// How the energy of a cell is integrated.
enum class Quadrature { stabilised, one_point, eight_point };

/// Newton's method and the linear solves in it.
struct SolverSettings {
  int iterations = 0;
  double tolerance = 1e-3;
  double linear_tolerance = 1e-2;
  int linear_iterations = 0;
  double seconds = 0;
  SolverMethod method = SolverMethod::multigrid_cg;
  SolverDifferential differential = SolverDifferential::automatic;
  Quadrature quadrature = Quadrature::stabilised;
};

/// How matter in a part of a voxel is felt.
enum class VoxelLaw { nonuniform, bending, uniform };

/// How much of the voxels on the surface is filled.
enum class VoxelFill { exact, half };

/// Bodies of few cells that know where in them the matter is.
struct VoxelSettings {
  int levels = 3;
  VoxelLaw law = VoxelLaw::nonuniform;
  VoxelFill fill = VoxelFill::exact;
  double sheets = 0.5;
  bool hollow = false;
  bool split = false;
};

/// How dynamic bodies of type 'lattice' go through time: by steps of backward Euler with drag, or
/// by those of a method whose dynamics can be adjusted.
enum class LatticeSteps { plain, tr_bdf2, backward_euler };

/// What is special to bodies of type 'lattice'.
struct LatticeSettings {
  LatticeSteps integrator = LatticeSteps::plain;
  double stiffness_damping = 0.005;
  double mass_damping = 0;
};

/// How bodies of tetrahedra go through time.
enum class TetDynamics { explicit_steps, implicit_steps };

/// Methods of implicit steps.
enum class StepMethod { tr_bdf2, backward_euler };

/// Bodies of tetrahedra.
struct TetSettings {
  int elements = 0;
  TetCageMethod cage = TetCageMethod::bcc;
  std::string file;
  std::shared_ptr<const TetMesh> mesh;  ///< what `file` holds, read by whoever reads scenes
  Law law = Law::invertible_stvk;
  double lower = 0.7;
  double upper = 1.4;
  double volume = 2;
  double step = 0;
  bool deepest_only = false;
  TetDynamics dynamics = TetDynamics::explicit_steps;
  StepMethod integrator = StepMethod::tr_bdf2;
  double stiffness_damping = 0.005;
  double mass_damping = 0;
};

/// Points of the skin that drive a body: it follows them to where plain skinning has them.
struct ProxySettings {
  SelectSettings select;
  std::vector<std::string> bones;
  std::string attribute;
  bool soft = false;
  double stiffness = 0;
};

/// A part of the body whose dials stand differently from the others'.
struct AdjustRegionSettings {
  SelectSettings select;
  std::vector<std::string> bones;
  std::string attribute;
  double frequency = 1;
  double amplitude = 1;
  double sag = 1;
  double half_life = 1;
};

/// What damping resists: motion scaled as inertia is, relative to the equilibrium, or in space.
enum class AdjustDamping { scaled, moving, still };

/// How velocities and accelerations of equilibria are formed: by the steps' own differences, or
/// from five steps.
enum class AdjustDerivatives { own, five_point };

struct AdjustRun;

/// The animator's dials: how the body is to move, relative to how it would.
struct AdjustSettings {
  double frequency = 1;
  double amplitude = 1;
  double sag = 1;
  double half_life = 1;
  std::optional<double> inertia;
  std::optional<double> stiffness;
  std::optional<double> weight;
  std::optional<double> damping_factor;
  std::vector<AdjustRegionSettings> regions;
  std::vector<std::vector<double>> keys;
  TimeUnit unit = TimeUnit::seconds;
  AdjustDamping damping = AdjustDamping::scaled;
  AdjustDerivatives derivatives = AdjustDerivatives::own;
  std::shared_ptr<AdjustRun> run;  ///< what runs of a calibration share; not in files
};

/// Whether flesh acts back on the skeleton.
enum class SkeletonMode { kinematic, two_way };

/// One joint of a skeleton with dynamics.
struct JointSettings {
  std::string joint;
  JointType type = JointType::ball;
  Numbers3 axis = {0, 0, 1};
  Numbers3 axis2 = {1, 0, 0};
  std::vector<std::vector<double>> limits;
  double stiffness = 0;
  double damping = 0;
};

/// Who tells the joints what to do.
enum class ControlType { hold, track, keys, passive, direct };

/// What joints do for a while.
struct ControlSettings {
  ControlType type = ControlType::passive;
  double from = 0;
  double to = 0;
  std::vector<std::string> joints;
  std::vector<std::vector<double>> keys;
  std::string bone;
  Numbers3 point = {0, 0, 0};
  std::vector<ScriptSettings> motion;
  bool turns = false;
  double frequency = 3;
  bool torque = false;
  double stiffness = 0;
  double damping = 0;
};

/// A skeleton that moves by itself.
struct SkeletonSettings {
  SkeletonMode mode = SkeletonMode::kinematic;
  JointType others = JointType::ball;
  std::vector<JointSettings> joints;
  std::vector<ControlSettings> control;
  double density = 1500;
  Numbers3 shift = {0, 0, 0};
  TurnSettings turn;
};

/// How the skin moves with its cells.
enum class SkinEmbedding { linear, smooth };

/// Where a dynamic body begins.
enum class StartState { rest, equilibrium };

/// The simulated thing. All but the type is for bodies with flesh.
struct BodySettings {
  std::string type = "automatic";
  int budget = 30000;
  int cells = 0;
  double spacing = 0;
  double size = 0;
  MaterialPreset material = MaterialPreset::flesh;
  std::optional<double> young;
  std::optional<double> poisson;
  std::optional<double> density;
  std::vector<RegionSettings> materials;
  bool keep_volume = true;
  bool volume = false;
  GravitySettings gravity;
  std::optional<double> damping;
  AttachSettings attach;
  FleshSettings flesh;
  ContactSettings contact;
  std::optional<bool> dynamic;
  int substeps = 1;
  StartState start = StartState::rest;
  Numbers3 velocity = {0, 0, 0};
  Numbers3 spin = {0, 0, 0};
  std::vector<FixedSettings> fixed;
  std::vector<PulledSettings> pulled;
  std::vector<PokeSettings> pokes;
  LatticeSettings lattice;
  VoxelSettings voxels;
  TetSettings tets;
  SkeletonSettings skeleton;
  std::vector<ProxySettings> proxies;
  AdjustSettings adjust;
  SurfaceSettings surface;
  SkinEmbedding embedding = SkinEmbedding::linear;
  SolverSettings solver;
};

/// An object of a scene of many, or copies of one. What is not given is the body's.
struct ObjectSettings {
  std::string file;
  ShapeSettings shape;
  std::string detail;
  double scale = 1;
  TurnSettings turn;
  Numbers3 at = {0, 0, 0};
  Numbers3 copies = {1, 1, 1};
  Numbers3 apart = {0, 0, 0};
  bool tumble = false;
  Numbers3 velocity = {0, 0, 0};
  Numbers3 spin = {0, 0, 0};
  ObjectStart start = ObjectStart::rest;
  double density = 1000;
  std::optional<int> region_width = {};
  std::optional<double> stiffness = {};
  std::optional<double> damping = {};
  std::optional<double> support = {};
  std::optional<bool> keep_volume = {};
  std::optional<double> spread = {};
  std::optional<double> inner = {};
  std::optional<double> friction = {};
};

/// One copy of an object where it begins: what is simulated, and which of the skin it moves. Made
/// by whoever reads scenes.
struct PlacedObject {
  int settings = -1;           ///< of the scene's objects; -1 for the body's own
  TriangleMesh mesh;           ///< that is simulated, in metres of the scene; empty: the skin's own
  int32_t first_vertex = 0;    ///< of the skin
  int32_t vertices = 0;        ///< how many of the skin's follow
  int32_t first_triangle = 0;  ///< of the skin
  int32_t triangles = 0;
};

/// Which frames are simulated, and their times.
struct FrameSettings {
  int first = 1;
  int last = automatic;
  double rate = 0;
  double start = 0;
  int preroll = 0;

  static constexpr int automatic = -2147483647;  ///< `last` follows from the clip's length
};

/// What is written.
struct OutputSettings {
  std::vector<std::string> files;
  int checkpoint_every = 10;
};

/// A whole scene.
struct Scene {
  std::string name;
  CharacterSettings character;
  std::vector<ObjectSettings> objects = {};
  BodySettings body;
  FrameSettings frames;
  OutputSettings output;
  std::vector<PlacedObject> placed = {};  ///< the objects, put in place by whoever reads scenes
};

}  // namespace supple
