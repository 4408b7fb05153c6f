#pragma once

#include <string>
#include <vector>

#include "e2e/engine.hpp"
#include "e2e/http_client.hpp"
#include "e2e/json.hpp"

namespace sluice::e2e {

// The header with the token; none for an empty one.
Headers with_token(const std::string& token);

// An engine that asks every caller for a token, and its first admin.
class GuardedEngine {
  public:
    // `settings` is added to its configuration file.
    explicit GuardedEngine(const std::string& settings = "", const std::string& store = "memory:");

    std::uint16_t port() const { return engine_.port(); }
    Engine& engine() { return engine_; }
    const std::string& admin() const;

    // Makes a token with these fields, named "test" unless they say otherwise, and returns its
    // text.
    std::string token(Fields fields);
    // The same with the whole answer.
    Json new_token(Fields fields);
    void revoke(const Json& token);

    // A request with this token, and its answer.
    Response get(const std::string& token, std::string_view path, Headers headers = {});
    Response post(const std::string& token, std::string_view path, const Fields& body,
                  Headers headers = {});
    Response request(const std::string& token, std::string_view method, std::string_view path,
                     std::string_view body, Headers headers = {});

  private:
    TempFolder folder_;
    Engine engine_;
    Client http_;
};

}  // namespace sluice::e2e
