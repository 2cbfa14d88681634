#include "viewer/gallery.h"

#include <exception>
#include <new>

#include "supple/core/error.h"
#include "supple/core/version.h"

namespace supple::viewer {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view chunk_type = "application/octet-stream";

// The message of the exception being handled, in one line.
std::string current_problem() {
  std::string problem;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    problem = "there is not enough memory";
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "unknown failure";
  }
  for (char& c : problem)
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  return problem.empty() ? "unknown failure" : problem;
}

Answer json_answer(const Json& json, unsigned status = 200) {
  auto text = std::make_shared<const std::string>(json_text(json));
  return {status, json_type, *text, text};
}

Answer chunk_answer(Bytes chunk) {
  auto bytes = std::make_shared<const Bytes>(std::move(chunk));
  return {200, chunk_type, as_text(*bytes), bytes};
}

Availability availability_of(const Exhibit& exhibit) {
  try {
    return exhibit.availability();
  } catch (...) {
    return {0, "failed: " + current_problem()};
  }
}

// An exhibit that cannot be shown.
Json failed_exhibit(const Json& facts, const Json& error) {
  return {{"title", facts.value("title", Json(""))},
          {"file", facts.value("file", Json(""))},
          {"error", error}};
}

}  // namespace

Gallery::Gallery(std::vector<std::unique_ptr<Exhibit>> exhibits, bool live)
    : m_exhibits(std::move(exhibits)),
      m_ever_changed(m_exhibits.size(), false),
      m_unannounced(m_exhibits.size(), false),
      m_live(live) {
  for (const auto& exhibit : m_exhibits) m_known.push_back(availability_of(*exhibit));
}

Answer Gallery::answer(const Address& address) {
  constexpr unsigned not_found = 404, internal_error = 500;
  try {
    switch (address.place) {
      case Place::page:
        return {200, address.asset->media_type, address.asset->content, nullptr};
      case Place::exhibits: {
        refresh();
        Json list = Json::array();
        for (size_t i = 0; i < m_exhibits.size(); ++i) list.push_back(exhibit_json(i));
        return json_answer(
            {{"version", 1}, {"supple", version}, {"live", m_live}, {"exhibits", list}});
      }
      case Place::static_chunk:
        return chunk_answer(m_exhibits.at(index(address.exhibit))->static_chunk());
      case Place::report:
        return json_answer(m_exhibits.at(index(address.exhibit))->report(address.from_frame));
      case Place::socket:
        break;
    }
    return {not_found};
  } catch (...) {
    return json_answer({{"error", current_problem()}}, internal_error);
  }
}

Json Gallery::exhibit_json(size_t number) const {
  Json facts;
  try {
    facts = m_exhibits[number]->facts();
  } catch (...) {
    return failed_exhibit(Json::object(), current_problem());
  }
  if (!facts.is_object()) return failed_exhibit(Json::object(), "the exhibit has no facts");
  if (const auto error = facts.find("error"); error != facts.end() && !error->is_null())
    return failed_exhibit(facts, *error);
  facts["available"] = m_known[number].frames;
  facts["status"] = m_known[number].status;
  facts["error"] = nullptr;
  return facts;
}

FrameAnswer Gallery::frame(int exhibit, int frame) const {
  try {
    return {m_exhibits.at(index(exhibit))->frame_chunk(frame), {}};
  } catch (...) {
    return {{}, current_problem()};
  }
}

void Gallery::refresh() {
  for (size_t i = 0; i < m_exhibits.size(); ++i) {
    Availability now = availability_of(*m_exhibits[i]);
    if (now == m_known[i]) continue;
    m_known[i] = std::move(now);
    m_ever_changed[i] = true;
    m_unannounced[i] = true;
  }
}

std::vector<int> Gallery::changes() {
  refresh();
  std::vector<int> changed;
  for (size_t i = 0; i < m_exhibits.size(); ++i) {
    if (m_unannounced[i]) changed.push_back(static_cast<int>(i));
    m_unannounced[i] = false;
  }
  return changed;
}

}  // namespace supple::viewer
