// The files of the page, embedded in the program.
#pragma once

#include <string_view>

namespace supple::viewer {

/// One file of the page.
struct PageAsset {
  std::string_view content;
  std::string_view media_type;
};

/// The file of that name ("app.js"; "" is the page itself), or null.
const PageAsset* page_asset(std::string_view name);

}  // namespace supple::viewer
