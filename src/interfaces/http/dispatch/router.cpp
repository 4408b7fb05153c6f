#include "interfaces/http/dispatch/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "domain/values/check.hpp"

namespace sluice::http {
namespace {

// The length, the first and the last byte of a segment.
std::uint32_t segment_mark(std::string_view segment) {
    if (segment.empty()) return 0;
    const auto first = static_cast<unsigned char>(segment.front());
    const auto last = static_cast<unsigned char>(segment.back());
    return static_cast<std::uint32_t>(segment.size() << 16) |
           static_cast<std::uint32_t>(first << 8) | last;
}

constexpr auto has_lower_mark = [](const auto& edge, std::uint32_t mark) {
    return edge.mark < mark;
};

// The segment behind the slash at this position.
std::string_view segment_at(std::string_view path, std::size_t slash) {
    const std::size_t begin = slash + 1;
    return path.substr(begin, std::min(path.find('/', begin), path.size()) - begin);
}

bool is_param(std::string_view segment) {
    return segment.starts_with('{');
}

std::vector<std::string_view> segments_of(std::string_view pattern) {
    std::vector<std::string_view> segments;
    for (std::size_t at = 0; at < pattern.size(); at += segments.back().size() + 1) {
        segments.push_back(segment_at(pattern, at));
    }
    return segments;
}

[[noreturn]] void refuse(const Route& route, std::string_view why) {
    throw std::logic_error(fmt::format("the table of routes has {} {}, which {}",
                                       to_text(route.verb), route.pattern, why));
}

void check_pattern(const Route& route) {
    if (!route.pattern.starts_with('/')) refuse(route, "does not begin with a slash");
    if (route.verb == Verb::head) refuse(route, "is never reached: HEAD has the routes of GET");
    std::size_t params = 0;
    for (const std::string_view segment : segments_of(route.pattern)) {
        const std::size_t open = segment.find_first_of("{}");
        if (open == std::string_view::npos) continue;
        const bool is_whole = open == 0 && segment.size() > 2 && segment.front() == '{' &&
                              segment.find_first_of("{}", 1) == segment.size() - 1 &&
                              segment.back() == '}';
        if (!is_whole) refuse(route, "has braces that are not around a whole segment");
        ++params;
    }
    if (params > PathParams::count_max) refuse(route, "has too many {…}");
}

// Of two routes that fit the same path, one has to have fixed segments wherever the other one has,
// and more of them.
void check_pair(const Route& route, const Route& other) {
    if (route.verb != other.verb) return;
    const auto mine = segments_of(route.pattern);
    const auto theirs = segments_of(other.pattern);
    if (mine.size() != theirs.size()) return;
    bool mine_fixes_more = false;
    bool theirs_fixes_more = false;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (!is_param(mine[i]) && !is_param(theirs[i]) && mine[i] != theirs[i]) return;
        mine_fixes_more |= !is_param(mine[i]) && is_param(theirs[i]);
        theirs_fixes_more |= is_param(mine[i]) && !is_param(theirs[i]);
    }
    if (mine_fixes_more == theirs_fixes_more) {
        refuse(route, fmt::format("fits the same paths as {}", other.pattern));
    }
}

}  // namespace

Router::Router(std::span<const Contract* const> contracts)
    : contracts_(contracts.begin(), contracts.end()) {
    check(!contracts_.empty(), "the router has a contract");
    for (const Contract* contract : contracts_) {
        for (const Route& route : contract->routes) add(route, *contract);
    }
}

void Router::add(const Route& route, const Contract& contract) {
    check_pattern(route);
    if (&contract_of(route.pattern) != &contract) refuse(route, "is in another contract's paths");
    for (const Entry& entry : std::span(entries_).subspan(1)) check_pair(route, *entry.route);

    Index node = 0;
    for (const std::string_view segment : segments_of(route.pattern)) {
        node = child_for(node, segment);
    }
    if (entries_.size() > std::numeric_limits<Index>::max()) refuse(route, "is one too many");
    nodes_[node].entries[static_cast<std::size_t>(route.verb)] =
        static_cast<Index>(entries_.size());
    entries_.push_back({&route, &contract});
}

