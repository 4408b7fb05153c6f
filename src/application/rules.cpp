#include "application/rules.hpp"

namespace sluice {

const Rules& Rules::built_in() {
    static const Rules rules;
    return rules;
}

}  // namespace sluice
