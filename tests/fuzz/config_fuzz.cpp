// The configuration file. Beyond not breaking: a refusal names the line of each mistake, and an
// accepted configuration can be shown.
#include <string>

#include "config/config.hpp"
#include "config/show.hpp"
#include "input.hpp"

namespace sluice {
namespace {

using fuzz::expect;

void run(std::string_view text) {
    const auto config =
        load_config(text, "sluice.toml", [](const std::string&) { return std::nullopt; });
    if (!config) return expect(!config.error().message.empty(), "a refusal says why");
    expect(config->default_lease <= config->max_lease, "leases have an order");
    expect(config->node >= 0 && config->node <= 1023, "a node has its bits");
    for (const Setting& setting : settings_of(*config, true)) {
        expect(!setting.key.empty(), "a setting has a name");
    }
}

}  // namespace
}  // namespace sluice

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::run(sluice::fuzz::text_of(data, size));
    return 0;
}
