#include "interfaces/http/requests/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "application/toolkit/names.hpp"

namespace sluice::http {

void UnknownFields::refuse(JsonReader& reader) const {
    if (count_ == 0 || reader.is_tolerant()) return;
    std::string what = count_ == 1
                           ? fmt::format("\"{}\" is not a known field", names_.front())
                           : fmt::format("these are not known fields: {}", fmt::join(names_, ", "));
    if (count_ > names_.size()) what += fmt::format(" and {} more", count_ - names_.size());
    reader.fail_at(names_.front(), std::move(what));
}

std::vector<std::string> read_strings(JsonReader& reader, std::size_t limit) {
    std::vector<std::string> strings;
    reader.array([&](std::size_t) {
        if (strings.size() == limit)
            return reader.fail(fmt::format("the list has more than {} entries", limit),
                               ErrorCode::too_large);
        strings.push_back(reader.string());
    });
    return strings;
}

Duration read_millis(JsonReader& reader, Duration low, Duration high) {
    return from_millis(reader.integer(to_millis(low), to_millis(high)));
}

Timestamp read_timestamp(JsonReader& reader) {
    const std::string text = reader.string();
    const auto time = parse_rfc3339(text);
    if (!time) reader.fail("must be a time such as 2026-11-15T03:24:24Z (RFC 3339)");
    return time.value_or(Timestamp{});
}

void check_length(JsonReader& reader, std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return;
    reader.fail(fmt::format("is {} bytes long; at most {} are allowed", text.size(), bytes_max),
                ErrorCode::too_large);
}

std::string read_name(JsonReader& reader) {
    std::string name = reader.string();
    if (name.empty()) reader.fail("must not be empty");
    if (const auto refusal = check_name("", name)) reader.fail(refusal->message, refusal->code);
    return name;
}

std::vector<std::string> read_labels(JsonReader& reader) {
    if (reader.kind() != JsonReader::Kind::object) return read_strings(reader, 1000);
    std::vector<std::string> labels;
    reader.object([&](std::string_view key) {
        std::string label(key);
        label += '=';
        label += reader.string();
        labels.push_back(std::move(label));
    });
    return labels;
}

std::string_view body_or_empty_object(const Request& request) {
    return request.body.empty() ? std::string_view("{}") : request.body;
}

Result<JobId> job_id_in_path(const Call& call) {
    if (const auto id = parse_job_id(call.param(0))) return *id;
    return Error{ErrorCode::not_found,
                 "this is not a job id: send the 24 hex digits that the engine gave", ""};
}

Result<LeaseId> lease_id_in_path(const Call& call) {
    if (const auto id = call.app.seal.read(call.param(0))) return *id;
    return Error{ErrorCode::not_found, "there is no such lease: its id comes with a claimed job",
                 ""};
}

Result<QueryParams> read_query(const Request& request,
                               std::initializer_list<std::string_view> known) {
    auto params = QueryParams::parse(request.query);
    if (!params) return Error{ErrorCode::malformed, QueryParams::complaint, ""};
    if (request.reading == Reading::tolerant) params->keep_only(known);
    for (std::size_t i = 0; i < params->all().size(); ++i) {
        const std::string& name = params->all()[i].first;
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return Error{ErrorCode::malformed,
                         fmt::format("\"{}\" is not a known parameter; known are: {}", name,
                                     fmt::join(known, ", ")),
                         ""};
        }
        for (std::size_t k = 0; k < i; ++k) {
            if (params->all()[k].first == name) {
                return Error{ErrorCode::malformed,
                             fmt::format("the parameter \"{}\" is given twice", name), ""};
            }
        }
    }
    return *std::move(params);
}

Result<std::int64_t> read_number(std::string_view text, std::string_view name, std::int64_t low,
                                 std::int64_t high) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool is_minus_zero = number == 0 && text.starts_with('-');
    if (error == std::errc{} && stop == end && number >= low && number <= high && !is_minus_zero) {
        return number;
    }
    return Error{ErrorCode::malformed,
                 fmt::format("{} must be a whole number between {} and {}", name, low, high), ""};
}

Result<std::int64_t> number_param(const QueryParams& params, std::string_view name,
                                  std::int64_t low, std::int64_t high, std::int64_t otherwise) {
    const std::string* text = params.find(name);
    return text ? read_number(*text, name, low, high) : otherwise;
}

Result<std::optional<std::int64_t>> last_event_id(const Request& request) {
    const std::string_view* header = request.header("Last-Event-ID");
    if (!header) return std::optional<std::int64_t>();
    const auto id = read_number(*header, "Last-Event-ID", 0, INT64_MAX);
    if (!id) return id.error();
    return std::optional(*id);
}

Result<std::string> checked_key(std::string_view key, std::string_view name) {
    const bool printable =
        std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (key.empty() || key.size() > limits::name_bytes || !printable) {
        return Error{ErrorCode::malformed,
                     fmt::format("{} must have 1 to {} printable characters without spaces", name,
                                 limits::name_bytes),
                     ""};
    }
    return std::string(key);
}

Result<std::string> idempotency_key(const Request& request) {
    const std::string_view* header = request.header("Idempotency-Key");
    if (!header) return std::string();
    std::string_view key = *header;
    if (key.size() >= 2 && key.front() == '"' && key.back() == '"')
        key = key.substr(1, key.size() - 2);
    return checked_key(key, "Idempotency-Key");
}

Digest body_digest(const Request& request) {
    return sha256(sha256(request.path), request.body);
}

}  // namespace sluice::http
