#include "nodes/history_export.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "e2e/http_client.hpp"
#include "e2e/process.hpp"
#include "nodes/actors.hpp"

namespace sluice::nodes {
namespace {

using e2e::Fields;
using e2e::Json;
using e2e::List;
using e2e::text;

// A reader whose connection to the database broke says so once, and gets another one.
Json get(e2e::Client& http, const std::string& path) {
    e2e::Response response;
    e2e::eventually([&] { return (response = http.get(path)).status != 503; });
    if (response.status != 200) throw std::runtime_error(path + ": " + response.body);
    return e2e::parse(response.body);
}

// All pages of a job's events or logs.
void export_pages(e2e::Client& http, const std::string& job, const std::string& kind,
                  std::ofstream& file) {
    const std::string member = kind + "s";
    for (std::int64_t after = 0;;) {
        const Json page = get(http, "/api/v1/jobs/" + job + "/" + member +
                                        "?limit=1000&after=" + std::to_string(after));
        const List& items = e2e::list(page, member);
        for (const Json& item : items) {
            file << serialize(Fields{{"kind", kind}, {"job_id", job}, {kind, item}}) << '\n';
        }
        if (items.empty()) return;
        after = e2e::number(page, "next_after");
    }
}

// All pages of a list.
void list_all(e2e::Client& http, const std::string& path, const std::string& member, List& items) {
    std::string cursor;
    do {
        const Json page =
            get(http, path + "&limit=200" + (cursor.empty() ? "" : "&cursor=" + cursor));
        for (const Json& item : e2e::list(page, member)) items.push_back(item);
        cursor = text(page, "next_cursor");
    } while (!cursor.empty());
}

// The entities that follow jobs, and the events of each.
void export_gadgets(e2e::Client& http, const std::string& tenant, std::ofstream& file) {
    List gadgets;
    const std::string kind = gadget_kind;
    list_all(http, "/api/v1/entities?kind=" + kind + "&tenant=" + tenant, "entities", gadgets);
    for (const Json& gadget : gadgets) {
        List events;
        for (std::int64_t after = 0;;) {
            const Json page = get(http, "/api/v1/entities/" + kind + "/" + text(gadget, "id") +
                                            "/events?limit=1000&tenant=" + tenant +
                                            "&after=" + std::to_string(after));
            const List& items = e2e::list(page, "events");
            if (items.empty()) break;
            events.insert(events.end(), items.begin(), items.end());
            after = e2e::number(page, "next_after");
        }
        file << serialize(Fields{{"kind", "entity"}, {"entity", gadget}, {"events", events}})
             << '\n';
    }
}

// Every change of a limit, and those that are in force.
void export_limits(e2e::Client& http, std::ofstream& file) {
    for (std::int64_t after = 0;;) {
        const Json page =
            get(http, "/api/v1/limits/history?limit=1000&after=" + std::to_string(after));
        const List& changes = e2e::list(page, "events");
        for (const Json& change : changes) {
            file << serialize(Fields{{"kind", "limit_change"}, {"change", change}}) << '\n';
        }
        if (changes.empty()) break;
        after = e2e::number(page, "next_after");
    }
    const Json limits = get(http, "/api/v1/limits");
    for (const Json& limit : e2e::list(limits, "limits")) {
        file << serialize(Fields{{"kind", "limit"}, {"limit", limit}}) << '\n';
    }
}

}  // namespace

List all_jobs(std::uint16_t port) {
    e2e::Client http(port);
    List jobs;
    for (const std::string tenant : tenants) {
        list_all(http, "/api/v1/jobs?queue=" + std::string(queue_name) + "&tenant=" + tenant,
                 "jobs", jobs);
    }
    return jobs;
}

bool all_ended(const List& jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [](const Json& job) {
        const std::string state = text(job, "state");
        return state != "queued" && state != "running" && e2e::is_null(job, "locked_by");
    });
}

void export_history(std::uint16_t port, const List& jobs, const std::filesystem::path& path) {
    e2e::Client http(port);
    std::ofstream file(path);
    for (const Json& job : jobs) {
        file << serialize(Fields{{"kind", "job"}, {"job", job}}) << '\n';
        export_pages(http, text(job, "id"), "event", file);
        export_pages(http, text(job, "id"), "log", file);
    }
    for (const char* tenant : tenants) export_gadgets(http, tenant, file);
    export_limits(http, file);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace sluice::nodes
