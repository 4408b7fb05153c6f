#include <memory>

#include "contract/limits_contract.hpp"
#include "support/test_database.hpp"

namespace sluice {
namespace postgres_contract_test {

StoreUnderTest postgres_store() {
    static const auto database = std::make_shared<TestDatabase>();  // one for all tests
    return {.name = "Postgres",
            .open = [] { return database->open_empty(); },
            .reopen = [] { return database->open(); },
            .is_shared = true};
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract, testing::Values(postgres_store()), store_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LimitContract, testing::Values(postgres_store()), store_name);

}  // namespace postgres_contract_test
}  // namespace sluice
