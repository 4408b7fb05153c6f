#include "application/toolkit/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7F;
    });
}

std::optional<Error> check_text(std::string_view field, std::string_view text,
                                std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        return refuse(
            field, fmt::format("is {} bytes long; at most {} are allowed", text.size(), bytes_max));
    }
    if (has_control_character(text)) return refuse(field, "must not contain control characters");
    return std::nullopt;
}

}  // namespace

Error refuse(std::string_view field, std::string message, ErrorCode code) {
    return {code, std::move(message), fmt::format("/{}", field)};
}

Error no_such_job(JobId id) {
    return {ErrorCode::not_found,
            fmt::format("there is no job {}: the id is wrong, or retention has removed the job",
                        to_text(id)),
            ""};
}

std::optional<Error> check_name(std::string_view field, std::string_view name) {
    if (name.size() > limits::name_bytes) {
        return refuse(field,
                      fmt::format("is {} bytes long; at most {} are allowed", name.size(),
                                  limits::name_bytes),
                      ErrorCode::too_large);
    }
    if (has_control_character(name)) return refuse(field, "must not contain control characters");
    return std::nullopt;
}

std::optional<Error> check_path_id(std::string_view field, std::string_view id) {
    if (id.find('/') != std::string_view::npos || id == "." || id == "..") {
        return refuse(field, R"(must not contain "/" nor be "." or "..": it is part of a path)");
    }
    return check_name(field, id);
}

std::optional<Error> check_tenant(std::string_view field, std::string_view tenant) {
    if (tenant.empty()) return refuse(field, "must not be empty");
    if (tenant.starts_with('@')) {
        return refuse(field, "must not begin with @: such names are the engine's own");
    }
    if (tenant.ends_with('*')) {
        return refuse(field, "must not end with *: rules take that for the beginning of names");
    }
    return check_name(field, tenant);
}

std::optional<Error> check_reason_text(std::string_view field, std::string_view reason) {
    if (reason.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return refuse(field, "is required: say why, for the audit");
    }
    return check_text(field, reason, limits::reason_bytes);
}

std::optional<Error> check_ticket_text(std::string_view field, std::string_view ticket) {
    return check_text(field, ticket, limits::ticket_bytes);
}

std::optional<Error> check_list(std::string_view field, std::vector<std::string>& list,
                                std::size_t items_max) {
    if (list.size() > items_max) {
        return refuse(field,
                      fmt::format("has {} entries; at most {} are allowed", list.size(), items_max),
                      ErrorCode::too_large);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string pointer = fmt::format("{}/{}", field, i);
        if (list[i].empty()) return refuse(pointer, "must not be empty");
        if (auto refusal = check_name(pointer, list[i])) return refusal;
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return std::nullopt;
}

}  // namespace sluice
