// Strangers and broken clients over HTTP: refused, and the server lives on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>

#include "served.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using namespace std::chrono_literals;
using viewer::ServerOptions;

// The status of the answer to these bytes, 0 when there is none. The client sends nothing after.
int status_of(const PageAddress& page, const std::string& bytes) {
  RawClient client(page.port);
  client.send(bytes);
  client.end_sending();
  return client.answer(false).status;
}

std::string get(const PageAddress& page, const std::string& target) {
  return request_text(page, target);
}

TEST(Attack, WrongTokens) {
  const Served served;
  const PageAddress& page = *served.page;
  std::string wrong = page.token;
  wrong[31] = wrong[31] == '0' ? '1' : '0';
  std::string upper = page.token + "g";
  for (const std::string& target :
       {"/" + wrong + "/", "/" + upper + "/", "/" + page.token.substr(1) + "/", std::string("/"),
        std::string("/app.js"), std::string("/exhibits.json"), std::string("//"),
        "/x/" + page.token + "/", "/" + page.token, "//" + page.token + "/",
        "/" + wrong + "/socket"}) {
    RawClient client(page.port);
    client.send(get(page, target));
    const HttpAnswer answer = client.answer();
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.body, "") << "not a word about why";
  }
  EXPECT_EQ(
      RawSocket(page, "/" + wrong + "/socket", fmt::format("Origin: http://{}\r\n", page.host))
          .handshake.status,
      404);
  served.expect_alive();
}

TEST(Attack, ForeignHostsAndOrigins) {
  const Served served;
  const PageAddress& page = *served.page;
  const auto with_host = [&](const std::string& line) {
    return status_of(page, "GET " + page.path() + " HTTP/1.1\r\n" + line + "\r\n");
  };
  EXPECT_EQ(with_host(fmt::format("Host: 127.0.0.1:{}\r\n", page.port)), 200);
  EXPECT_EQ(with_host(fmt::format("Host: localhost:{}\r\n", page.port)), 200);
  EXPECT_EQ(with_host(""), 403);
  EXPECT_EQ(with_host("Host: evil.example\r\n"), 403);
  EXPECT_EQ(with_host(fmt::format("Host: evil.example:{}\r\n", page.port)), 403);
  EXPECT_EQ(with_host("Host: 127.0.0.1\r\n"), 403);
  EXPECT_EQ(with_host(fmt::format("Host: {}\r\nHost: evil.example\r\n", page.host)), 403);

  EXPECT_EQ(fetch(page, "", fmt::format("Origin: http://{}\r\n", page.host)).status, 200);
  for (const std::string origin : {"http://evil.example", "null", "http://127.0.0.1", "",
                                   "http://localhost:1", "https://127.0.0.1"}) {
    EXPECT_EQ(fetch(page, "", "Origin: " + origin + "\r\n").status, 403) << origin;
    EXPECT_EQ(RawSocket(page, page.path("socket"), "Origin: " + origin + "\r\n").handshake.status,
              403)
        << origin;
  }
  EXPECT_EQ(RawSocket(page, page.path("socket"), "").handshake.status, 403)
      << "a socket needs an origin";
  EXPECT_EQ(served.server->page_count(), 0);
  served.expect_alive();
}

TEST(Attack, PathsToOtherFiles) {
  const Served served;
  const PageAddress& page = *served.page;
  for (const std::string rest : {"../../../etc/passwd",
                                 "..%2f..%2fetc%2fpasswd",
                                 "%2e%2e/%2e%2e/etc/passwd",
                                 "%252e%252e%252fetc%252fpasswd",
                                 "..\\..\\etc\\passwd",
                                 "..%5c..%5cetc%5cpasswd",
                                 "/etc/passwd",
                                 "//etc/passwd",
                                 "file:///etc/passwd",
                                 "./app.js",
                                 "app.js/",
                                 "app.js/../app.js",
                                 "app.js%00.html",
                                 "exhibits/0/../../app.js",
                                 "exhibits/0/index.json",
                                 "exhibits/0/frames/1001.chunk",
                                 "exhibits/0/..%2findex.json",
                                 "%61pp.js",
                                 "\xc0\xae\xc0\xae/etc/passwd",
                                 "exhibits/1/static.chunk",
                                 "exhibits/-1/static.chunk",
                                 "exhibits/00/static.chunk",
                                 "exhibits/99999999999999999999/static.chunk",
                                 "socket"}) {
    const int status = status_of(page, get(page, page.path(rest)));
    EXPECT_TRUE(status == 404 || status == 400) << rest << ": " << status;
  }
  served.expect_alive();
}

