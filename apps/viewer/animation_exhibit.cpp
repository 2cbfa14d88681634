#include "viewer/animation_exhibit.h"

#include "supple/core/error.h"
#include "supple/io/cache.h"
#include "viewer/facts.h"

namespace supple::viewer {

Json AnimationExhibit::facts() const {
  Json facts = basic_facts(m_skin.name, m_file, "export");
  TriangleMesh mesh;
  mesh.positions = m_skin.rest;
  mesh.triangles = m_skin.triangles;
  add_shape_facts(facts, mesh, m_skin.parts, {});
  facts["frames"] =
      frames_json(m_skin.first_frame, m_skin.first_frame + m_skin.frame_count - 1, m_skin.rate);
  facts["maps"] = m_skin.map_names;
  return facts;
}

Availability AnimationExhibit::availability() const { return {m_skin.frame_count, "done"}; }

Bytes AnimationExhibit::static_chunk() const {
  CacheInfo info;
  info.skin.positions = m_skin.rest;
  info.skin.triangles = m_skin.triangles;
  info.attributes = m_skin.attributes;
  return supple::static_chunk(info).serialise();
}

Bytes AnimationExhibit::frame_chunk(int frame) const {
  const int index = frame - m_skin.first_frame;
  if (index < 0 || index >= m_skin.frame_count)
    throw_input_error(m_file.string(), "", fmt::format("there is no frame {}", frame));
  SkinFrame shape = m_skin.frame(index);
  FrameRecord record;
  record.frame = frame;
  record.time = index / m_skin.rate;
  record.body.positions = std::move(shape.positions);
  for (size_t m = 0; m < shape.maps.size(); ++m) {
    Chunk map;
    map.add<float>("map/" + m_skin.map_names[m], shape.maps[m]);
    record.body.extras.push_back(map.arrays().front());
  }
  return supple::frame_chunk(record).serialise();
}

}  // namespace supple::viewer
