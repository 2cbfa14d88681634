#include "supple/rig/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "supple/mesh/weld.h"

namespace supple {
namespace {

void add_problem(Inspection& result, std::string code, std::string message) {
  result.problems.push_back({std::move(code), std::move(message)});
}

std::string plural(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// --- surface -----------------------------------------------------------------------------------

void inspect_surface(const Character& character, Inspection& result) {
  const Weld weld = weld_by_position(character.skin.positions);
  const TriangleMesh mesh = welded_mesh(weld, character.skin.positions, character.skin.triangles);
  result.points = weld.points();
  result.topology = analyse_topology(weld.points(), mesh.triangles);
  result.volume = signed_volume(mesh.positions, mesh.triangles);
  result.area = surface_area(mesh.positions, mesh.triangles);
  const Topology& t = result.topology;
  if (t.edges == 0)
    return add_problem(result, "no_triangles",
                       "the mesh has no triangles: there is nothing to fill with flesh");
  if (t.open_edges > 0)
    add_problem(result, "open_edges",
                fmt::format("the surface is open: {} around {}",
                            plural(t.open_edges, "open edge", "open edges"),
                            plural(t.holes, "hole", "holes")));
  if (t.crowded_edges > 0)
    add_problem(result, "crowded_edges",
                fmt::format("{} joined by three or more triangles",
                            plural(t.crowded_edges, "edge is", "edges are")));
  if (t.misoriented_edges > 0)
    add_problem(result, "misoriented_edges",
                fmt::format("{} between triangles that face opposite ways",
                            plural(t.misoriented_edges, "edge lies", "edges lie")));
  if (t.shells > 1)
    add_problem(result, "several_shells",
                fmt::format("the skin consists of {} separate shells, {} of them closed", t.shells,
                            t.closed_shells));
  if (t.duplicate_triangles > 0)
    add_problem(result, "duplicate_triangles",
                fmt::format("{} the same three points as another",
                            plural(t.duplicate_triangles, "triangle has", "triangles have")));
  if (t.closed() && result.volume < 0)
    add_problem(result, "inside_out", "the surface is inside out: its triangles face inwards");
  const auto& all = character.skin.triangles;
  const auto segments = std::count_if(all.begin(), all.end(), is_segment);
  const int64_t collapsed =
      static_cast<int64_t>(all.size()) - segments - static_cast<int64_t>(mesh.triangles.size());
  if (collapsed > 0)
    add_problem(result, "zero_area",
                fmt::format("{} no area", plural(collapsed, "triangle has", "triangles have")));
}

// --- size --------------------------------------------------------------------------------------

void inspect_size(const Character& character, Inspection& result) {
  const Box3f box = bounding_box(character.skin.positions);
  if (box.isEmpty()) return;
  result.size = box.sizes().cast<double>();
  const double longest = result.size.maxCoeff();
  if (longest > 1000)
    add_problem(
        result, "large_scale",
        fmt::format(
            "the character is {:.4g} m long: the file looks like millimetres; try --scale 0.001",
            longest));
  else if (longest > 50)
    add_problem(
        result, "large_scale",
        fmt::format(
            "the character is {:.4g} m long: the file looks like centimetres; try --scale 0.01",
            longest));
  else if (longest > 10)
    add_problem(
        result, "large_scale",
        fmt::format("the character is {:.4g} m long; if that is not meant, set --scale", longest));
  else if (longest < 0.02)
    add_problem(
        result, "small_scale",
        fmt::format("the character is only {:.3g} m long; check the file's unit and --scale",
                    longest));
}

// --- rig ---------------------------------------------------------------------------------------

// Largest distance by which the node tree's rest pose moves the skin away from the bind pose.
void inspect_rest_pose(const Character& character, Inspection& result) {
  Pose pose = rest_pose(character);
  std::fill(pose.shape_weights.begin(), pose.shape_weights.end(), 0.0);
  std::vector<Vec3f> posed(character.skin.positions.size());
  const Skinner skinner(character.weights, character.binds);
  skinner.skin(SkinningMethod::linear, global_matrices(character.skeleton, pose),
               character.skin.positions, posed);
  for (size_t v = 0; v < posed.size(); ++v)
    result.rest_difference =
        std::max(result.rest_difference,
                 static_cast<double>((posed[v] - character.skin.positions[v]).norm()));
  if (result.rest_difference > 1e-3 * result.size.maxCoeff())
    add_problem(result, "rest_is_not_bind",
                fmt::format("the node tree's rest pose is not the bind pose: vertices differ by up "
                            "to {:.3g} m; the bind pose is "
                            "taken as the rest shape",
                            result.rest_difference));
}

void inspect_bones(const Character& character, Inspection& result) {
  const auto& joints = character.skeleton.joints;
  const std::vector<Affine> rest =
      global_matrices(character.skeleton, rest_pose(character.skeleton));
  const double tiny = 1e-6 * result.size.maxCoeff();
  int64_t zero_length = 0;
  std::string example;
  for (size_t j = 0; j < joints.size(); ++j) {
    const int parent = joints[j].parent;
    if (parent < 0 || !joints[j].is_bone || !joints[static_cast<size_t>(parent)].is_bone) continue;
    if ((rest[j].translation() - rest[static_cast<size_t>(parent)].translation()).norm() > tiny)
      continue;
    if (zero_length++ == 0) example = joints[static_cast<size_t>(parent)].name;
  }
  if (zero_length > 0)
    add_problem(result, "zero_length_bones",
                fmt::format("{} no length, such as '{}'",
                            plural(zero_length, "bone has", "bones have"), example));
  std::set<std::string> names;
  for (const Joint& joint : joints)
    if (joint.is_bone && !names.insert(joint.name).second) {
      add_problem(
          result, "repeated_bone_name",
          fmt::format("several bones are called '{}': scenes can only name the first", joint.name));
      break;
    }
}

void inspect_rig(const Character& character, Inspection& result) {
  result.joints = character.skeleton.size();
  for (const Joint& joint : character.skeleton.joints) result.bones += joint.is_bone;
  for (size_t v = 0; v < character.weights.vertices(); ++v)
    result.most_influences = std::max(result.most_influences, character.weights.of(v).size());
  if (result.bones == 0)
    add_problem(result, "no_bones", "no vertex follows a bone: the mesh is not rigged");
  else
    inspect_bones(character, result);
  inspect_rest_pose(character, result);
  if (character.clips.empty())
    add_problem(result, "no_animation", "there is no animation: give one with --motion FILE.bvh");
  for (const Clip& clip : character.clips)
    if (clip.channels.empty() || clip.end() <= clip.start())
      add_problem(result, "still_clip", fmt::format("clip '{}' does not move", clip.name));
}

}  // namespace

Inspection inspect(const Character& character) {
  Inspection result;
  result.vertices = character.skin.positions.size();
  result.triangles = character.skin.triangles.size();
  inspect_size(character, result);
  inspect_surface(character, result);
  inspect_rig(character, result);
  for (const std::string& note : character.notes) add_problem(result, "note", note);
  return result;
}

}  // namespace supple
