#include "supple/sim/skinned_body.h"

namespace supple {

SkinnedBody::SkinnedBody(const Character& character, SkinningMethod method)
    : m_character(character),
      m_method(method),
      m_skinner(character.weights, character.binds),
      m_positions(character.skin.positions) {}

StepReport SkinnedBody::step(const Drive& drive, double /*dt*/) {
  m_positions = m_character.skin.positions;
  add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_positions);
  m_skinner.skin(m_method, drive.joints, m_positions, m_positions);
  return {};
}

void SkinnedBody::skin(BodyFrame& out) const { out.positions = m_positions; }

// A pose is a function of the drive alone, so there is nothing to remember.
void SkinnedBody::save(Chunk& /*state*/) const {}

void SkinnedBody::load(const Chunk& /*state*/, std::string_view /*file*/) {}

}  // namespace supple
