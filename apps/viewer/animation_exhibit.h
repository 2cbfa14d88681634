// An exported animation (positions over time, no skeleton) as the page sees it.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"
#include "viewer/exhibit.h"

namespace supple::viewer {

/// An animated mesh read from a file.
class AnimationExhibit final : public Exhibit {
 public:
  /// Shows `skin`; its frame function must stay usable.
  AnimationExhibit(AnimatedSkin skin, std::filesystem::path file)
      : m_skin(std::move(skin)), m_file(std::move(file)) {}

  Json facts() const override;
  Availability availability() const override;
  Bytes static_chunk() const override;
  Bytes frame_chunk(int frame) const override;
  Json report(int) const override { return nullptr; }

 private:
  AnimatedSkin m_skin;
  std::filesystem::path m_file;
};

}  // namespace supple::viewer
