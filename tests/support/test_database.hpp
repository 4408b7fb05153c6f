#pragma once

#include <memory>
#include <string>

#include "infrastructure/postgres/store/postgres_store.hpp"

namespace sluice {

// A database of its own on the test server, for stores that are opened one after the other or
// beside each other. It is made at the first use.
class TestDatabase {
  public:
    const std::string& url();

    // A store on it as it is, as if on a node of its own.
    std::unique_ptr<PostgresStore> open();

    // The same after everything was removed.
    std::unique_ptr<PostgresStore> open_empty();

  private:
    void clear();

    std::string url_;
};

}  // namespace sluice
