// Ids, query strings and cursors. Beyond not breaking: ids are written as they were read, a cursor
// leads on in the list that gave it and in no other one, and links lead back to the same filters.
#include <algorithm>
#include <string>

#include "input.hpp"
#include "interfaces/http/native/read_entity.hpp"
#include "interfaces/http/requests/job_filter.hpp"
#include "support/quiet_app.hpp"

namespace sluice::http::native {
namespace {

using fuzz::expect;

void read_ids(std::string_view text) {
    if (const auto id = parse_job_id(text)) {
        expect(parse_job_id(to_text(*id)) == id, "a job id can be read again");
        expect(to_text(*id) == text, "a job id has one form");
    }
    if (const auto id = parse_lease_id(text)) {
        expect(parse_lease_id(to_text(*id)) == id, "a lease id can be read again");
        expect(to_text(*id) == text, "a lease id has one form");
    }
    if (const auto range = ids_with_prefix(text)) {
        expect(range->first <= range->last, "a range has an order");
        expect(to_text(range->first).starts_with(text), "the first id has the prefix");
        expect(to_text(range->last).starts_with(text), "the last id has the prefix");
    }
    if (const auto time = parse_rfc3339(text)) {
        expect(parse_rfc3339(to_rfc3339(*time)).has_value(), "a time can be read again");
    }
}

const CallerPtr ada = std::make_shared<Caller>(Caller{.tenant = "acme", .name = "ada"});
const CallerPtr eve = std::make_shared<Caller>(Caller{.tenant = "other", .name = "eve"});

http::Call call_of(const Request& request, const CallerPtr& caller) {
    static QuietApp app;
    return app.call(request, caller);
}

Request request_for(std::string_view query) {
    Request request;
    request.query = query;
    return request;
}

Result<JobListQuery> read_list(std::string_view query, const CallerPtr& caller = ada) {
    const Request request = request_for(query);
    return read_job_list(call_of(request, caller));
}

// The query of a link: </path?query>; rel="next"
std::string query_in(const std::string& link) {
    const std::size_t begin = link.find('?') + 1;
    return link.substr(begin, link.find('>') - begin);
}

void read_job_query(std::string_view text) {
    const auto query = read_list(text);
    if (!query) return;
    expect(query->filter.tenant == "acme", "everybody sees their own");
    expect(query->limit >= 1 && query->limit <= 200, "pages have a limit");
    const std::string cursor = cursor_after(*query, JobId{123'456'789'000});
    const std::string link = link_to_next("/jobs", *query, cursor);
    expect(link.find_first_of("\r\n") == link.npos, "a link is one line");

    const auto next = read_list(query_in(link));
    expect(static_cast<bool>(next), "the link can be followed");
    expect(next->before == JobId{123'456'789'000}, "the cursor leads on");
    expect(next->limit == query->limit, "with the same limit");
    expect(next->filter_query == query->filter_query, "and the same filters");

    expect(!read_list(query_in(link), eve), "a cursor is of no use to another tenant");
    const std::string others = "project=p-1" + query->filter_query;
    expect(!read_list(others + "&cursor=" + cursor), "nor with other filters");
}

Result<EntityListQuery> read_entities(std::string_view query, const CallerPtr& caller = ada) {
    const Request request = request_for(query);
    return read_entity_list(call_of(request, caller), "");
}

// Two lists at once, with a line end between: a cursor of the one fits the other only when both
// have the same filters.
void read_entity_queries(std::string_view text) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    const auto query = read_entities(text.substr(0, line_end));
    if (!query) return;
    expect(query->filter.tenant == "acme", "everybody sees their own");
    const std::string cursor = entity_cursor(*query, 5);
    expect(!read_entities("cursor=" + cursor, eve), "a cursor is of no use to another tenant");
    const std::string_view second = text.substr(std::min(line_end + 1, text.size()));
    const auto other = read_entities(std::string(second) + "&cursor=" + cursor);
    if (!other) return;
    expect(other->before == 5, "the cursor leads on");
    expect(other->filter.kind == query->filter.kind &&
               other->filter.parent == query->filter.parent &&
               other->filter.states == query->filter.states,
           "in the list that gave it");
}

}  // namespace

void run(std::string_view input) {
    constexpr void (*readers[])(std::string_view) = {read_ids, read_job_query, read_entity_queries};
    readers[fuzz::take_choice(input, std::size(readers))](input);
}

}  // namespace sluice::http::native

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::http::native::run(sluice::fuzz::text_of(data, size));
    return 0;
}
