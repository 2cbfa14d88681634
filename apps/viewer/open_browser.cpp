#include "viewer/open_browser.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace supple::viewer {
namespace {

bool has_desktop() {
#ifdef __APPLE__
  return true;
#else
  return std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY") || std::getenv("BROWSER");
#endif
}

// Becomes the opener, its output thrown away: browsers are talkative.
[[noreturn]] void become_opener(const char* url) {
  ::setsid();
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) ::dup2(nowhere, stream);
#ifdef __APPLE__
  ::execlp("open", "open", url, nullptr);
#else
  ::execlp("xdg-open", "xdg-open", url, nullptr);
  if (const char* browser = std::getenv("BROWSER")) ::execlp(browser, browser, url, nullptr);
#endif
  ::_exit(127);
}

}  // namespace

// The opener is a grandchild: it outlives this program when it wants to and leaves no zombie.
bool open_browser(const std::string& url) {
  if (!has_desktop()) return false;
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    const pid_t opener = ::fork();
    if (opener == 0) become_opener(url.c_str());
    ::_exit(opener < 0 ? 1 : 0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace supple::viewer
