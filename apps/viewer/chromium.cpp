#include "viewer/chromium.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/io/gltf_document.h"

namespace supple::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int to_browser = 3, from_browser = 4;
constexpr size_t max_message_bytes = size_t{1} << 30;
constexpr size_t max_complaints = 20;

// A picture must not depend on the machine, the user's settings or the network.
std::vector<std::string> command_line(const std::string& program, const BrowserOptions& options,
                                      const std::filesystem::path& profile) {
  std::vector<std::string> command = {
      program, "--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile.string(),
      fmt::format("--window-size={},{}", options.width, options.height), "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader", "--force-color-profile=srgb", "--force-device-scale-factor=1",
      "--hide-scrollbars", "--mute-audio", "--no-first-run", "--no-default-browser-check",
      "--no-proxy-server",
      // The page around the 3D view is cheaper to draw without a graphics card in software.
      "--disable-accelerated-2d-canvas", "--disable-gpu-compositing",
      "--disable-background-networking", "--disable-background-timer-throttling",
      "--disable-backgrounding-occluded-windows", "--disable-breakpad",
      "--disable-component-update", "--disable-default-apps", "--disable-dev-shm-usage",
      "--disable-extensions", "--disable-renderer-backgrounding", "--disable-sync",
      "--password-store=basic"};
  // Chromium refuses to sandbox pages of the superuser.
  if (::geteuid() == 0) command.push_back("--no-sandbox");
  command.push_back("about:blank");
  return command;
}

// A user without a home of their own (a service, a farm) gets the profile as one: the browser's
// crash handler insists on writing there.
std::vector<std::pair<std::string, std::string>> environment_for(
    const std::filesystem::path& profile) {
  const char* home = std::getenv("HOME");
  if (home && ::access(home, W_OK) == 0) return {};
  return {{"HOME", profile.string()}};
}

// A member of an object as text, or as an object; empty when it is not that.
std::string text_in(const Json& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

const Json& member_of(const Json& object, const char* key) {
  static const Json none = Json::object();
  const auto member = object.is_object() ? object.find(key) : object.end();
  return member != object.end() ? *member : none;
}

// "Error: text\n    at file:1:2" without the kind in front and the places behind.
std::string page_message(const Json& details) {
  const Json& exception = member_of(details, "exception");
  std::string text = text_in(exception, "description");
  if (text.empty()) text = text_in(exception, "value");
  if (text.empty()) text = text_in(details, "text");
  text.resize(std::min(text.find("\n    at "), text.size()));
  if (text.starts_with("Error: ")) text.erase(0, 7);
  return one_line(text);
}

// The texts of a console message's arguments.
std::string console_text(const Json& arguments) {
  std::string text;
  for (const Json& argument : arguments) {
    if (!text.empty()) text += ' ';
    const std::string value = text_in(argument, "value");
    text += value.empty() ? text_in(argument, "description") : value;
  }
  return text;
}

// The last line a program has written that is not empty.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return one_line(text.substr(text.rfind('\n') + 1));
}

}  // namespace

std::string one_line(std::string_view text) {
  constexpr size_t limit = 300;
  std::string line;
  for (const char c : text.substr(0, limit))
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  // A character of UTF-8 is kept whole or not at all.
  if (text.size() > limit) {
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xc0) == 0x80)
      line.pop_back();
    if (!line.empty() && static_cast<unsigned char>(line.back()) >= 0xc0) line.pop_back();
    line += "...";
  }
  return line;
}

std::string find_browser() {
  if (const char* chosen = std::getenv("SUPPLE_BROWSER"); chosen && *chosen) {
    if (const auto path = find_program(chosen)) return *path;
    throw Error(ErrorKind::output,
                fmt::format("pictures need a browser: SUPPLE_BROWSER names '{}', which is not a "
                            "program that can be run",
                            one_line(chosen)));
  }
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
                           "chrome", "chrome-headless-shell"})
    if (const auto path = find_program(name)) return *path;
  throw Error(ErrorKind::output,
              "pictures need Chromium, which is not installed (apt install chromium); "
              "SUPPLE_BROWSER can name another place");
}