TEST(Attack, OtherMethodsAndBodies) {
  const Served served;
  const PageAddress& page = *served.page;
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH",
                                   "PROPFIND", "BREW", "get"}) {
    RawClient client(page.port);
    client.send(request_text(page, page.path(), "", method));
    const HttpAnswer answer = client.answer();
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.header("allow"), "get, head") << method;
  }
  EXPECT_EQ(fetch(page, "", "Content-Length: 5\r\n\r\nhello").status, 413);
  EXPECT_EQ(fetch(page, "", "Content-Length: 99999999999999\r\n").status, 413);
  EXPECT_EQ(fetch(page, "", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello").status, 413);
  EXPECT_EQ(fetch(page, "", "Content-Length: 0\r\n").status, 200);
  for (const std::string headers :
       {"Content-Length: -1\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 184467440737095516160\r\n"}) {
    const int status = fetch(page, "", headers).status;
    EXPECT_TRUE(status == 400 || status == 413) << headers << status;
  }
  // A body goes on being sent: the answer arrives, then the connection is cut.
  RawClient client(page.port);
  client.send(request_text(page, page.path(), "Content-Length: 1000000000\r\n"));
  const std::string body(1 << 16, 'x');
  for (int i = 0; i < 20; ++i) client.send(body);
  EXPECT_EQ(client.answer().status, 413);
  EXPECT_TRUE(client.sees_the_end());
  served.expect_alive();
}

TEST(Attack, OversizedHeaders) {
  const Served served;
  const PageAddress& page = *served.page;
  EXPECT_EQ(fetch(page, "", "X: " + std::string(7000, 'x') + "\r\n").status, 200);
  EXPECT_EQ(fetch(page, "", "X: " + std::string(9000, 'x') + "\r\n").status, 431);
  EXPECT_EQ(fetch(page, "", "X: " + std::string(5 << 20, 'x') + "\r\n").status, 431);
  EXPECT_EQ(status_of(page, get(page, page.path(std::string(20000, 'x')))), 431);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "a:\r\n";
  EXPECT_EQ(fetch(page, "", many).status, 431);
  served.expect_alive();
}

TEST(Attack, MalformedRequests) {
  const Served served;
  const PageAddress& page = *served.page;
  const std::string host = "Host: " + page.host + "\r\n\r\n";
  for (const std::string& bytes :
       {std::string("\r\n\r\n\r\n\r\nhello\r\n\r\n"), std::string(100, '\0'),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), "GET\r\n" + host,
        "GET " + page.path() + "\r\n" + host, "GET " + page.path() + " HTTP/9.9\r\n" + host,
        "GET  HTTP/1.1\r\n" + host, "GET " + page.path() + " HTTP/1.1\r\nno colon\r\n" + host,
        "GET " + page.path() + " HTTP/1.1\r\n: empty\r\n" + host,
        "GET " + page.path() + " HTTP/1.1\r\nA\x01: b\r\n" + host}) {
    const int status = status_of(page, bytes);
    EXPECT_TRUE(status == 400 || status == 0) << printable(bytes) << ": " << status;
  }
  served.expect_alive();
}

// Nothing but the page itself may come of a damaged request.
TEST(Attack, RandomDamage) {
  const Served served;
  const PageAddress& page = *served.page;
  const std::string good = request_text(page, page.path("exhibits.json"), "Accept: */*\r\n");
  std::mt19937 random(5);
  for (int i = 0; i < 300 * soak_factor(); ++i) {
    std::string bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const int status = status_of(page, bytes);
    EXPECT_TRUE(status == 0 || status == 200 || (status >= 400 && status < 500)) << status;
  }
  served.expect_alive();
}

