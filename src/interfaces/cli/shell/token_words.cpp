#include "interfaces/cli/shell/token_words.hpp"

#include "domain/access/caller.hpp"

namespace sluice::cli {
namespace {

template <class... Values>
std::vector<std::string> texts_of(Values... values) {
    return {std::string(to_text(values))...};
}

}  // namespace

const std::vector<std::string>& token_kinds() {
    static const auto kinds = texts_of(CallerKind::user, CallerKind::worker, CallerKind::service);
    return kinds;
}

const std::vector<std::string>& token_scopes() {
    static const auto scopes =
        texts_of(Scope::read, Scope::operate, Scope::quota, Scope::backfill, Scope::admin);
    return scopes;
}

}  // namespace sluice::cli
