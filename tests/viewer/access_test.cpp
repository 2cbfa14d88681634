// Hosts, origins and tokens as text.
#include "viewer/access.h"

#include <gtest/gtest.h>

#include <set>

namespace supple::test {
namespace {

using namespace supple::viewer;

TEST(Access, TokensAreLongAndDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(random_token());
  EXPECT_EQ(tokens.size(), 100u);
  for (const std::string& token : tokens) EXPECT_EQ(token.size(), 32u);
}

TEST(Access, ComparesSecrets) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "bbc"));
  EXPECT_FALSE(same_secret("abc", "ab"));
}

TEST(Access, KnowsItsOwnHostOnLoopback) {
  const ListenAddress v4{"127.0.0.1", 8080};
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"})
    EXPECT_TRUE(is_own_host(host, v4)) << host;
  for (const char* host : {"",
                           "127.0.0.1",
                           "127.0.0.1:80",
                           "127.0.0.1:18080",
                           "127.0.0.1:08080",
                           "127.0.0.2:8080",
                           "evil.example:8080",
                           "127.0.0.1.evil.example:8080",
                           "localhost.:8080",
                           "localhost.evil.example:8080",
                           "user@127.0.0.1:8080",
                           "0.0.0.0:8080",
                           "192.168.1.1:8080",
                           "2130706433:8080",
                           "0x7f.1:8080",
                           "127.1:8080",
                           "[::1:8080",
                           "::1:8080",
                           "[]:8080",
                           ":8080",
                           "[127.0.0.1]:8080",
                           "127.0.0.1:8080, evil.example",
                           "127.0.0.1:8080 "})
    EXPECT_FALSE(is_own_host(host, v4)) << host;
  const ListenAddress v6{"::1", 8080};
  EXPECT_TRUE(is_own_host("[::1]:8080", v6));
  EXPECT_TRUE(is_own_host("[0:0::0:1]:8080", v6));
  EXPECT_TRUE(is_own_host("localhost:8080", v6));
  EXPECT_FALSE(is_own_host("127.0.0.1:8080", v6));
}

TEST(Access, TakesAddressesButNoNamesFromOtherMachines) {
  for (const char* bound : {"0.0.0.0", "::", "192.168.1.5"}) {
    const ListenAddress address{bound, 8080};
    for (const char* host : {"192.168.1.5:8080", "127.0.0.1:8080", "[fe80::1]:8080"})
      EXPECT_TRUE(is_own_host(host, address)) << host;
    for (const char* host : {"192.168.1.5:80", "192.168.1.5", "evil.example:8080", "localhost:8080",
                             "fe80::1:8080", "[fe80::1%eth0]:8080", "1.2.3:8080"})
      EXPECT_FALSE(is_own_host(host, address)) << host;
  }
}

TEST(Access, KnowsPort80WithoutItsNumber) {
  const ListenAddress address{"127.0.0.1", 80};
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost", "[::1]", "[::1]:80"})
    EXPECT_TRUE(is_own_host(host, address)) << host;
  for (const char* host : {"127.0.0.1:8080", "evil.example", "::1", "127.0.0.1:"})
    EXPECT_FALSE(is_own_host(host, address)) << host;
}

TEST(Access, RefusesRequests) {
  const ListenAddress address{"127.0.0.1", 8080};
  const RequestHead good{.method = "GET", .hosts = {"127.0.0.1:8080"}};
  EXPECT_EQ(refusal(good, address), std::nullopt);
  const auto changed = [&](auto change) {
    RequestHead head = good;
    change(head);
    return refusal(head, address).value_or(0);
  };
  EXPECT_EQ(changed([](RequestHead& head) { head.method = "HEAD"; }), 0u);
  EXPECT_EQ(changed([](RequestHead& head) { head.method = "POST"; }), 405u);
  EXPECT_EQ(changed([](RequestHead& head) { head.method = "get"; }), 405u);
  EXPECT_EQ(changed([](RequestHead& head) { head.has_body = true; }), 413u);
  EXPECT_EQ(changed([](RequestHead& head) { head.hosts = {}; }), 403u);
  EXPECT_EQ(changed([](RequestHead& head) { head.hosts.push_back(head.hosts[0]); }), 403u);
  EXPECT_EQ(changed([](RequestHead& head) { head.is_upgrade = true; }), 403u);

  const auto with_origin = [&](std::string_view origin) {
    return changed([&](RequestHead& head) { head.origins = {origin}; });
  };
  EXPECT_EQ(with_origin("http://127.0.0.1:8080"), 0u);
  for (const char* origin :
       {"", "null", "http://127.0.0.1", "https://127.0.0.1:8080", "http://localhost:8080",
        "http://127.0.0.1:8080.evil.example", "http://127.0.0.1:8080/", "http://evil.example"})
    EXPECT_EQ(with_origin(origin), 403u) << origin;
  EXPECT_EQ(changed([](RequestHead& head) {
              head.origins = {"http://127.0.0.1:8080", "http://evil.example"};
            }),
            403u);
}

}  // namespace
}  // namespace supple::test
