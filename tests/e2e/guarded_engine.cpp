#include "e2e/guarded_engine.hpp"

#include <fstream>
#include <stdexcept>

namespace sluice::e2e {
namespace {

const std::string admin_token = "admin-0123456789abcdef0123456789abcdef";

std::vector<std::string> flags(const TempFolder& folder, const std::string& settings) {
    const std::string path = (folder.path() / "sluice.toml").string();
    std::ofstream(path) << settings;
    std::ofstream(folder.path() / "admin") << admin_token << '\n';
    return {"--config", path};
}

std::vector<std::string> environment(const TempFolder& folder) {
    return {"SLUICE_ADMIN_TOKEN_FILE=" + (folder.path() / "admin").string()};
}

}  // namespace

Headers with_token(const std::string& token) {
    if (token.empty()) return {};
    return {{"Authorization", "Bearer " + token}};
}

GuardedEngine::GuardedEngine(const std::string& settings, const std::string& store)
    : engine_(Engine::Guarded{}, store, flags(folder_, settings), environment(folder_)),
      http_(engine_.port()) {}

const std::string& GuardedEngine::admin() const {
    return admin_token;
}

Json GuardedEngine::new_token(Fields fields) {
    fields.emplace("name", "test");
    const Response response = post(admin_token, "/api/v1/tokens", fields);
    if (response.status != 201) throw std::runtime_error(response.body);
    return parse(response.body);
}

std::string GuardedEngine::token(Fields fields) {
    return text(new_token(std::move(fields)), "token");
}

void GuardedEngine::revoke(const Json& token) {
    const Response response =
        post(admin_token, "/api/v1/tokens/" + text(token, "id") + "/revoke", {});
    if (response.status != 200) throw std::runtime_error(response.body);
}

Response GuardedEngine::get(const std::string& token, std::string_view path, Headers headers) {
    return request(token, "GET", path, "", std::move(headers));
}

Response GuardedEngine::post(const std::string& token, std::string_view path, const Fields& body,
                             Headers headers) {
    return request(token, "POST", path, boost::json::serialize(body), std::move(headers));
}

Response GuardedEngine::request(const std::string& token, std::string_view method,
                                std::string_view path, std::string_view body, Headers headers) {
    for (const auto& header : with_token(token)) headers.push_back(header);
    return http_.request(method, path, body, headers);
}

}  // namespace sluice::e2e
