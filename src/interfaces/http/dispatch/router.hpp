#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/http/message/message.hpp"
#include "interfaces/http/toolkit/route.hpp"

namespace sluice::http {

// Finds the route of a request: a tree by the segments of the patterns, made once and only read
// after that. It points into the contracts, which outlive it.
class Router {
  public:
    // Throws std::logic_error, naming the pattern, when one is malformed, is there twice, lies
    // outside of its contract's paths, or fits a path that another one fits as exactly.
    explicit Router(std::span<const Contract* const> contracts);

    // A fixed segment wins over {…}, from left to right. HEAD has the routes of GET. When the path
    // does not have the verb, only the contract is set: the one with the longest prefix.
    Destination find(Verb verb, std::string_view path) const;

    // The verbs that the path has, for the header Allow; empty: there is nothing at this path.
    std::string allowed(std::string_view path) const;

  private:
    static constexpr std::size_t verb_count = static_cast<std::size_t>(Verb::other) + 1;
    using Index = std::uint16_t;
    static constexpr Index none = 0;  // the root is no child, and the first entry stays empty

    struct Entry {
        const Route* route = nullptr;
        const Contract* contract = nullptr;
    };
    struct Edge {
        std::uint32_t mark = 0;  // tells most segments apart without a look at their text
        Index child = none;
        std::string_view segment;
    };
    struct Node {
        std::vector<Edge> edges{};  // fixed segments, by their marks
        Index param = none;         // the child for {…}
        std::array<Index, verb_count> entries{};
    };

    void add(const Route& route, const Contract& contract);
    static Index fixed_child(const Node& node, std::string_view segment);
    Index child_for(Index node, std::string_view segment);
    const Contract& contract_of(std::string_view path) const;
    Index find_entry(const Node& node, std::size_t verb, std::string_view path, std::size_t at,
                     PathParams& params) const;
    void collect(const Node& node, std::string_view path, std::size_t at,
                 std::vector<Index>& found) const;

    std::vector<const Contract*> contracts_;
    std::vector<Entry> entries_{1};  // in the order of the tables
    std::vector<Node> nodes_{1};
};

}  // namespace sluice::http
