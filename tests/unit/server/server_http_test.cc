// Heads of requests, addresses, tokens, and what the router answers before and after any handler.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <thread>

#include "apps/server/http/listen.h"
#include "apps/server/http/request_head.h"
#include "apps/server/jobs/digest.h"
#include "poet/base/error.h"
#include "tests/support/input_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/server.h"

namespace poet::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int refused_of(const std::string& head) {
  const std::optional<RequestHead> read = request_head(head);
  EXPECT_TRUE(read) << head;
  return read ? read->refused : -1;
}

/// A request with these fields.
int refused_with(const std::string& fields) {
  return refused_of("POST /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
}

TEST(RequestHead, IsNothingUntilItIsWhole) {
  const std::string request = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  const std::size_t head = request.size() - 3;
  for (std::size_t size = 0; size < head; ++size) EXPECT_FALSE(request_head(request.substr(0, size))) << size;
  for (std::size_t size = head; size <= request.size(); ++size) {
    const RequestHead read = request_head(request.substr(0, size)).value();
    EXPECT_EQ(read.size, head);
    EXPECT_EQ(read.body, 3U);
    EXPECT_EQ(read.refused, 0);
    EXPECT_FALSE(read.awaits_continue);
  }
}

TEST(RequestHead, TakesWhatProgramsSay) {
  EXPECT_EQ(refused_of("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(refused_of("GET /a?b=%20#c HTTP/1.1\r\nX:\r\nY: \t a b \t\r\nZ: \xc3\xa9\r\n\r\n"), 0);
  EXPECT_EQ(refused_with("content-length: 007\r\n"), 0);
}

TEST(RequestHead, RefusesLinesThatAreNoRequest) {
  for (const char* line : {"GET", "GET /", "GET  HTTP/1.1", " GET / HTTP/1.1", "GET / a HTTP/1.1",
                           "G\tT / HTTP/1.1", "GET x HTTP/1.1", "GET http://a/ HTTP/1.1", "* / HTTP/1.1 ",
                           "GET /\x80 HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\t HTTP/1.1", "G(T / HTTP/1.1"})
    EXPECT_EQ(refused_of(std::string(line) + "\r\n\r\n") == 0, false) << line;
  EXPECT_EQ(refused_of(std::string("GET /\0 HTTP/1.1\r\n\r\n", 19)), 400);
  EXPECT_EQ(refused_of("GET / HTTP/1.1\nHost: a\r\n\r\n"), 400);
  for (const char* version : {"HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", "HTTP/1.1x", "SIP/2.0"})
    EXPECT_EQ(refused_of("GET / " + std::string(version) + "\r\n\r\n"), 505) << version;
}

TEST(RequestHead, RefusesFieldsThatOtherReadersUnderstandOtherwise) {
  EXPECT_EQ(refused_with("A: b\r\n c\r\n"), 400) << "a folded line";
  EXPECT_EQ(refused_with("A: b\r\n\tc: d\r\n"), 400) << "a folded line";
  EXPECT_EQ(refused_with("Content-Length : 3\r\n"), 400);
  EXPECT_EQ(refused_with(": 3\r\n"), 400);
  EXPECT_EQ(refused_with("no colon\r\n"), 400);
  EXPECT_EQ(refused_with("A: b\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(refused_with("A: b\rC: d\r\n"), 400);
  EXPECT_EQ(refused_with(std::string("A: b\0c\r\n", 8)), 400);
  EXPECT_EQ(refused_with("\xc3\xa9: b\r\n"), 400);
}

TEST(RequestHead, KnowsOneLengthOfTheBody) {
  EXPECT_EQ(refused_with("Content-Length: 3\r\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(refused_with("Content-Length: 3\r\ncontent-length: 4\r\n"), 400);
  for (const char* length : {"", "-1", "+3", "3, 3", "3 3", "0x3", "1e3", "three", "3.0",
                             "18446744073709551616", "9999999999999999999999"})
    EXPECT_EQ(refused_with("Content-Length: " + std::string(length) + "\r\n"), 400) << length;
  EXPECT_EQ(request_head("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n")->body,
            18446744073709551615U);
  for (const char* coding : {"chunked", "identity", "gzip, chunked", ""})
    EXPECT_EQ(refused_with("Transfer-Encoding: " + std::string(coding) + "\r\n"), 411) << coding;
  EXPECT_EQ(refused_with("Content-Length: 3\r\nTRANSFER-ENCODING: chunked\r\n"), 411);
}

TEST(RequestHead, RefusesTwoFieldsThatDecideWhoAsks) {
  EXPECT_EQ(refused_with("Host: b\r\n"), 400);
  EXPECT_EQ(refused_with("hOST: a\r\n"), 400) << "even of the same host";
  for (const char* name : {"Authorization", "Origin", "Referer", "Sec-Fetch-Site", "Content-Type"}) {
    const std::string field = std::string(name) + ": x\r\n";
    EXPECT_EQ(refused_with(field), 0) << name;
    EXPECT_EQ(refused_with(field + field), 400) << name;
  }
  EXPECT_EQ(refused_with("Accept: a\r\nAccept: b\r\n"), 0);
}

TEST(RequestHead, RefusesBodiesThatAreToBeUnpacked) {
  for (const char* coding : {"gzip", "br", "deflate", "identity, gzip", ""})
    EXPECT_EQ(refused_with("Content-Encoding: " + std::string(coding) + "\r\n"), 415) << coding;
  EXPECT_EQ(refused_with("Content-Encoding: Identity\r\n"), 0);
}

TEST(RequestHead, SaysWhoWaitsBeforeTheBody) {
  const std::string request =
      "POST / HTTP/1.1\r\nHost: a\r\nexpect: 100-continue\r\nContent-Length: 3\r\n\r\nab";
  const RequestHead head = request_head(request).value();
  EXPECT_TRUE(head.awaits_continue);
  EXPECT_EQ(without_expect(request, head.size), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
}

TEST(ServerAddress, IsNumbers) {
  const auto read = [](const std::string& text) {
    const Address address = parse_address("--listen", text);
    return address.host + " " + std::to_string(address.port);
  };
  EXPECT_EQ(read("127.0.0.1:8080"), "127.0.0.1 8080");
  EXPECT_EQ(read(":0"), "127.0.0.1 0");
  EXPECT_EQ(read("localhost:80"), "127.0.0.1 80");
  EXPECT_EQ(read("LocalHost:80"), "127.0.0.1 80");
  EXPECT_EQ(read("[::1]:65535"), "::1 65535");
  EXPECT_EQ(read("0.0.0.0:1"), "0.0.0.0 1");
  for (const char* text :
       {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
        "127.0.0.1:80 ", " 127.0.0.1:80", "127.1:80", "poet.example:80", "[::1:80", "[]:80", "[:80", "]:80",
        "256.0.0.1:80", "http://127.0.0.1:80", "127.0.0.1:0x50"})
    EXPECT_THAT(test::input_error([&] { (void)parse_address("--listen", text); }), HasSubstr("--listen: "))
        << text;
  EXPECT_TRUE(is_loopback({"127.0.0.1", 0}) && is_loopback({"127.8.9.1", 0}) && is_loopback({"::1", 0}));
  EXPECT_FALSE(is_loopback({"0.0.0.0", 0}) || is_loopback({"::", 0}) || is_loopback({"10.0.0.1", 0}));
  EXPECT_EQ(url_of({"::1", 80}), "http://[::1]:80");
}

TEST(ServerAddress, OfAClientIsOneForAllThatItMayHave) {
  const auto read = [](int family, const char* text) {
    sockaddr_storage peer{};
    peer.ss_family = static_cast<sa_family_t>(family);
    void* address = family == AF_INET ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(peer).sin_addr)
                                      : &reinterpret_cast<sockaddr_in6&>(peer).sin6_addr;
    EXPECT_EQ(inet_pton(family, text, address), 1) << text;
    return client_at(peer);
  };
  EXPECT_EQ(read(AF_INET, "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(read(AF_INET, "127.1.2.3"), "127.0.0.1");
  EXPECT_EQ(read(AF_INET, "10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(read(AF_INET6, "::1"), "::1");
  EXPECT_EQ(read(AF_INET6, "::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(read(AF_INET6, "::ffff:127.0.0.9"), "127.0.0.1");
  EXPECT_EQ(read(AF_INET6, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(read(AF_INET6, "2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(read(AF_INET6, "2001:db8:1:3::9"), "2001:db8:1:3::/64");
}

TEST(ServerAddress, ThatIsTakenIsNamed) {
  Address address{"127.0.0.1", 0};
  const int listening = listen_at(address);
  EXPECT_GT(address.port, 0);
  Address again = address;
  EXPECT_THAT(test::input_error([&] { (void)listen_at(again); }),
              HasSubstr(url_of(address) + ": cannot listen"));
  close(listening);
}

/// For its owner alone.
std::filesystem::path write_private(const test::ScratchFolder& folder, const char* name,
                                    const std::string& text) {
  std::filesystem::path file = folder.write(name, text);
  std::filesystem::permissions(file, std::filesystem::perms{0600});
  return file;
}

TEST(ServerTokens, AreReadFromLines) {
  const test::ScratchFolder folder;
  const auto file =
      write_private(folder, "tokens", "# who\n\n  ann \t 0123456789abcdef \r\nbob fedcba9876543210\n");
  const Tokens tokens = read_tokens(file);
  EXPECT_THAT(tokens, testing::UnorderedElementsAre(testing::Pair(digest("0123456789abcdef"), "ann"),
                                                    testing::Pair(digest("fedcba9876543210"), "bob")));
  const auto said = [&](const std::string& text) {
    return test::input_error([&] { (void)read_tokens(write_private(folder, "wrong", text)); });
  };
  EXPECT_THAT(said("a 0123456789abcdef\nann\n"), HasSubstr("wrong:2: must be a name and a token"));
  EXPECT_THAT(said("ann 0123456789abcdef x\n"), HasSubstr("wrong:1: must be"));
  EXPECT_THAT(said("ann 0123456789abcde\n"), HasSubstr("at least 16"));
  EXPECT_THAT(said("ann 0123456789abcdef\nbob 0123456789abcdef\n"), HasSubstr("wrong:2: repeats a token"));
  EXPECT_THAT(said("# nobody\n"), HasSubstr("has no token"));
  const std::string short_one = said("ann secret\n");
  EXPECT_EQ(short_one.find("secret"), std::string::npos) << "a message ends up in logs: " << short_one;
  EXPECT_THAT(test::input_error([&] { (void)read_tokens(folder.path() / "none"); }),
              HasSubstr("cannot be read"));
}

TEST(ServerTokens, AreNotTakenFromAFileThatIsOthers) {
  const test::ScratchFolder folder;
  const auto file = folder.write("tokens", "ann 0123456789abcdef\n");
  for (const int mode : {0644, 0604, 0602, 0666, 0444}) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    EXPECT_THAT(test::input_error([&] { (void)read_tokens(file); }),
                HasSubstr("tokens: must not be readable or writable by others"))
        << mode;
  }
  for (const int mode : {0600, 0640, 0660, 0440}) {  // a group is somebody's choice
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    EXPECT_EQ(read_tokens(file).size(), 1U) << mode;
  }
}

/// The status of a request that asks who calls.
int gate_status(const Tokens& tokens, const std::vector<std::string>& fields,
                const std::string& target = "/who", std::string* client = nullptr) {
  const auto who = [&](const Call& call) {
    if (client != nullptr) *client = call.client;
    return Reply{};
  };
  std::vector<Route> routes;
  routes.push_back({.method = "GET", .pattern = "/who", .summary = "", .handler = who});
  routes.push_back({.method = "GET", .pattern = "/public", .summary = "", .handler = who, .is_public = true});
  routes.push_back({.method = "GET", .pattern = "/acts", .summary = "", .handler = who, .acts = true});
  Router router(routes, gate_of(tokens));
  const std::string request = test::http_request("GET " + target, {}, fields, false);
  return test::http_response(router.answer({1, request, "127.0.0.1"}).response.bytes).value().status;
}

TEST(ServerGate, WithoutTokensIsOpenToThisMachineUnderItsOwnNamesOnly) {
  for (const char* host : {"localhost", "localhost:8080", "LOCALHOST", "LocalHost:8080", "127.0.0.1:80",
                           "127.8.0.9", "[::1]:8080", "[::1]"})
    EXPECT_EQ(gate_status({}, {"Host: " + std::string(host)}), 200) << host;
  for (const char* host :
       {"", "evil.example", "evil.example:8080", "localhost.evil.example", "127.evil.example:8080",
        "127.0.0.1.evil.example", "127.0.0.1evil", "127.", "127.0.0", "1127.0.0.1", "[::1].evil.example",
        "[::2]:80", "0.0.0.0:80", "10.0.0.1", "evil@127.0.0.1", "[127.0.0.1]"})
    EXPECT_EQ(gate_status({}, {"Host: " + std::string(host)}), 403) << host;
  EXPECT_EQ(gate_status({}, {}), 403) << "no Host";
  EXPECT_EQ(gate_status({}, {"Host: evil.example"}, "/public"), 403);
}

TEST(ServerGate, RefusesPagesOfOtherSites) {
  const Tokens tokens = {{digest("0123456789abcdef"), "ann"}};
  const std::string token = "Authorization: Bearer 0123456789abcdef";
  for (const char* origin :
       {"http://evil.example", "http://localhost", "http://localhost:8081", "null", "localhost:8080",
        "http://localhost:8080.evil.example", "http://localhost:8080@evil.example", "file://"}) {
    EXPECT_EQ(gate_status({}, {"Host: localhost:8080", "Origin: " + std::string(origin)}), 403) << origin;
    EXPECT_EQ(gate_status(tokens, {"Host: localhost:8080", token, "Origin: " + std::string(origin)}), 403)
        << origin;
  }
  EXPECT_EQ(gate_status({}, {"Host: localhost:8080", "Origin: http://localhost:8080"}), 200);
  EXPECT_EQ(gate_status(tokens, {"Host: poet.example", token, "Origin: https://poet.example"}), 200);
}

TEST(ServerGate, RefusesWhatABrowserSaysIsOfAnotherSite) {
  const Tokens tokens = {{digest("0123456789abcdef"), "ann"}};
  const std::string token = "Authorization: Bearer 0123456789abcdef";
  const std::string host = "Host: localhost:8080";
  for (const char* field :
       {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: of-the-future",
        "Referer: http://evil.example/", "Referer: http://localhost:8081/page", "Referer: http://localhost/",
        "Referer: http://evil.example/http://localhost:8080/", "Referer: about:blank"}) {
    EXPECT_EQ(gate_status({}, {host, field}), 403) << field;
    EXPECT_EQ(gate_status({}, {host, field}, "/acts"), 403) << field;
    EXPECT_EQ(gate_status(tokens, {host, token, field}), 403) << field;
    EXPECT_EQ(gate_status({}, {host, field}, "/public"), 200) << "a link to the page: " << field;
  }
  EXPECT_EQ(gate_status({}, {host, "Origin: http://localhost:8080", "Sec-Fetch-Site: cross-site"}), 403);
  for (const char* field :
       {"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Referer: http://localhost:8080/?a=b",
        "Referer: https://LOCALHOST:8080", "Referer:", "User-Agent: Mozilla/5.0"}) {
    EXPECT_EQ(gate_status({}, {host, field}), 200) << field;
    EXPECT_EQ(gate_status(tokens, {host, token, field}), 200) << field;
  }
}

// Whoever clicks on a link in a mail has asked for no job, and an old browser does not say whose image it
// loads.
TEST(ServerGate, LetsABrowserActForItsOwnPageOnly) {
  const Tokens tokens = {{digest("0123456789abcdef"), "ann"}};
  const std::string token = "Authorization: Bearer 0123456789abcdef";
  const std::string host = "Host: localhost:8080";
  const std::string browser = "User-Agent: Mozilla/5.0 (X11) Gecko/20100101";
  EXPECT_EQ(gate_status({}, {host, browser}, "/acts"), 403);
  EXPECT_EQ(gate_status({}, {host, browser, "Sec-Fetch-Site: none"}, "/acts"), 403);
  EXPECT_EQ(gate_status({}, {host, "Sec-Fetch-Site: none"}, "/acts"), 403);
  EXPECT_EQ(gate_status({}, {host, browser, "Sec-Fetch-Site: same-origin"}, "/acts"), 200);
  EXPECT_EQ(gate_status({}, {host, browser, "Referer: http://localhost:8080/"}, "/acts"), 200);
  for (const char* program : {"User-Agent: curl/7.88.1", "User-Agent: python-requests/2.31", "X: y"})
    EXPECT_EQ(gate_status({}, {host, program}, "/acts"), 200) << program;
  EXPECT_EQ(gate_status(tokens, {host, browser, token}, "/acts"), 200) << "no page has the token";
  EXPECT_EQ(gate_status(tokens, {host, browser}, "/acts"), 401);
}

TEST(ServerGate, DecidesOnLargeBodiesBeforeTheyAreSent) {
  const Tokens tokens = {{digest("0123456789abcdef"), "ann"}};
  const auto said = [](const Tokens& known, const std::string& fields) {
    return admission_of(known, "POST /api/v1/uploads HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n",
                        "::1");
  };
  EXPECT_EQ(said({}, "").refused, 0);
  EXPECT_EQ(said({}, "").client, "::1");
  EXPECT_EQ(said({}, "Sec-Fetch-Site: cross-site\r\n").refused, 403);
  EXPECT_EQ(said({}, "Origin: null\r\n").refused, 403);
  EXPECT_EQ(said(tokens, "").refused, 401);
  EXPECT_EQ(said(tokens, "Authorization: Bearer 0123456789abcdef\r\n").client, "ann");
  EXPECT_EQ(admission_of({}, "POST / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "::1").refused, 403);
}

TEST(ServerGate, WithTokensKnowsClientsByThem) {
  const Tokens tokens = {{digest("0123456789abcdef"), "ann"}, {digest("fedcba9876543210"), "bob"}};
  std::string client;
  EXPECT_EQ(gate_status(tokens, {"Host: x", "Authorization: Bearer fedcba9876543210"}, "/who", &client), 200);
  EXPECT_EQ(client, "bob");
  for (const char* field :
       {"Authorization: Bearer", "Authorization: Bearer 0123456789abcdeF",
        "Authorization: Basic 0123456789abcdef", "Authorization: Bearer 0123456789abcdef0",
        "Authorization: 0123456789abcdef", "Cookie: token=0123456789abcdef", "X: y"})
    EXPECT_EQ(gate_status(tokens, {"Host: x", field}), 401) << field;
  EXPECT_EQ(gate_status(tokens, {"Host: x", "Authorization: Bearer " + digest("0123456789abcdef")}), 401);
  EXPECT_EQ(gate_status(tokens, {"Host: x"}, "/who?token=0123456789abcdef"), 401);
  EXPECT_EQ(gate_status(tokens, {"Host: x"}, "/public"), 200);
}

}  // namespace
}  // namespace poet::server
