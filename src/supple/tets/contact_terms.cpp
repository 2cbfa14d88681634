#include "supple/tets/contact_terms.h"

#include <algorithm>

namespace supple {

void NodeSum::add(int32_t node, double weight) {
  if (weight == 0) return;
  for (int i = 0; i < count; ++i) {
    if (nodes[static_cast<size_t>(i)] != node) continue;
    weights[static_cast<size_t>(i)] += weight;
    return;
  }
  nodes[static_cast<size_t>(count)] = node;
  weights[static_cast<size_t>(count++)] = weight;
}

Vec3d NodeSum::of(const TetVector& x) const {
  Vec3d sum = Vec3d::Zero();
  for (int i = 0; i < count; ++i)
    sum += weights[static_cast<size_t>(i)] *
           x.node(static_cast<size_t>(nodes[static_cast<size_t>(i)]));
  return sum;
}

namespace {

Vec3d along(const ContactTerm& term, const Vec3d& way) {
  return way - term.normal.dot(way) * term.normal;
}

}  // namespace

double ContactTerms::push(const ContactTerm& term, double gap) const {
  return term.stiffness * std::clamp(-gap, 0.0, cap);
}

double ContactTerms::energy(const TetVector& x) const {
  double sum = 0;
  for (const ContactTerm& term : terms) {
    const Vec3d d = term.sum.of(x);
    const double depth = std::max(0.0, term.offset - term.normal.dot(d));
    const double near = std::min(depth, cap);
    sum += term.stiffness * near * (depth - near / 2);
    if (term.along > 0) sum += 0.5 * term.along * along(term, d - term.anchor).squaredNorm();
  }
  return sum;
}

double ContactTerms::add_forces(const TetVector& x, TetVector& force) const {
  for (const ContactTerm& term : terms) {
    const Vec3d d = term.sum.of(x);
    Vec3d f = push(term, term.normal.dot(d) - term.offset) * term.normal;
    if (term.along > 0) f -= term.along * along(term, d - term.anchor);
    for (size_t i = 0; i < static_cast<size_t>(term.sum.count); ++i)
      force.node(static_cast<size_t>(term.sum.nodes[i])) += term.sum.weights[i] * f;
  }
  return energy(x);
}

void ContactTerms::linearise(const TetVector& x) {
  m_across.resize(terms.size());
  for (size_t t = 0; t < terms.size(); ++t) {
    const double depth = -terms[t].gap(x);
    m_across[t] = depth > 0 ? terms[t].stiffness * std::min(1.0, cap / depth) : 0;
  }
}

void ContactTerms::add_product(const TetVector& dx, TetVector& y) const {
  for (size_t t = 0; t < terms.size(); ++t) {
    const ContactTerm& term = terms[t];
    if (m_across[t] == 0 && term.along == 0) continue;
    const Vec3d d = term.sum.of(dx);
    const Vec3d f = term.along * d + (m_across[t] - term.along) * term.normal.dot(d) * term.normal;
    for (size_t i = 0; i < static_cast<size_t>(term.sum.count); ++i)
      y.node(static_cast<size_t>(term.sum.nodes[i])) += term.sum.weights[i] * f;
  }
}

void ContactTerms::add_diagonal(std::span<Mat3d> blocks) const {
  for (size_t t = 0; t < terms.size(); ++t) {
    const ContactTerm& term = terms[t];
    if (m_across[t] == 0 && term.along == 0) continue;
    const Mat3d block = term.along * Mat3d::Identity() +
                        (m_across[t] - term.along) * term.normal * term.normal.transpose();
    for (size_t i = 0; i < static_cast<size_t>(term.sum.count); ++i)
      blocks[static_cast<size_t>(term.sum.nodes[i])] +=
          term.sum.weights[i] * term.sum.weights[i] * block;
  }
}

}  // namespace supple
