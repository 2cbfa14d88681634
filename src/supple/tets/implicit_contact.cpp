#include "supple/tets/implicit_contact.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t point_block = 256;

// Part of a contact force by which it may be off.
constexpr double counts_of_force = 0.01;

// Looks after which what is touched stays where it was found.
constexpr int moving_looks = 4;

// Behind planes by this part of the depth from which forces grow no further, points that are not
// found there are not there.
constexpr double far_behind = 0.2;

std::span<const Vec3d> as_points(const TetVector& x) {
  return {reinterpret_cast<const Vec3d*>(x.data()), static_cast<size_t>(x.size()) / 3};
}

}  // namespace

ImplicitContact::ImplicitContact(ImplicitContactModel model, std::unique_ptr<TetSelfCollision> self)
    : grips(model.ties.size()),
      m_model(std::move(model)),
      m_self(std::move(self)),
      m_found((m_model.ties.size() + point_block - 1) / point_block),
      m_depths(m_model.ties.size(), 0),
      m_self_depths(m_self ? m_self->points().size() : 0, 0) {
  m_terms.cap = m_next.cap = m_model.cap;
  m_force = m_next_force = TetVector(3 * static_cast<Eigen::Index>(m_model.masses.size()));
}

void ImplicitContact::begin_step(std::span<const Collider* const> colliders, const TetVector& x) {
  m_colliders.assign(colliders.begin(), colliders.end());
  m_placed_before.clear();
  for (const Collider* collider : m_colliders) m_placed_before.push_back(collider->placed());
  m_before = x;
  m_touches.clear();
  m_terms.terms.clear();
  find(x, 0, 1);
}

bool ImplicitContact::find(const TetVector& x, double counts, int look) {
  m_hits.clear();
  find_rigid(x);
  find_self(x);
  // Both lists are sorted alike. What is found anew replaces what is known of the same contact;
  // later what is known stays, unless it is far off.
  const auto order = [](const Touch& a, const Touch& b) {
    return std::tuple(a.collider < 0, a.point, a.collider) <
           std::tuple(b.collider < 0, b.point, b.collider);
  };
  for (Touch& touch : m_touches) touch.now = false;
  m_merged.clear();
  std::set_union(m_hits.begin(), m_hits.end(), m_touches.begin(), m_touches.end(),
                 std::back_inserter(m_merged), order);
  const bool moving = look <= moving_looks;
  const double apart = moving ? 0 : far_behind * m_model.cap;
  m_next.terms.clear();
  size_t known = 0, kept = 0;
  for (Touch touch : m_merged) {
    while (known < m_touches.size() && order(m_touches[known], touch)) ++known;
    const bool was_known = known < m_touches.size() && !order(touch, m_touches[known]);
    ContactTerm term = term_of(touch, x);
    // Behind its plane but not found: the plane is that of another place.
    if (!touch.now && term.gap(x) < -apart) continue;
    if (!moving && touch.now && was_known) {
      const ContactTerm before = term_of(m_touches[known], x);
      if (before.gap(x) > term.gap(x) - apart) {
        term = before;
        touch = m_touches[known];
      }
    }
    add_friction(touch, x, term);
    m_merged[kept++] = touch;
    m_next.terms.push_back(term);
  }
  m_merged.resize(kept);
  std::swap(m_touches, m_merged);
  if (look > 1) {
    m_force.setZero();
    m_next_force.setZero();
    m_terms.add_forces(x, m_force);
    m_next.add_forces(x, m_next_force);
    bool differs = false;
    for (size_t n = 0; n < m_model.masses.size() && !differs; ++n)
      differs = (m_force.node(n) - m_next_force.node(n)).squaredNorm() >
                std::pow(counts * m_model.masses[n], 2) +
                    std::pow(counts_of_force, 2) * m_force.node(n).squaredNorm();
    if (!differs) return false;
  }
  std::swap(m_terms.terms, m_next.terms);
  return true;
}

void ImplicitContact::find_rigid(const TetVector& x) {
  if (m_colliders.empty()) return;
  const std::span<const Vec3d> nodes = as_points(x);
  parallel_for(m_model.ties.size(), point_block, [&](size_t begin, size_t end) {
    std::vector<Touch>& found = m_found[begin / point_block];
    found.clear();
    for (size_t p = begin; p < end; ++p) {
      const Vec3d at = m_model.ties[p].of(nodes);
      if (!at.allFinite()) continue;
      for (size_t c = 0; c < m_colliders.size(); ++c) {
        const Collider& collider = *m_colliders[c];
        std::optional<RigidContact> contact = collider.test(at);
        const auto number = static_cast<int32_t>(c);
        if (grips[p].collider == number) contact = keep_side(contact, at, collider, grips[p]);
        if (!contact) continue;
        const Affine inverse = collider.placed().inverse();
        found.push_back({static_cast<int32_t>(p),
                         number,
                         inverse * contact->surface,
                         inverse.linear() * contact->normal,
                         {},
                         true});
      }
    }
  });
  for (const auto& found : m_found) m_hits.insert(m_hits.end(), found.begin(), found.end());
}

