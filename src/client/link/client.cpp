#include "sluice/client.hpp"

#include "client/link/engine_link.hpp"
#include "client/link/job_stream.hpp"
#include "domain/values/percent_encoding.hpp"

namespace sluice::client {
namespace {

// The query of a call: a question mark before the first parameter, & before the others.
class Query {
  public:
    void add(std::string_view name, std::string_view value) {
        text_ += text_.empty() ? '?' : '&';
        text_ += percent_encoded(name) + "=" + percent_encoded(value);
    }
    void add_tenant(const Options& options) {
        if (!options.tenant.empty()) add("tenant", options.tenant);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

ApiCall post(std::string path, std::string body) {
    ApiCall call;
    call.method = "POST";
    call.path = std::move(path);
    call.body = std::move(body);
    return call;
}

ApiCall get_call(std::string path) {
    ApiCall call;
    call.path = std::move(path);
    return call;
}

std::string reason_text(const std::string& reason) {
    return json_object_text([&](JsonWriter& json) {
        if (!reason.empty()) json.field("reason", reason);
    });
}

// Checked here, so that a key cannot break out of its header.
void check_key(const std::string& key) {
    for (const char c : key) {
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') continue;
        throw Error(ErrorKind::usage, 0, "invalid",
                    "an idempotency key has printable characters only, and no quote or backslash");
    }
}

std::string key_or_fresh(const std::string& key) {
    check_key(key);
    return key.empty() ? fresh_idempotency_key() : key;
}

}  // namespace

std::string job_path(const Options& options, const std::string& id, std::string_view verb) {
    if (id.empty()) throw Error(ErrorKind::usage, 0, "invalid", "a job's id is empty");
    Query query;
    query.add_tenant(options);
    std::string path = "/api/v1/jobs/" + percent_encoded(id);
    if (!verb.empty()) path.append("/").append(verb);
    return path + query.text();
}

Client::Client(Options options) : link_(std::make_unique<EngineLink>(std::move(options))) {}
Client::~Client() = default;

const Options& Client::options() const {
    return link_->options();
}

void Client::show_requests(std::function<void(const Request&)> seen) {
    link_->show_requests(std::move(seen));
}

Job Client::submit(const NewJob& job) {
    ApiCall call =
        post("/api/v1/jobs",
             json_text([&](JsonWriter& json) { write_new_job(json, job, options().tenant, ""); }));
    call.idempotency_key = key_or_fresh(job.idempotency_key);
    return link_->read_answer(link_->send_patiently(call).body, read_job);
}

std::vector<Job> Client::submit(const std::vector<NewJob>& jobs) {
    if (jobs.empty()) return {};
    std::string body = json_object_text([&](JsonWriter& json) {
        json.key("jobs");
        json.begin_array();
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            write_new_job(json, jobs[i], options().tenant, "/jobs/" + std::to_string(i));
        }
        json.end_array();
    });
    ApiCall call = post("/api/v1/jobs/batch", std::move(body));
    call.idempotency_key = key_or_fresh(jobs.front().idempotency_key);
    return link_->read_answer(link_->send_patiently(call).body, [](JsonReader& reader) {
        return read_list<Job>(reader, "jobs", read_job);
    });
}

Job Client::get(const std::string& id) {
    const ApiCall call = get_call(job_path(options(), id, ""));
    return link_->read_answer(link_->send_patiently(call).body, read_job);
}

JobPage Client::list(const JobQuery& query) {
    Query text;
    bool names_tenant = false;
    for (const auto& [name, value] : query.filters) {
        names_tenant |= name == "tenant";
        text.add(name, value);
    }
    if (!names_tenant) text.add_tenant(options());
    text.add("limit", std::to_string(query.limit));
    if (!query.cursor.empty()) text.add("cursor", query.cursor);
    HttpResponse answer = link_->send_patiently(get_call("/api/v1/jobs" + text.text()));
    JobPage page = link_->read_answer(answer.body, [](JsonReader& reader) {
        JobPage read;
        read.jobs = read_list<Job>(reader, "jobs", read_job, [&](std::string_view key) {
            if (key == "next_cursor") read.next_cursor = read_text(reader);
        });
        return read;
    });
    page.json = std::move(answer.body);
    return page;
}

Job Client::cancel(const std::string& id, const std::string& reason) {
    const ApiCall call = post(job_path(options(), id, "cancel"), reason_text(reason));
    return link_->read_answer(link_->send_patiently(call).body, read_job);
}

Job Client::replay(const std::string& id, const std::string& reason) {
    ApiCall call = post(job_path(options(), id, "replay"), reason_text(reason));
    call.idempotency_key = fresh_idempotency_key();
    return link_->read_answer(link_->send_patiently(call).body, read_job);
}

Explanation Client::explain(const std::string& id) {
    const ApiCall call = get_call(job_path(options(), id, "explain"));
    return link_->read_answer(link_->send_patiently(call).body, read_explanation);
}

namespace {

std::string page_path(const Options& options, const std::string& id, std::string_view list,
                      std::int64_t after, int limit) {
    std::string path = job_path(options, id, list);
    path += path.find('?') == std::string::npos ? '?' : '&';
    return path + "after=" + std::to_string(after) + "&limit=" + std::to_string(limit);
}

}  // namespace

std::vector<LogLine> Client::logs(const std::string& id, std::int64_t after, int limit) {
    const ApiCall call = get_call(page_path(options(), id, "logs", after, limit));
    return link_->read_answer(link_->send_patiently(call).body, [](JsonReader& reader) {
        return read_list<LogLine>(reader, "logs", read_log_line);
    });
}

std::vector<Event> Client::events(const std::string& id, std::int64_t after, int limit) {
    const ApiCall call = get_call(page_path(options(), id, "events", after, limit));
    return link_->read_answer(link_->send_patiently(call).body, [](JsonReader& reader) {
        return read_list<Event>(reader, "events", read_event);
    });
}

std::vector<WorkerSeen> Client::workers() {
    Query query;
    query.add_tenant(options());
    const ApiCall call = get_call("/api/v1/workers" + query.text());
    return link_->read_answer(link_->send_patiently(call).body, [](JsonReader& reader) {
        return read_list<WorkerSeen>(reader, "workers", read_worker);
    });
}

std::optional<Job> Client::wait(const std::string& id, std::optional<Millis> limit) {
    return wait_for_end(*link_, id, limit);
}

bool Client::follow(const std::string& id, std::int64_t position,
                    const std::function<bool(const Update&)>& on_update,
                    const std::function<bool()>& keep_on) {
    return follow_job(*link_, id, position, on_update, keep_on);
}

std::string Client::call(const std::string& method, const std::string& path,
                         const std::string& body, bool repeatable, const Headers& headers) {
    if (!path.starts_with('/')) {
        throw Error(ErrorKind::usage, 0, "invalid", "the path \"" + path + "\" must begin with /");
    }
    ApiCall call;
    call.method = method;
    call.path = path;
    call.body = body;
    call.headers = headers;
    call.at_most_once = !repeatable;
    return repeatable ? link_->send_patiently(call).body : link_->send(call).body;
}

void Client::interrupt() {
    link_->interrupt();
}

}  // namespace sluice::client