HeadlessBrowser::ProfileFolder::ProfileFolder() {
  std::error_code code;
  std::string name =
      (std::filesystem::temp_directory_path(code) / "supple-browser-XXXXXX").string();
  if (code || !::mkdtemp(name.data()))
    throw_output_error(name, code ? code.message() : std::generic_category().message(errno));
  path = name;
}

// Killed processes vanish a little later than they are told to, and may still add a file.
HeadlessBrowser::ProfileFolder::~ProfileFolder() {
  std::error_code code;
  for (int i = 0; i < 50; ++i) {
    std::filesystem::remove_all(path, code);
    if (!std::filesystem::exists(path, code)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  log_warning("cannot remove the folder {}", path.string());
}

HeadlessBrowser::HeadlessBrowser(const BrowserOptions& options) : m_patience(options.patience) {
  const std::string program = options.program.empty() ? find_browser() : options.program;
  m_program.emplace(ProgramStart{command_line(program, options, m_profile.path),
                                 {PipeUse::nothing, PipeUse::nothing, PipeUse::last_words,
                                  PipeUse::to_program, PipeUse::from_program},
                                 environment_for(m_profile.path)});
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  const Json session =
      call("Target.attachToTarget", {{"targetId", text_of(target, "targetId")}, {"flatten", true}});
  m_session = text_of(session, "sessionId");
  for (const char* domain : {"Page", "Runtime", "Log", "Inspector"})
    call(std::string(domain) + ".enable");
  resize(options.width, options.height);
}

// Asks the browser to end, so that it can tidy up, and kills it when it takes long.
HeadlessBrowser::~HeadlessBrowser() {
  try {
    const Patience brief{std::chrono::seconds(2), {}};
    send({{"id", ++m_last_id}, {"method", "Browser.close"}}, brief);
    m_program->wait(brief);
  } catch (const std::exception&) {
  }
  m_program.reset();
}

void HeadlessBrowser::open(const std::string& url) {
  m_loaded = false;
  m_complaints.clear();
  const Json answer = call("Page.navigate", {{"url", url}});
  if (const std::string problem = text_in(answer, "errorText"); !problem.empty())
    throw Error(ErrorKind::output,
                fmt::format("the browser cannot open {}: {}", one_line(url), one_line(problem)));
  const auto deadline = Clock::now() + m_patience.limit;
  while (!m_loaded) take_event(next_message("the page to load", deadline));
}

void HeadlessBrowser::resize(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

Json HeadlessBrowser::evaluate(const std::string& expression, ErrorKind blame) {
  Json answer = call("Runtime.evaluate", {{"expression", expression},
                                          {"awaitPromise", true},
                                          {"returnByValue", true},
                                          {"userGesture", true}});
  if (const auto details = answer.find("exceptionDetails"); details != answer.end())
    throw Error(blame, page_message(*details));
  const auto result = answer.find("result");
  if (result == answer.end() || !result->contains("value")) return {};
  return std::move((*result)["value"]);
}

Bytes HeadlessBrowser::screenshot() {
  const Json answer = call("Page.captureScreenshot", {{"format", "png"}});
  const JsonField field(answer, "the browser's picture");
  return decode_base64(text_of(answer, "data"), field["data"]);
}

// Sends a command to the page (to the browser itself before there is one) and returns its result.
Json HeadlessBrowser::call(const std::string& method, Json parameters) {
  Json message = {{"id", ++m_last_id}, {"method", method}, {"params", std::move(parameters)}};
  if (!m_session.empty()) message["sessionId"] = m_session;
  const int id = m_last_id;
  send(message, m_patience);
  const auto deadline = Clock::now() + m_patience.limit;
  while (true) {
    Json answer = next_message(method, deadline);
    if (const auto answered = answer.find("id"); answered == answer.end() || *answered != id) {
      take_event(answer);
      continue;
    }
    if (const auto error = answer.find("error"); error != answer.end())
      fail(fmt::format("refuses {}: {}", method, one_line(error->dump())));
    Json& result = answer["result"];
    if (!result.is_object()) fail(fmt::format("sends no result of {}", method));
    return std::move(result);
  }
}

// A text that an answer must hold.
const std::string& HeadlessBrowser::text_of(const Json& answer, const char* key) {
  const auto member = answer.find(key);
  if (member == answer.end() || !member->is_string()) fail(fmt::format("sends no {}", key));
  return member->get_ref<const std::string&>();
}

void HeadlessBrowser::send(const Json& message, const Patience& patience) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!m_program->send(to_browser, as_bytes({text.c_str(), text.size() + 1}), patience))
    fail_ended();
}

// The next message of the browser, whatever it is about.
Json HeadlessBrowser::next_message(const std::string& awaited, Clock::time_point deadline) {
  while (true) {
    if (const auto text = take_message()) {
      Json message = Json::parse(*text, nullptr, false);
      if (message.is_object()) return message;
      fail("sends what is not a message");
    }
    if (m_program->received(from_browser).size() > max_message_bytes) fail("sends too much");
    if (m_program->ended(from_browser)) fail_ended();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      fail(fmt::format("does not answer for {:.3g} s ({})", m_patience.limit.count() / 1e3,
                       awaited));
    m_program->receive({left, m_patience.check});
  }
}

// A message that has arrived whole. Long ones arrive in many pieces; each byte is looked at once.
std::optional<std::string> HeadlessBrowser::take_message() {
  Bytes& input = m_program->received(from_browser);
  const void* end = input.size() > m_searched
                        ? std::memchr(input.data() + m_searched, 0, input.size() - m_searched)
                        : nullptr;
  if (!end) {
    m_searched = input.size();
    return std::nullopt;
  }
  const auto length = static_cast<size_t>(static_cast<const std::byte*>(end) - input.data());
  std::string message(as_text(ByteView(input).first(length)));
  input.erase(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(length + 1));
  m_searched = 0;
  return message;
}

void HeadlessBrowser::take_event(const Json& event) {
  const std::string method = text_in(event, "method");
  const Json& parameters = member_of(event, "params");
  if (method == "Page.loadEventFired") {
    m_loaded = true;
  } else if (method == "Inspector.targetCrashed") {
    fail("has lost its page (too little memory?)");
  } else if (method == "Runtime.exceptionThrown") {
    complain(page_message(member_of(parameters, "exceptionDetails")));
  } else if (method == "Runtime.consoleAPICalled") {
    const std::string type = text_in(parameters, "type");
    if (type == "error" || type == "warning" || type == "assert")
      complain(console_text(member_of(parameters, "args")));
  } else if (method == "Log.entryAdded") {
    const Json& entry = member_of(parameters, "entry");
    const std::string url = text_in(entry, "url");
    if (text_in(entry, "level") == "error")
      complain(text_in(entry, "text") + (url.empty() ? "" : " (" + url + ")"));
  }
}

void HeadlessBrowser::complain(std::string text) {
  text = one_line(text);
  log_debug("page: {}", text);
  if (m_complaints.size() < max_complaints) m_complaints.push_back(std::move(text));
}

// The browser is of no more use: says why, with what the page said last.
void HeadlessBrowser::fail(std::string_view problem) {
  throw Error(ErrorKind::output,
              fmt::format("the browser ({}) {}{}", m_program->name(), problem,
                          m_complaints.empty() ? "" : "; the page says: " + m_complaints.back()));
}

// The browser is gone: says so, with its last words, which may take a moment to arrive.
void HeadlessBrowser::fail_ended() {
  m_program->wait({std::chrono::seconds(1), {}});
  const std::string words = last_line(as_text(m_program->received(2)));
  fail(words.empty() ? "has ended" : "has ended; it says: " + words);
}

}  // namespace supple::viewer