// Bytes that come one by one do not extend the time a request may take.
TEST(Attack, SlowLoris) {
  ServerOptions options = Served::quick_options();
  options.request_timeout = 300ms;
  const Served served(1, options);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(served.page->port);
  const std::string request = get(*served.page, served.page->path());
  for (size_t sent = 0; sent < 9; ++sent) {
    for (RawClient& client : clients) client.send(request.substr(sent, 1));
    std::this_thread::sleep_for(30ms);
  }
  served.expect_alive();  // meanwhile
  for (RawClient& client : clients) EXPECT_TRUE(client.sees_the_end());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 2.0);
  // The same for a connection that has asked before and says nothing more.
  RawClient idle(served.page->port);
  idle.send(request);
  EXPECT_EQ(idle.answer().status, 200);
  EXPECT_TRUE(idle.sees_the_end());
}

TEST(Attack, AnswersThatAreNotRead) {
  ServerOptions options = Served::quick_options();
  options.write_timeout = 300ms;
  options.max_connections = 4;
  Served served(1, options);
  served.state().static_bytes = 16 << 20;
  std::vector<RawClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(served.page->port, 4096);
    clients.back().send(get(*served.page, served.page->path("exhibits/0/static.chunk")));
  }
  EXPECT_TRUE(comes_true([&] { return fetch(*served.page, "").status == 200; }));
  for (RawClient& client : clients) EXPECT_LT(client.rest().size(), 16u << 20);
  served.expect_alive();
}

TEST(Attack, ManyConnections) {
  ServerOptions options = Served::quick_options();
  options.max_connections = 8;
  const Served served(1, options);
  std::vector<RawClient> clients;
  int turned_away = 0;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(served.page->port);
    clients.back().patience = i < 8 ? 0ms : 2000ms;
    const HttpAnswer answer = clients.back().answer();
    turned_away += answer.status == 503;
    if (answer.status == 503) {
      EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
    }
  }
  EXPECT_EQ(turned_away, 32);
  clients.clear();
  EXPECT_TRUE(comes_true([&] { return fetch(*served.page, "").status == 200; }));
  served.expect_alive();
}

TEST(Attack, ConnectionsThatVanish) {
  Served served;
  served.state().static_bytes = 4 << 20;
  for (int i = 0; i < 50; ++i) {
    RawClient client(served.page->port);
    if (i % 5 != 0) client.send(get(*served.page, served.page->path("exhibits/0/static.chunk")));
    if (i % 5 == 1) client.has(1000);
    i % 2 ? client.reset() : client.close();
  }
  served.expect_alive();
}

// Without a file descriptor left a connection waits until there is one.
TEST(Attack, NoFilesLeft) {
  const Served served;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = dup(0);
  close(next);
  const rlimit tight{static_cast<rlim_t>(next) + 1, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &tight);
  RawClient client(served.page->port);
  client.send(get(*served.page, served.page->path()));
  client.patience = 150ms;
  EXPECT_EQ(client.answer().status, 0);
  setrlimit(RLIMIT_NOFILE, &before);
  client.patience = 5000ms;
  EXPECT_EQ(client.answer().status, 200);
  served.expect_alive();
}

TEST(Attack, EveryAnswerGuardsThePage) {
  const Served served;
  const PageAddress& page = *served.page;
  std::vector<HttpAnswer> answers = {
      fetch(page, ""), fetch(page, "x"), fetch(page, "exhibits.json"),
      fetch(page, "exhibits/0/report.json?from=13"), fetch(page, "", "Origin: null\r\n"),
      fetch(page, "", "Content-Length: 5\r\n"), fetch(page, "", "bad\r\n"),
      fetch(page, "", "X: " + std::string(9000, 'x') + "\r\n"), RawSocket(page).handshake,
      // An upgrade without a key.
      fetch(page, "socket",
            fmt::format("Origin: http://{}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n",
                        page.host))};
  const int statuses[] = {200, 404, 200, 500, 403, 413, 400, 431, 101, 400};
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].status, statuses[i]);
    EXPECT_EQ(answers[i].header("content-security-policy"),
              "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; "
              "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    EXPECT_EQ(answers[i].header("x-content-type-options"), "nosniff");
    EXPECT_EQ(answers[i].header("referrer-policy"), "no-referrer");
    EXPECT_EQ(answers[i].header("cache-control"), "no-store");
    EXPECT_EQ(answers[i].header("cross-origin-resource-policy"), "same-origin");
    EXPECT_EQ(answers[i].header("access-control-allow-origin"), "");
  }
}

}  // namespace
}  // namespace supple::test
