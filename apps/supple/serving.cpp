#include "serving.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "arguments.h"
#include "supple/core/log.h"
#include "viewer/open_browser.h"

namespace supple::app {

void add_serving_options(CLI::App& command, ServingOptions& options) {
  command.add_option("--port", options.port, "Port to serve the page on; 0 for any free one.")
      ->check(number_between(0, 65535))
      ->type_name("PORT");
  command
      .add_option("--bind", options.address,
                  "IP address to serve on; other machines can connect when it is not the default.")
      ->check(CLI::ValidIPV4)
      ->type_name("ADDRESS");
  command.add_flag("--no-open", options.no_open, "Do not open a browser, only say the address.");
}

viewer::ServerOptions server_options(const ServingOptions& options) {
  viewer::ServerOptions result;
  result.address = options.address;
  result.port = static_cast<uint16_t>(options.port);
  return result;
}

void announce(const viewer::Server& server, const ServingOptions& options) {
  std::printf("%s\n", server.url().c_str());
  std::fflush(stdout);
  if (options.address != "127.0.0.1")
    log_warning("whoever knows this address can see what is shown");
  if (options.no_open) return;
  if (!viewer::open_browser(server.url()))
    log_info("no desktop found: open the address in a browser yourself");
}

void serve(const viewer::Server& server, const InterruptGuard& guard, bool until_closed) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds reload_time{3};  // a page that is reloaded is gone for a moment
  Clock::time_point last_open = Clock::now();
  while (!guard.interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (server.page_count() > 0) last_open = Clock::now();
    if (until_closed && server.visit_count() > 0 && Clock::now() - last_open > reload_time) return;
  }
}

}  // namespace supple::app
