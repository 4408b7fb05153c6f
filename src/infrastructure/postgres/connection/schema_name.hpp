#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::postgres {

inline constexpr std::string_view default_schema = "orchestrator";

inline constexpr const char* schema_name_form =
    "the name of a PostgreSQL schema: letters, digits and _, no digit first, at most 63 bytes, and "
    "none of pg_…, information_schema, packs and public";

// The schema in which an engine keeps its tables. The SQL of the store names tables without it; the
// search path of a connection leads there.
class SchemaName {
  public:
    SchemaName() = default;  // the default

    // The only function that makes a schema of a given name: blanks around it are dropped, upper
    // case becomes lower case, as in SQL, and an empty name is the default. std::nullopt for a name
    // that schema_name_form does not allow.
    static std::optional<SchemaName> resolve(std::string_view given);

    const std::string& text() const { return name_; }
    std::string quoted() const { return '"' + name_ + '"'; }

    // The value of search_path: the schema comes first, so that no table in a later schema hides
    // one of the engine.
    std::string search_path() const { return quoted() + ", packs, public"; }

    bool operator==(const SchemaName&) const = default;

  private:
    std::string name_{default_schema};
};

// The database and the schema in which an engine keeps its jobs.
struct Database {
    std::string url;
    SchemaName schema{};
};

}  // namespace sluice::postgres