Router::Index Router::child_for(Index node, std::string_view segment) {
    const auto next = static_cast<Index>(nodes_.size());
    if (is_param(segment)) {
        if (nodes_[node].param != none) return nodes_[node].param;
        nodes_[node].param = next;
    } else {
        if (const Index child = fixed_child(nodes_[node], segment); child != none) return child;
        std::vector<Edge>& edges = nodes_[node].edges;
        const std::uint32_t mark = segment_mark(segment);
        edges.insert(std::lower_bound(edges.begin(), edges.end(), mark, has_lower_mark),
                     {mark, next, segment});
    }
    if (nodes_.size() > std::numeric_limits<Index>::max()) {
        throw std::logic_error("the table of routes has too many segments");
    }
    nodes_.emplace_back();
    return next;
}

Router::Index Router::fixed_child(const Node& node, std::string_view segment) {
    const std::uint32_t mark = segment_mark(segment);
    auto edge = std::lower_bound(node.edges.begin(), node.edges.end(), mark, has_lower_mark);
    for (; edge != node.edges.end() && edge->mark == mark; ++edge) {
        if (edge->segment == segment) return edge->child;
    }
    return none;
}

const Contract& Router::contract_of(std::string_view path) const {
    const Contract* best = contracts_.front();
    for (const Contract* contract : contracts_) {
        if (path.starts_with(contract->prefix) && contract->prefix.size() > best->prefix.size()) {
            best = contract;
        }
    }
    return *best;
}

Destination Router::find(Verb verb, std::string_view path) const {
    if (verb == Verb::head) verb = Verb::get;
    Destination destination;
    Index found = none;
    if (path.starts_with('/')) {
        const auto wanted = static_cast<std::size_t>(verb);
        found = find_entry(nodes_.front(), wanted, path, 0, destination.params);
    }
    destination.route = entries_[found].route;
    destination.contract = found == none ? &contract_of(path) : entries_[found].contract;
    return destination;
}

// `at` is the end of the path or the slash before the next segment. When the path fits no route
// below a fixed segment, for instance since that one lacks the verb, it is tried again at {…}.
Router::Index Router::find_entry(const Node& node, std::size_t verb, std::string_view path,
                                 std::size_t at, PathParams& params) const {
    if (at == path.size()) return node.entries[verb];
    const std::string_view segment = segment_at(path, at);
    const std::size_t end = at + 1 + segment.size();
    if (const Index child = fixed_child(node, segment); child != none) {
        const Index found = find_entry(nodes_[child], verb, path, end, params);
        if (found != none) return found;
    }
    if (node.param == none || segment.empty()) return none;
    params.add(at + 1, segment.size());
    const Index found = find_entry(nodes_[node.param], verb, path, end, params);
    if (found == none) params.drop_last();
    return found;
}

void Router::collect(const Node& node, std::string_view path, std::size_t at,
                     std::vector<Index>& found) const {
    if (at == path.size()) {
        for (const Index entry : node.entries) {
            if (entry != none) found.push_back(entry);
        }
        return;
    }
    const std::string_view segment = segment_at(path, at);
    const std::size_t end = at + 1 + segment.size();
    if (const Index child = fixed_child(node, segment); child != none) {
        collect(nodes_[child], path, end, found);
    }
    if (node.param != none && !segment.empty()) collect(nodes_[node.param], path, end, found);
}

std::string Router::allowed(std::string_view path) const {
    std::vector<Index> found;
    if (path.starts_with('/')) collect(nodes_.front(), path, 0, found);
    std::sort(found.begin(), found.end());
    std::string verbs;
    for (const Index entry : found) {
        const Verb verb = entries_[entry].route->verb;
        if (verbs.find(to_text(verb)) != std::string::npos) continue;
        if (!verbs.empty()) verbs += ", ";
        verbs += to_text(verb);
        if (verb == Verb::get) verbs += ", HEAD";
    }
    return verbs;
}

}  // namespace sluice::http
