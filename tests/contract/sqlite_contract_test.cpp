#include <unistd.h>

#include <filesystem>
#include <memory>

#include "contract/limits_contract.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"

namespace sluice {
namespace sqlite_contract_test {

namespace fs = std::filesystem;

// A folder of its own for each program that runs the suite, which is removed at its end.
class Folder {
  public:
    Folder() : path_(fs::temp_directory_path() / ("sluice-contract-" + std::to_string(getpid()))) {}
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

StoreUnderTest sqlite_store() {
    const auto folder = std::make_shared<Folder>();
    const auto open = [folder] {
        return std::make_unique<SqliteStore>(folder->path() / "jobs.db", at(0));
    };
    const auto open_empty = [folder, open] {
        fs::remove_all(folder->path());
        return open();
    };
    return {.name = "Sqlite", .open = open_empty, .reopen = open};
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(sqlite_store()), store_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, LimitContract, testing::Values(sqlite_store()), store_name);

}  // namespace sqlite_contract_test
}  // namespace sluice
