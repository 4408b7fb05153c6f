#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/sha256.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/toolkit/app.hpp"
#include "json/json_reader.hpp"

// Reading the parts that several requests have in common.
namespace sluice::http {

// Notes fields that a body must not have, to name them all at once.
class UnknownFields {
  public:
    void add(std::string_view name) {
        if (++count_ <= names_max) names_.emplace_back(name.substr(0, name_bytes_max));
    }

    // Makes the reader fail when there were any, unless it reads tolerantly. Call it when the
    // object has been read.
    void refuse(JsonReader& reader) const;

  private:
    static constexpr std::size_t names_max = 10;
    static constexpr std::size_t name_bytes_max = 100;

    std::vector<std::string> names_;  // the first few
    std::size_t count_ = 0;
};

std::vector<std::string> read_strings(JsonReader& reader, std::size_t limit);
Duration read_millis(JsonReader& reader, Duration low, Duration high);
Timestamp read_timestamp(JsonReader& reader);
// Makes the reader fail when the text that it has just read is longer.
void check_length(JsonReader& reader, std::string_view text, std::size_t bytes_max);

// A list of strings, or an object whose members become "name=value".
std::vector<std::string> read_labels(JsonReader& reader);

// A name that is given must not be empty, too long, or have control characters.
std::string read_name(JsonReader& reader);

inline constexpr std::string_view body_name = "the body";  // in messages

// The body of a request that may have none; an empty one counts as {}.
std::string_view body_or_empty_object(const Request& request);

// Reads that body as closely as the request's contract says.
inline JsonReader body_reader(const Request& request) {
    return JsonReader(body_or_empty_object(request), request.reading, body_name);
}
// The same for a request that must have a body.
inline JsonReader given_body_reader(const Request& request) {
    return JsonReader(request.body, request.reading, body_name);
}

Result<JobId> job_id_in_path(const Call& call);
Result<LeaseId> lease_id_in_path(const Call& call);

// The parameters of the query string that are in `known`. Refuses others by name, or leaves them
// out when the request is read tolerantly.
Result<QueryParams> read_query(const Request& request,
                               std::initializer_list<std::string_view> known);

// A whole number; `name` is its name in the refusal.
Result<std::int64_t> read_number(std::string_view text, std::string_view name, std::int64_t low,
                                 std::int64_t high);

// A whole number among the parameters, or `otherwise` when it is absent.
Result<std::int64_t> number_param(const QueryParams& params, std::string_view name,
                                  std::int64_t low, std::int64_t high, std::int64_t otherwise);

// The id of the last event that a client of a stream has; nothing when it does not name one.
Result<std::optional<std::int64_t>> last_event_id(const Request& request);

// Refuses a text that cannot be a key; `name` is its name in the refusal.
Result<std::string> checked_key(std::string_view key, std::string_view name);

// The Idempotency-Key, as a quoted string of RFC 8941 or as plain text; empty when it is absent.
Result<std::string> idempotency_key(const Request& request);

// The digest that a repeated request with the same key must have in common with the first.
Digest body_digest(const Request& request);

}  // namespace sluice::http
