#include "supple/sim/implicit_tet_contact.h"

#include <algorithm>

#include "supple/core/error.h"

namespace supple {
namespace {

// Implicit steps can have contacts so many times as hard as explicit ones can.
constexpr double harder = 20;

// Contact points of the body with itself along the edge of an element.
constexpr double points_per_edge = 2;

// From what depth on contact forces grow no further, in edges of elements.
constexpr double deepest_push = 0.5;

void refuse_free(const ContactSettings& settings, const std::string& file) {
  for (size_t i = 0; i < settings.colliders.size(); ++i)
    if (!settings.colliders[i].free.empty())
      throw_input_error(file, fmt::format("body.contact.colliders[{}].free", i),
                        "needs \"dynamics\": \"explicit\" in body.tets");
}

// Stiffness (N/m) of a contact point: the mean of what its triangle's corners have, for its area.
double self_stiffness(const TetModel& model, const ContactPoint& point) {
  const Vec3i& corners = model.skin.mesh.triangles[static_cast<size_t>(point.triangle)];
  double sum = 0;
  for (int c = 0; c < 3; ++c) sum += model.contact_moduli[static_cast<size_t>(corners[c])] / 3;
  return point.area * sum;
}

}  // namespace

bool has_implicit_contact(const ContactSettings& settings) {
  return !settings.colliders.empty() || settings.props || settings.self.value_or(false);
}

ImplicitTetContact::ImplicitTetContact(const Character& character, const TetModel& model,
                                       const BodySettings& settings, const FrameRange& range,
                                       const std::string& file)
    : m_character(character),
      m_model(model),
      m_colliders(character, settings.contact, range, model.length, file),
      m_joints_carry(settings.contact.props) {
  refuse_free(settings.contact, file);
  if (settings.contact.props) m_colliders.add_props(model.skin);
  for (size_t c = 0; c < m_colliders.size(); ++c) m_list.push_back(&m_colliders[c]);
  for (const ColliderSettings& own : settings.contact.colliders)
    m_joints_carry |= !own.joint.empty();
  ImplicitContactModel contact;
  contact.ties = model.contact.ties;
  for (const double k : model.contact.stiffness) contact.stiffness.push_back(harder * k);
  contact.masses = model.flesh.masses;
  contact.cap = deepest_push * model.cage_spacing;
  contact.self_friction = settings.contact.grip;
  std::unique_ptr<TetSelfCollision> self;
  if (settings.contact.self.value_or(false) && !model.skin.mesh.triangles.empty()) {
    m_surface = std::make_unique<SkinSurface>(model.skin.mesh.positions, model.skin.mesh.triangles,
                                              model.cage_spacing / points_per_edge);
    std::vector<ContactPoint> points =
        choose_contact_points(*m_surface, {.factor = 1 / settings.contact.points});
    for (const ContactPoint& point : points)
      contact.self_stiffness.push_back(harder * self_stiffness(model, point));
    self = std::make_unique<TetSelfCollision>(
        TetSelfModel{model.flesh.mesh, *m_surface, model.ties, model.places, model.cage_spacing},
        std::move(points));
  }
  m_contact = std::make_unique<ImplicitContact>(std::move(contact), std::move(self));
}

std::span<const Collider* const> ImplicitTetContact::move(const Instant& from, const Instant& to,
                                                          double part) {
  if (m_list.empty()) return m_list;
  const Moment moment{from.moment.time + part * (to.moment.time - from.moment.time),
                      from.moment.frame + part * (to.moment.frame - from.moment.frame)};
  const Instant now =
      m_joints_carry ? instant_between(m_character, from, to, part, true) : Instant{};
  const ColliderDrive drive{moment, m_joints_carry ? now.joints : to.joints};
  m_colliders.move(drive, drive, 0);
  return m_list;
}

std::vector<float> ImplicitTetContact::depths() const {
  std::vector<float> result(m_model.skin.mesh.positions.size(), 0);
  const std::span<const float> rigid = m_contact->depths();
  for (size_t p = 0; p < result.size(); ++p) result[p] = rigid[p];
  if (const TetSelfCollision* self = m_contact->self())
    for (size_t i = 0; i < self->points().size(); ++i) {
      const SkinSpot& spot = self->spot_of(i);
      for (int c = 0; c < 3; ++c) {
        if (spot.weights[c] == 0) continue;
        float& at = result[static_cast<size_t>(
            m_model.skin.mesh.triangles[static_cast<size_t>(spot.triangle)][c])];
        at = std::max(at, m_contact->self_depths()[i]);
      }
    }
  return result;
}

double ImplicitTetContact::deepest() const {
  float most = 0;
  for (const std::span<const float> depths : {m_contact->depths(), m_contact->self_depths()})
    for (const float depth : depths) most = std::max(most, depth);
  return static_cast<double>(most);
}

std::vector<Vec3f> ImplicitTetContact::outline_at(const Instant& now) const {
  if (m_list.empty()) return {};
  return m_colliders.vertices({now.moment, now.joints});
}

void ImplicitTetContact::save(Chunk& state) const {
  std::vector<double> numbers;
  for (const Grip& grip : m_contact->grips)
    numbers.insert(numbers.end(),
                   {grip.anchor[0], grip.anchor[1], grip.anchor[2], grip.normal[0], grip.normal[1],
                    grip.normal[2], static_cast<double>(grip.collider)});
  state.add<double>("tets/grips", numbers, 7);
}

void ImplicitTetContact::load(const Chunk& state, std::string_view file) {
  std::vector<Grip>& grips = m_contact->grips;
  const auto numbers = state.get<double>("tets/grips", 7, static_cast<int64_t>(grips.size()), file);
  require_finite(numbers, file, "tets");
  const double* g = numbers.data();
  for (Grip& grip : grips) {
    const double number = g[6];
    const auto count = static_cast<double>(m_list.size());
    if (!(number >= -1) || !(number < count))
      throw_input_error(std::string(file), "tets", "holds on to a collider that is not there");
    grip = {Vec3d(g[0], g[1], g[2]), Vec3d(g[3], g[4], g[5]), static_cast<int32_t>(number)};
    g += 7;
  }
}

}  // namespace supple
