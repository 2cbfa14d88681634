// A browser without a window, for pictures: Chromium as a separate program, spoken to through the
// Chrome DevTools Protocol on two pipes (its descriptors 3 and 4, messages end with a zero byte).
// It draws in software, so that pictures do not depend on the machine's graphics card. One page at
// a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/core/error.h"
#include "supple/core/subprocess.h"
#include "supple/io/json_field.h"

namespace supple::viewer {

/// The browser to use: SUPPLE_BROWSER from the environment, else the first Chromium or Chrome on
/// PATH; throws an output error that says what to install when there is none.
std::string find_browser();

/// How a browser is started and waited for.
struct BrowserOptions {
  std::string program;  ///< empty: find_browser()
  int width = 1280;     ///< of the window, in pixels
  int height = 720;
  Patience patience{std::chrono::seconds(120), {}};  ///< with each answer
};

/// A running browser; ends, and its profile folder with it, when the object does. Everything throws
/// an output error when the browser is gone or does not answer in time.
class HeadlessBrowser {
 public:
  /// Starts the browser with an empty page.
  explicit HeadlessBrowser(const BrowserOptions& options);
  ~HeadlessBrowser();
  HeadlessBrowser(const HeadlessBrowser&) = delete;
  HeadlessBrowser& operator=(const HeadlessBrowser&) = delete;

  /// Goes to an address and waits until the page has loaded.
  void open(const std::string& url);

  /// Changes the size of the window, in pixels.
  void resize(int width, int height);

  /// The value of a JavaScript expression as JSON, once its promise (if it is one) has settled.
  /// What the page throws becomes an error of kind `blame` with the page's message.
  Json evaluate(const std::string& expression, ErrorKind blame = ErrorKind::output);

  /// The window's content as a PNG file.
  Bytes screenshot();

  /// Errors and warnings this page has logged, oldest first; at most 20.
  const std::vector<std::string>& complaints() const { return m_complaints; }

  /// Waits no longer than this with each answer from now on.
  void set_patience(const Patience& patience) { m_patience = patience; }

  /// The browser's process, for tests.
  int process() const { return m_program->id(); }

  /// The folder of the temporary profile, for tests.
  const std::filesystem::path& profile() const { return m_profile.path; }

 private:
  /// A folder that is removed with the object.
  struct ProfileFolder {
    std::filesystem::path path;
    ProfileFolder();
    ~ProfileFolder();
    ProfileFolder(const ProfileFolder&) = delete;
    ProfileFolder& operator=(const ProfileFolder&) = delete;
  };

  Json call(const std::string& method, Json parameters = Json::object());
  void send(const Json& message, const Patience& patience);
  Json next_message(const std::string& awaited, std::chrono::steady_clock::time_point deadline);
  std::optional<std::string> take_message();
  void take_event(const Json& event);
  const std::string& text_of(const Json& answer, const char* key);
  void complain(std::string text);
  [[noreturn]] void fail(std::string_view problem);
  [[noreturn]] void fail_ended();

  ProfileFolder m_profile;
  std::optional<Subprocess> m_program;
  Patience m_patience;
  std::string m_session;
  int m_last_id = 0;
  size_t m_searched = 0;  ///< bytes of the input known to hold no end of a message
  bool m_loaded = false;
  std::vector<std::string> m_complaints;
};

/// Text of any origin on one line of at most 300 bytes.
std::string one_line(std::string_view text);

}  // namespace supple::viewer
