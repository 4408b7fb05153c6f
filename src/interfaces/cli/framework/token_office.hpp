#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace sluice::cli {

// Makes and revokes access tokens, at an engine or in a store on this machine. Takes and returns
// the documents of the API.
class TokenOffice {
  public:
    virtual ~TokenOffice() = default;

    virtual std::string create(const std::string& body) = 0;
    // The tokens of one tenant; of all that may be seen, when it is empty.
    virtual std::string list(const std::string& tenant) = 0;
    // The same for a question of the command itself, beside the user's.
    virtual std::string look_up(const std::string& tenant) { return list(tenant); }
    virtual std::string revoke(const std::string& id) = 0;
};

// A store on this machine, named by a URL or by a configuration file.
struct StoreChoice {
    std::optional<std::string> config{};
    std::optional<std::string> store{};
    std::optional<std::string> store_schema{};  // on PostgreSQL

    bool is_given() const { return config || store; }
};

// Throws CommandError with the problem of the store.
using OpenStoreOffice = std::function<std::unique_ptr<TokenOffice>(const StoreChoice&)>;

}  // namespace sluice::cli