void ImplicitContact::find_self(const TetVector& x) {
  if (!m_self) return;
  m_self->find(x, m_before, m_self_found);
  for (const TetSelfContact& contact : m_self_found)
    m_hits.push_back({contact.point, -1, Vec3d::Zero(), contact.normal, contact.spot, true});
}

ContactTerm ImplicitContact::term_of(const Touch& touch, const TetVector& x) const {
  ContactTerm term;
  const auto p = static_cast<size_t>(touch.point);
  if (touch.collider < 0) {
    m_self->add_spot(m_self->spot_of(p), 1, term.sum);
    m_self->add_spot(touch.spot, -1, term.sum);
    term.normal = m_self->carried_normal(touch.spot, touch.normal, x);
    term.stiffness = m_model.self_stiffness[p];
    return term;
  }
  const Affine& placed = m_colliders[static_cast<size_t>(touch.collider)]->placed();
  for (size_t k = 0; k < 4; ++k) term.sum.add(m_model.ties[p].nodes[k], m_model.ties[p].weights[k]);
  term.normal = (placed.linear() * touch.normal).normalized();
  term.offset = term.normal.dot(placed * touch.surface);
  term.stiffness = m_model.stiffness[p];
  return term;
}

// No stronger than the coefficient times the pressure that there is now.
void ImplicitContact::add_friction(const Touch& touch, const TetVector& x,
                                   ContactTerm& term) const {
  double friction = m_model.self_friction;
  if (touch.collider >= 0) {
    const auto c = static_cast<size_t>(touch.collider);
    friction = m_colliders[c]->options().friction;
    const Grip& grip = grips[static_cast<size_t>(touch.point)];
    const Affine& placed = m_colliders[c]->placed();
    term.anchor = grip.collider == touch.collider
                      ? Vec3d(placed * grip.anchor)
                      : Vec3d(placed * (m_placed_before[c].inverse() * term.sum.of(m_before)));
  } else {
    term.anchor = term.sum.of(m_before);
  }
  const double push = m_terms.push(term, term.gap(x));
  if (!(friction > 0) || !(push > 0)) return;
  Vec3d slip = term.sum.of(x) - term.anchor;
  slip -= term.normal.dot(slip) * term.normal;
  const double length = slip.norm(), most = friction * push;
  term.along = term.stiffness * length <= most ? term.stiffness : most / length;
}

// Anchors follow on the surface, as far behind as friction can pull. A point holds on to one
// collider: the first it is in.
void ImplicitContact::end_step(const TetVector& x) {
  std::fill(m_depths.begin(), m_depths.end(), 0.0f);
  std::fill(m_self_depths.begin(), m_self_depths.end(), 0.0f);
  std::vector<Grip> next(grips.size());
  m_hits.clear();
  find_rigid(x);
  find_self(x);
  for (const Touch& touch : m_hits) {
    ContactTerm term = term_of(touch, x);
    const double depth = -term.gap(x);
    if (!(depth > 0)) continue;
    const auto p = static_cast<size_t>(touch.point);
    float& deepest = touch.collider < 0 ? m_self_depths[p] : m_depths[p];
    deepest = std::max(deepest, static_cast<float>(depth));
    if (touch.collider < 0 || next[p].collider >= 0) continue;
    add_friction(touch, x, term);
    const Collider& collider = *m_colliders[static_cast<size_t>(touch.collider)];
    const Vec3d at = term.sum.of(x);
    Vec3d way = at - term.anchor;
    way -= term.normal.dot(way) * term.normal;
    if (term.stiffness > 0) way *= term.along / term.stiffness;
    const Affine inverse = collider.placed().inverse();
    next[p] = {inverse * (at + depth * term.normal - way), inverse.linear() * term.normal,
               touch.collider};
  }
  grips = std::move(next);
}

void ImplicitContact::forget() {
  grips.assign(grips.size(), {});
  std::fill(m_depths.begin(), m_depths.end(), 0.0f);
  std::fill(m_self_depths.begin(), m_self_depths.end(), 0.0f);
}

}  // namespace supple
