#include "interfaces/http/native/read_entity.hpp"

#include <fmt/format.h>

#include "application/toolkit/names.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

constexpr std::int64_t limit_max = 200;
constexpr std::size_t id_digits = 24;
constexpr std::size_t mark_digits = 16;

Attributes read_attributes(JsonReader& reader) {
    Attributes attributes;
    reader.object([&](std::string_view name) { attributes.emplace(name, reader.raw()); });
    return attributes;
}

std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        parts.emplace_back(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return parts;
}

std::string mark_of(const EntityFilter& filter) {
    std::string text;
    // With its length, so that no part can look like two.
    const auto add = [&](const std::string& part) {
        text += fmt::format("{}:{}", part.size(), part);
    };
    add(filter.tenant);
    add(filter.kind);
    add(filter.parent);
    for (const std::string& state : filter.states) add(state);
    return to_hex(sha256(text)).substr(0, mark_digits);
}

Result<std::int64_t> read_cursor(std::string_view cursor, std::string_view mark) {
    const auto number = parse_job_id(cursor.substr(0, id_digits));
    if (number && cursor.size() == id_digits + mark_digits && cursor.substr(id_digits) == mark) {
        return number->value;
    }
    return Error{ErrorCode::malformed,
                 "the cursor is not one that this list gave; pass next_cursor on as it is, with "
                 "the same filters",
                 ""};
}

}  // namespace

Result<EntityKey> read_entity_key(const Call& call, const QueryParams& params,
                                  std::string_view kind, std::string_view id) {
    auto decoded_kind = percent_decode(kind);
    auto decoded_id = percent_decode(id);
    if (!decoded_kind || !decoded_id) {
        return Error{ErrorCode::malformed,
                     "the kind or the id in the path cannot be read: write UTF-8 text as %XX, and "
                     "no %00",
                     ""};
    }
    auto tenant = tenant_asked_for(call, params);
    if (!tenant) return tenant.error();
    return EntityKey{*std::move(tenant), *std::move(decoded_kind), *std::move(decoded_id)};
}

Result<NewEntity> read_new_entity(const Call& call, std::string_view kind_in_path) {
    NewEntity wanted;
    wanted.key.tenant = call.caller->tenant;
    wanted.key.kind = kind_in_path;
    JsonReader reader = given_body_reader(call.request);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (reader.null()) return;  // the same as not given
        if (key == "kind" && kind_in_path.empty()) {
            wanted.key.kind = read_name(reader);
        } else if (key == "id") {
            wanted.key.id = read_name(reader);
        } else if (key == "tenant") {
            wanted.key.tenant = read_name(reader);
        } else if (key == "parent") {
            wanted.parent = read_name(reader);
        } else if (key == "attributes") {
            wanted.attributes = read_attributes(reader);
        } else {
            unknown.add(key);
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    if (auto refusal = refuse_tenant(*call.caller, wanted.key.tenant, "/tenant")) {
        return *std::move(refusal);
    }
    return wanted;
}

Result<ChangeEntity> read_change(const Call& call, EntityKey key) {
    ChangeEntity change{.key = std::move(key)};
    JsonReader reader = given_body_reader(call.request);
    UnknownFields unknown;
    reader.object([&](std::string_view name) {
        if (reader.null()) return;
        if (name == "action") {
            change.action = reader.string();
            if (change.action.empty()) reader.fail("must not be empty");
        } else if (name == "attributes") {
            change.attributes = read_attributes(reader);
        } else {
            unknown.add(name);
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    if (change.action.empty() && change.attributes.empty()) {
        return Error{ErrorCode::invalid, "needs an action, attributes, or both", "/action"};
    }
    return change;
}

Result<EntityListQuery> read_entity_list(const Call& call, std::string_view kind_in_path) {
    const auto params =
        kind_in_path.empty()
            ? read_query(call.request, {"kind", "parent", "state", "tenant", "limit", "cursor"})
            : read_query(call.request, {"parent", "state", "tenant", "limit", "cursor"});
    if (!params) return params.error();
    EntityListQuery query;
    auto tenant = tenant_asked_for(call, *params);
    if (!tenant) return tenant.error();
    if (auto refusal = check_tenant("tenant", *tenant)) return *std::move(refusal);
    query.filter.tenant = *std::move(tenant);
    query.filter.kind = kind_in_path;
    if (const std::string* kind = params->find("kind")) query.filter.kind = *kind;
    if (const std::string* parent = params->find("parent")) query.filter.parent = *parent;
    if (const std::string* states = params->find("state")) query.filter.states = parts_of(*states);
    query.filter_mark = mark_of(query.filter);
    const auto limit = number_param(*params, "limit", 1, limit_max, query.limit);
    if (!limit) return limit.error();
    query.limit = static_cast<int>(*limit);
    if (const std::string* cursor = params->find("cursor")) {
        const auto before = read_cursor(*cursor, query.filter_mark);
        if (!before) return before.error();
        query.before = *before;
    }
    return query;
}

std::string entity_cursor(const EntityListQuery& query, std::int64_t last_number) {
    return to_text(JobId{last_number}) + query.filter_mark;
}

}  // namespace sluice::http::native
