#include "supple/tets/skin_contact.h"

#include <algorithm>
#include <cmath>

namespace supple {

namespace {

void place(std::span<const TetTie> ties, std::span<const Vec3d> nodes, std::vector<Vec3d>& out) {
  out.resize(ties.size());
  for (size_t v = 0; v < ties.size(); ++v) out[v] = ties[v].of(nodes);
}

std::vector<Vec3d> places(std::span<const TetTie> ties, std::span<const Vec3d> nodes) {
  std::vector<Vec3d> out;
  place(ties, nodes, out);
  return out;
}

}  // namespace

SkinContact::SkinContact(SkinContactModel model, const TetFlesh& flesh)
    : grips(model.ties.size()),
      m_model(std::move(model)),
      m_tree(places(m_model.ties, flesh.positions)),
      m_depths(m_model.ties.size(), 0) {
  const std::vector<double>& masses = flesh.model().masses;
  // 1/√mass; fixed nodes do not move by themselves.
  m_inverse.assign(masses.size(), 0);
  for (size_t n = 0; n < masses.size(); ++n)
    if (flesh.model().bone_of_node[n] < 0) m_inverse[n] = 1 / std::sqrt(masses[n]);
  find_rows();
  if (m_highest > 0) m_damping_time = 2 * m_model.damping_ratio / std::sqrt(m_highest);
  for (const TetTie& tie : m_model.ties) {
    double sum = 0;
    for (const double weight : tie.weights) sum += std::abs(weight);
    m_lever = std::max(m_lever, sum);
  }
  if (!m_model.ties.empty()) m_near_distance = 0.02 * m_tree.box().diagonal().norm();
  if (m_model.deepest_only) {
    int32_t elements = 0;
    for (const int32_t e : m_model.element_of) elements = std::max(elements, e + 1);
    m_element_stiffness.assign(static_cast<size_t>(elements), 0);
    m_deepest.resize(static_cast<size_t>(elements));
    for (size_t v = 0; v < m_model.ties.size(); ++v)
      m_element_stiffness[static_cast<size_t>(m_model.element_of[v])] += m_model.stiffness[v];
  }
}

// Row sums of M^-½ Jᵀ k J M^-½, which bound its highest eigenvalue.
void SkinContact::find_rows() {
  m_rows.assign(m_inverse.size(), 0);
  for (size_t v = 0; v < m_model.ties.size(); ++v) {
    const TetTie& tie = m_model.ties[v];
    double sum = 0;
    for (size_t c = 0; c < 4; ++c)
      sum += std::abs(tie.weights[c]) * m_inverse[static_cast<size_t>(tie.nodes[c])];
    for (size_t c = 0; c < 4; ++c) {
      const auto n = static_cast<size_t>(tie.nodes[c]);
      m_rows[n] += m_model.stiffness[v] * sum * std::abs(tie.weights[c]) * m_inverse[n];
    }
  }
  m_highest = 0;
  for (const double row : m_rows) m_highest = std::max(m_highest, row);
}

// Rows of nodes that are above the limit are scaled down to it; a vertex by the worst of its nodes.
void SkinContact::limit_frequency(double highest) {
  m_damping_time = 2 * m_model.damping_ratio / std::sqrt(highest);
  if (m_highest <= highest) return;
  std::fill(m_element_stiffness.begin(), m_element_stiffness.end(), 0);
  for (size_t v = 0; v < m_model.ties.size(); ++v) {
    double factor = 1;
    for (const int32_t node : m_model.ties[v].nodes) {
      const double row = m_rows[static_cast<size_t>(node)];
      if (row > highest) factor = std::min(factor, highest / row);
    }
    m_model.stiffness[v] *= factor;
    if (!m_element_stiffness.empty())
      m_element_stiffness[static_cast<size_t>(m_model.element_of[v])] += m_model.stiffness[v];
  }
  find_rows();
}

void SkinContact::find_near(std::span<const Collider* const> colliders, const TetFlesh& flesh) {
  place(m_model.ties, flesh.positions, m_points);
  m_tree.refit(m_points);
  m_near.clear();
  m_placed.clear();
  for (size_t c = 0; c < colliders.size(); ++c) {
    m_placed.push_back(colliders[c]->placed());
    m_found.clear();
    m_tree.find_near(*colliders[c], m_points, m_near_distance + colliders[c]->inaccuracy(),
                     m_found);
    for (const int32_t v : m_found) m_near.push_back({v, static_cast<int32_t>(c)});
  }
  std::sort(m_near.begin(), m_near.end());
  for (size_t v = 0; v < grips.size(); ++v) {
    if (grips[v].collider < 0) continue;
    const Near held{static_cast<int32_t>(v), grips[v].collider};
    if (std::binary_search(m_near.begin(), m_near.end(), held)) continue;
    grips[v].collider = -1;
    m_depths[v] = 0;
  }
  m_slack = m_near_distance;
}

// How far colliders have moved, at the skin, since vertices near them were found.
double SkinContact::moved(std::span<const Collider* const> colliders) const {
  double most = 0;
  const Box3d reach = m_tree.box();
  for (size_t c = 0; c < colliders.size(); ++c) {
    const Affine& now = colliders[c]->placed();
    if (now.matrix() == m_placed[c].matrix()) continue;
    const Affine change = now * m_placed[c].inverse();
    for (const auto corner : {Box3d::BottomLeftFloor, Box3d::BottomRightFloor, Box3d::TopLeftFloor,
                              Box3d::TopRightFloor, Box3d::BottomLeftCeil, Box3d::BottomRightCeil,
                              Box3d::TopLeftCeil, Box3d::TopRightCeil}) {
      const Vec3d at = reach.corner(corner);
      most = std::max(most, (change * at - at).norm());
    }
  }
  return most;
}

void SkinContact::add_forces(std::span<const Collider* const> colliders, double h, TetFlesh& flesh,
                             std::span<Wrench> reactions) {
  m_touching = 0;
  if (colliders.empty() || m_model.ties.empty()) return;
  double fastest = 0;
  for (const Vec3d& v : flesh.velocities) fastest = std::max(fastest, v.squaredNorm());
  m_slack -= h * m_lever * std::sqrt(fastest);
  if (!(m_slack > 0) || m_placed.size() != colliders.size() || moved(colliders) > m_slack)
    find_near(colliders, flesh);
  for (const Near& near : m_near) {
    const auto v = static_cast<size_t>(near.vertex), c = static_cast<size_t>(near.collider);
    const Vec3d at = m_model.ties[v].of(flesh.positions);
    auto contact = colliders[c]->test(at);
    if (grips[v].collider == near.collider)
      contact = keep_side(contact, at, *colliders[c], grips[v]);
    if (!contact) {
      if (grips[v].collider == near.collider) {
        grips[v].collider = -1;
        m_depths[v] = 0;
      }
      continue;
    }
    ++m_touching;
    m_depths[v] = static_cast<float>(contact->depth);
    if (!m_model.deepest_only) {
      push(v, *colliders[c], near.collider, *contact, 1, flesh, reactions);
      continue;
    }
    Deepest& deepest = m_deepest[static_cast<size_t>(m_model.element_of[v])];
    if (deepest.vertex < 0 || contact->depth > deepest.contact.depth)
      deepest = {near.vertex, near.collider, *contact};
  }
  if (!m_model.deepest_only) return;
  for (size_t e = 0; e < m_deepest.size(); ++e) {
    Deepest& deepest = m_deepest[e];
    if (deepest.vertex < 0) continue;
    const auto v = static_cast<size_t>(deepest.vertex);
    const double scale =
        m_model.stiffness[v] > 0 ? m_element_stiffness[e] / m_model.stiffness[v] : 1;
    push(v, *colliders[static_cast<size_t>(deepest.collider)], deepest.collider, deepest.contact,
         scale, flesh, reactions);
    deepest.vertex = -1;
  }
}

// The force on a vertex, shared out to the nodes of its element, and its reaction.
void SkinContact::push(size_t vertex, const Collider& collider, int32_t number,
                       const RigidContact& contact, double scale, TetFlesh& flesh,
                       std::span<Wrench> reactions) {
  const TetTie& tie = m_model.ties[vertex];
  const Vec3d at = tie.of(flesh.positions);
  const double stiffness = scale * m_model.stiffness[vertex];
  const Penalty penalty{stiffness, m_damping_time * stiffness, collider.options().friction};
  const Vec3d force = penalty_force(contact, at, tie.of(flesh.velocities), penalty, number,
                                    collider.placed(), grips[vertex]);
  for (size_t c = 0; c < 4; ++c)
    flesh.forces[static_cast<size_t>(tie.nodes[c])] += tie.weights[c] * force;
  if (reactions.empty()) return;
  Wrench& reaction = reactions[static_cast<size_t>(number)];
  reaction.torque -= at.cross(force);
  reaction.force -= force;
}

}  // namespace supple
