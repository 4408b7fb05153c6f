#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace sluice::cli {

// Where access tokens are made and revoked: an engine, or a store on this machine. Takes and
// answers the documents of the API.
class TokenOffice {
  public:
    virtual ~TokenOffice() = default;

    virtual std::string create(const std::string& body) = 0;
    // Of one tenant; of all that may be seen, when it is empty.
    virtual std::string list(const std::string& tenant) = 0;
    // The same for what a command has to know beside what it was asked for.
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

// Throws CommandError with what is wrong with the store.
using OpenStoreOffice = std::function<std::unique_ptr<TokenOffice>(const StoreChoice&)>;

}  // namespace sluice::cli
