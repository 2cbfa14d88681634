// What `view` and `simulate --live` share: where the page is served and how long.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "interrupt.h"
#include "viewer/server.h"

namespace supple::app {

/// Where the page is served and whether a browser is opened.
struct ServingOptions {
  std::string address = "127.0.0.1";
  int port = 0;
  bool no_open = false;
};

/// Adds --port, --bind and --no-open to a command.
void add_serving_options(CLI::App& command, ServingOptions& options);

/// The server's options for these.
viewer::ServerOptions server_options(const ServingOptions& options);

/// Says where the page is, and opens it in the browser unless that is not wanted.
void announce(const viewer::Server& server, const ServingOptions& options);

/// Serves until a signal arrives or, with `until_closed`, the last page that was opened is gone.
void serve(const viewer::Server& server, const InterruptGuard& guard, bool until_closed);

}  // namespace supple::app
