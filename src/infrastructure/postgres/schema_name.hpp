#pragma once

#include <string>
#include <string_view>

namespace sluice::postgres {

inline constexpr std::string_view default_schema = "sluice";

// The schema in which an engine keeps its tables. The SQL of the store names tables without it; the
// search path of a connection leads there.
class SchemaName {
  public:
    SchemaName() = default;  // the default

    const std::string& text() const { return name_; }
    std::string quoted() const { return '"' + name_ + '"'; }

    // The value of search_path: the schema comes first, so that what others have made in the
    // schemas after it never takes the place of a table of the engine.
    std::string search_path() const { return quoted() + ", packs, public"; }

    bool operator==(const SchemaName&) const = default;

  private:
    std::string name_{default_schema};
};

}  // namespace sluice::postgres
