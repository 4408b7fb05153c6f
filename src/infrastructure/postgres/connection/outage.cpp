#include "infrastructure/postgres/connection/outage.hpp"

#include "application/ports/store.hpp"
#include "infrastructure/system/boot_clock.hpp"

namespace sluice::postgres {
namespace {

constexpr Duration between_tries = std::chrono::milliseconds(500);

}  // namespace

void Outage::refuse_between_tries() const {
    if (is_on() && since_boot() - failed_at_ < between_tries) {
        throw StoreUnavailable("the database does not answer");
    }
}

void Outage::try_failed() {
    failed_at_ = since_boot();
}

}  // namespace sluice::postgres
