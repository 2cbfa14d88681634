#include "viewer/character_exhibit.h"

#include "supple/core/error.h"
#include "supple/io/cache.h"
#include "viewer/facts.h"

namespace supple::viewer {
namespace {

const char* kind_of(const Character& character) {
  if (character.skin.positions.empty()) return "motion";
  const bool rigged = character.skeleton.size() > 1 || !character.clips.empty();
  return rigged ? "character" : "mesh";
}

}  // namespace

CharacterExhibit::CharacterExhibit(std::shared_ptr<const Character> character, const Clip* clip,
                                   std::filesystem::path file, std::vector<ChunkArray> extras)
    : m_character(std::move(character)),
      m_clip(clip),
      m_file(std::move(file)),
      m_extras(std::move(extras)),
      m_range(resolve_frames({}, clip, m_file.string())),
      m_body(*m_character, SkinningMethod::linear) {}

Json CharacterExhibit::facts() const {
  const bool several = m_character->clips.size() > 1;
  Json facts =
      basic_facts(several && m_clip ? m_character->name + ": " + m_clip->name : m_character->name,
                  m_file, kind_of(*m_character));
  add_shape_facts(facts, m_character->skin, m_character->parts, m_character->skeleton.joints);
  facts["clip"] = m_clip ? m_clip->name : "";
  facts["frames"] = frames_json(m_range.first, m_range.last, m_range.rate);
  return facts;
}

Availability CharacterExhibit::availability() const { return {m_range.count(), "done"}; }

Bytes CharacterExhibit::static_chunk() const {
  CacheInfo info;
  info.skin = m_character->skin;
  info.attributes = m_character->attributes;
  info.extras = m_extras;
  return supple::static_chunk(info).serialise();
}

Bytes CharacterExhibit::frame_chunk(int frame) const {
  if (frame < m_range.first || frame > m_range.last)
    throw_input_error(m_file.string(), "",
                      fmt::format("frame {} is not one of the frames {} to {}", frame,
                                  m_range.first, m_range.last));
  Drive drive;
  drive.frame = frame;
  drive.time = m_range.time_of(frame);
  drive.pose = rest_pose(*m_character);
  if (m_clip) apply_clip(*m_clip, drive.time, drive.pose);
  global_matrices(m_character->skeleton, drive.pose, drive.joints);
  FrameRecord record;
  record.frame = frame;
  record.time = drive.time;
  m_body.step(drive, 1 / m_range.rate);
  m_body.skin(record.body);
  record.joints = std::move(drive.joints);
  return supple::frame_chunk(record).serialise();
}

}  // namespace supple::viewer
