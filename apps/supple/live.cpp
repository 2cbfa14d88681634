#include "live.h"

#include "supple/core/log.h"

namespace supple::app {
namespace {

std::vector<std::unique_ptr<viewer::Exhibit>> one_exhibit(
    const std::filesystem::path& cache, std::shared_ptr<const viewer::LiveReport> report) {
  std::vector<std::unique_ptr<viewer::Exhibit>> exhibits;
  exhibits.push_back(std::make_unique<viewer::CacheExhibit>(cache, std::move(report)));
  return exhibits;
}

viewer::ServerOptions live_options(const ServingOptions& options) {
  viewer::ServerOptions result = server_options(options);
  result.live = true;
  return result;
}

}  // namespace

LiveView::LiveView(const std::filesystem::path& cache, const ServingOptions& options)
    : m_report(std::make_shared<viewer::LiveReport>()),
      m_server(one_exhibit(cache, m_report), live_options(options)) {
  announce(m_server, options);
}

void LiveView::frame(const FrameReport& report) {
  m_report->add(report);
  m_server.exhibits_changed();
}

void LiveView::finish(const std::string& status) {
  m_report->set_status(status);
  m_server.end_live();
}

void LiveView::wait(const InterruptGuard& guard) const {
  log_info("the page stays until it is closed; Ctrl-C ends it");
  serve(m_server, guard, true);
}

}  // namespace supple::app
