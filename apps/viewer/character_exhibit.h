// A rigged character, a plain mesh or a bare motion as the page sees it: one clip, moved by plain
// skinning when a frame is asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "supple/rig/character.h"
#include "supple/sim/session.h"
#include "supple/sim/skinned_body.h"
#include "viewer/exhibit.h"

namespace supple::viewer {

/// One clip of a character.
class CharacterExhibit final : public Exhibit {
 public:
  /// Shows `character` moved by `clip` (one of its own; null for the rest pose). `extras` are
  /// constant arrays for overlays.
  CharacterExhibit(std::shared_ptr<const Character> character, const Clip* clip,
                   std::filesystem::path file, std::vector<ChunkArray> extras = {});

  Json facts() const override;
  Availability availability() const override;
  Bytes static_chunk() const override;
  Bytes frame_chunk(int frame) const override;
  Json report(int) const override { return nullptr; }

 private:
  std::shared_ptr<const Character> m_character;
  const Clip* m_clip;
  std::filesystem::path m_file;
  std::vector<ChunkArray> m_extras;
  FrameRange m_range;
  mutable SkinnedBody m_body;  // poses are computed in place
};

}  // namespace supple::viewer
