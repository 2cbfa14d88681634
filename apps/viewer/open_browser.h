// Showing an address in the user's browser.
#pragma once

#include <string>

namespace supple::viewer {

/// Asks the desktop to open an address; false when there is no desktop or nothing to ask.
bool open_browser(const std::string& url);

}  // namespace supple::viewer
