#include "supple/io/fbx_tree.h"

#include "supple/core/error.h"

namespace supple::fbx {
namespace {

constexpr std::string_view helper_mark = "_$AssimpFbx$_";
constexpr size_t most_nodes = 1'000'000;

// What single-precision products of rotations may differ from a rotation, relative to the matrix.
constexpr double noise_tolerance = 1e-4;

// A place in Assimp's tree still to be visited.
struct Visit {
  const aiNode* node = nullptr;
  int parent = -1;
  std::vector<Factor> factors;  // helpers met since the parent
  Affine geometric = Affine::Identity();
};

// "Rotation" for "arm_$AssimpFbx$_Rotation", empty for a node of the file.
std::string_view helper_suffix(std::string_view name) {
  const size_t at = name.rfind(helper_mark);
  return at == std::string_view::npos ? std::string_view{} : name.substr(at + helper_mark.size());
}

std::string_view name_of(const aiNode& node) { return {node.mName.data, node.mName.length}; }

Factor make_factor(std::string_view suffix, std::string_view name, const Affine& matrix) {
  Factor factor{std::string(name), FactorKind::translation, suffix == "PostRotation", matrix};
  if (suffix == "Rotation" || suffix == "PreRotation" || suffix == "PostRotation")
    factor.kind = FactorKind::rotation;
  if (suffix == "Scaling") factor.kind = FactorKind::scaling;
  return factor;
}

bool is_geometric(std::string_view suffix) { return suffix.rfind("Geometric", 0) == 0; }

bool is_inverse(std::string_view suffix) {
  return suffix.size() > 7 && suffix.substr(suffix.size() - 7) == "Inverse";
}

class TreeBuilder {
 public:
  TreeBuilder(const Affine& to_model, std::string_view file) : m_to_model(to_model), m_file(file) {}

  Tree build(const aiNode& root) {
    m_open.push_back({&root, -1, {}, Affine::Identity()});
    while (!m_open.empty()) {
      Visit visit = std::move(m_open.back());
      m_open.pop_back();
      if (++m_visited > most_nodes)
        throw_input_error(m_file, "nodes", fmt::format("more than {} of them", most_nodes));
      step(std::move(visit));
    }
    return std::move(m_tree);
  }

 private:
  // Joints are numbered depth first, children in the file's order.
  void open_children(const aiNode& node, const Visit& next) {
    if (node.mNumChildren > 0 && !node.mChildren)
      throw_input_error(m_file, "nodes", "a list of children is missing");
    for (unsigned i = node.mNumChildren; i-- > 0;) {
      if (!node.mChildren[i]) throw_input_error(m_file, "nodes", "a child is missing");
      Visit visit = next;
      visit.node = node.mChildren[i];
      m_open.push_back(std::move(visit));
    }
  }

  void step(Visit visit) {
    const aiNode& node = *visit.node;
    const std::string_view suffix = helper_suffix(name_of(node));
    const Affine matrix = to_affine(node.mTransformation, m_file, "node transform");
    if (suffix.empty() || visit.parent < 0 || node.mNumMeshes > 0) {
      add_joint(visit, matrix);
      return open_children(node, {nullptr, last_joint(), {}, Affine::Identity()});
    }
    // Inverse geometric offsets stand between a node and its children, only to undo the offset.
    if (is_geometric(suffix) && !is_inverse(suffix)) visit.geometric = visit.geometric * matrix;
    if (!is_geometric(suffix)) visit.factors.push_back(make_factor(suffix, name_of(node), matrix));
    open_children(node, visit);
  }

  int last_joint() const { return static_cast<int>(m_tree.nodes.size()) - 1; }

  void add_joint(Visit& visit, const Affine& matrix) {
    Joint joint;
    joint.name = std::string(name_of(*visit.node));
    joint.parent = visit.parent;
    joint.source_node = static_cast<int>(m_visited) - 1;
    // Assimp leaves the root's own transform at identity.
    Affine local = visit.parent < 0 ? m_to_model : matrix;
    for (auto factor = visit.factors.rbegin(); factor != visit.factors.rend(); ++factor)
      local = factor->matrix * local;
    if (const std::optional<Transform> rest = decompose_noisy(local))
      joint.rest = *rest;
    else
      joint.sheared = local;
    m_tree.skeleton.joints.push_back(joint);
    m_tree.nodes.push_back({visit.node, std::move(visit.factors), visit.geometric});
    if (visit.parent >= 0) register_names(joint.name);
  }

  // The root is left out: no animation may move it away from our units and axes. Where a mesh and
  // a bone share a name, skins and animations most likely mean the bone.
  void register_names(const std::string& name) {
    const int joint = last_joint();
    const auto [place, is_new] = m_tree.places.try_emplace(name, ChannelPlace{joint, -1});
    if (!is_new) {
      m_tree.repeated_names.push_back(name);
      const ChannelPlace known = place->second;
      const bool bone_after_mesh = m_tree.nodes[known.joint].node->mNumMeshes > 0 &&
                                   m_tree.nodes[joint].node->mNumMeshes == 0;
      if (bone_after_mesh) place->second = {joint, -1};
    }
    const auto& factors = m_tree.nodes.back().factors;
    for (size_t f = 0; f < factors.size(); ++f)
      m_tree.places.try_emplace(factors[f].name, ChannelPlace{joint, static_cast<int>(f)});
  }

  Affine m_to_model;
  std::string_view m_file;
  std::vector<Visit> m_open;
  size_t m_visited = 0;
  Tree m_tree;
};

}  // namespace

Tree build_tree(const aiScene& scene, const Affine& to_model, std::string_view file) {
  if (!scene.mRootNode) throw_input_error(file, "nodes", "the file has no node tree");
  return TreeBuilder(to_model, file).build(*scene.mRootNode);
}

Affine to_affine(const aiMatrix4x4& matrix, std::string_view file, std::string_view field) {
  Affine result = Affine::Identity();
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned j = 0; j < 4; ++j) result(i, j) = matrix[i][j];
  if (!result.matrix().allFinite()) throw_input_error(file, field, "a number is not finite");
  return result;
}

std::optional<Transform> decompose_noisy(const Affine& matrix) {
  if (std::optional<Transform> exact = decompose(matrix)) return exact;
  // Unit columns nearly at right angles: take the nearest rotation a quaternion gives.
  Vec3d scale = matrix.linear().colwise().norm();
  if (!(scale.minCoeff() > 0)) return std::nullopt;
  Mat3d axes = matrix.linear() * scale.cwiseInverse().asDiagonal();
  if (axes.determinant() < 0) {
    axes.col(0) *= -1;
    scale[0] *= -1;
  }
  const Transform result{matrix.translation(), Quatd(axes).normalized(), scale};
  const double error = (result.matrix().linear() - matrix.linear()).norm();
  if (!(error <= noise_tolerance * matrix.linear().norm())) return std::nullopt;
  return result;
}

}  // namespace supple::fbx
