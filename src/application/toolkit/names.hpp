#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/jobs/ids.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// The upper limits of requests. Every limit has its test.
namespace limits {
inline constexpr std::size_t name_bytes = 200;  // type, queue, ids and the like
inline constexpr std::size_t list_items = 32;   // exclusive keys, labels, backoff delays
inline constexpr std::size_t reason_bytes = 256;
inline constexpr std::size_t ticket_bytes = 128;
}  // namespace limits

// A refusal that points at a field.
Error refuse(std::string_view field, std::string message, ErrorCode code = ErrorCode::invalid);

// The refusal for a job that is not there. One that the caller may not see gets the same text.
Error no_such_job(JobId id);

// Refuses a name that is too long or has control characters. An empty one passes.
std::optional<Error> check_name(std::string_view field, std::string_view name);

// Refuses an id that cannot be a part of a path, too.
std::optional<Error> check_path_id(std::string_view field, std::string_view id);

// Refuses a text that cannot be a tenant: an empty one, one that is no name, or one of the engine's
// own, which begin with "@".
std::optional<Error> check_tenant(std::string_view field, std::string_view tenant);

// Refuses a reason that says nothing, is too long, or has control characters.
std::optional<Error> check_reason_text(std::string_view field, std::string_view reason);

// The same for the number of a ticket, which may be empty.
std::optional<Error> check_ticket_text(std::string_view field, std::string_view ticket);

// Refuses a list that is too long, or has an entry that is empty or no name. Sorts it otherwise,
// and drops repeats.
std::optional<Error> check_list(std::string_view field, std::vector<std::string>& list,
                                std::size_t items_max = limits::list_items);

}  // namespace sluice
