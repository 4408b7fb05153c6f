#include "client/worker/http_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "client/link/engine_link.hpp"
#include "client/link/repeat_pause.hpp"
#include "client/link/reportable.hpp"
#include "domain/values/percent_encoding.hpp"

namespace sluice::client {
namespace {

constexpr Millis lease_call_timeout_min{1'000};
// An engine answers a claim within this time, or lets it wait for work. A claim that is cut off
// before may have been granted, and its leases would be unknown to the worker.
constexpr Millis claim_answer_time{1'500};
constexpr std::size_t batch_items = 1000;             // that the engine takes in one call
constexpr std::size_t batch_bytes = 7 * 1024 * 1024;  // of 8 MiB
constexpr std::size_t log_bytes = 900 * 1024;         // of 1 MiB
constexpr std::string_view replacement = "\xEF\xBF\xBD";

void write_names(JsonWriter& json, std::string_view name, const std::vector<std::string>& names) {
    if (!names.empty()) json.list(name, names);
}

std::string claim_text(const ClaimRequest& request) {
    return json_object_text([&](JsonWriter& json) {
        json.field("worker_id", request.worker_id);
        if (!request.tenant.empty()) json.field("tenant", request.tenant);
        write_names(json, "queues", request.queues);
        write_names(json, "types", request.types);
        write_names(json, "labels", request.labels);
        json.field("limit", request.limit);
        if (request.lease > Millis(0)) json.field("lease_ms", request.lease.count());
        if (request.wait > Millis(0)) json.field("wait_ms", request.wait.count());
    });
}

LeasedJob read_leased(JsonReader& reader) {
    LeasedJob leased;
    reader.object([&](std::string_view key) {
        if (key == "lease_id") leased.lease_id = read_text(reader);
        if (key == "job") leased.job = read_job(reader);
    });
    if (leased.lease_id.empty()) reader.fail_at("lease_id", "is missing");
    if (leased.job.id.empty()) reader.fail_at("job", "is missing");
    return leased;
}

// A character that JSON allows and no store does: it must not cost the whole line.
void write_message(JsonWriter& json, std::string_view name, std::string_view text) {
    if (text.find('\0') == std::string_view::npos) return json.field(name, text);
    std::string clean;
    for (const char c : text) {
        if (c == '\0') {
            clean += replacement;
        } else {
            clean += c;
        }
    }
    json.field(name, clean);
}

void write_heartbeat(JsonWriter& json, const HeartbeatRequest& request) {
    json.begin_object();
    json.field("lease_id", request.lease_id);
    if (request.progress) json.field("progress", std::clamp(*request.progress, 0, 100));
    if (request.message) write_message(json, "message", *request.message);
    json.end_object();
}

std::string_view to_text(Outcome::Kind kind) {
    switch (kind) {
        case Outcome::Kind::succeeded: return "succeeded";
        case Outcome::Kind::failed: return "failed";
        case Outcome::Kind::canceled: return "canceled";
        case Outcome::Kind::timed_out: return "timed_out";
    }
    return "failed";
}

void write_report(JsonWriter& json, const ReportRequest& request) {
    const Outcome& outcome = request.outcome;
    json.begin_object();
    json.field("lease_id", request.lease_id);
    json.field("outcome", to_text(outcome.kind));
    if (!outcome.result.empty()) json.raw_field("result", outcome.result);
    if (!outcome.error_code.empty()) write_message(json, "error_code", outcome.error_code);
    if (!outcome.error_message.empty()) write_message(json, "error_message", outcome.error_message);
    if (outcome.kind == Outcome::Kind::failed) json.field("retryable", outcome.retryable);
    json.end_object();
}

void write_log_entry(JsonWriter& json, const LogEntry& entry) {
    json.begin_object();
    json.field("level", client::to_text(entry.level));
    write_message(json, "message", entry.message);
    if (!entry.data.empty()) {
        // Data that is not JSON is still worth reading, as text.
        if (problem_with_json(entry.data, json_depth::log_data).empty()) {
            json.raw_field("data", entry.data);
        } else {
            write_message(json, "data", entry.data);
        }
    }
    if (entry.at != Time{}) json.field("timestamp", entry.at);
    if (entry.line > 0) json.field("line", entry.line);
    json.end_object();
}

// A job that has ended in another way meanwhile, or does not exist any more, has no lease. Throws
// when the engine could not answer: one answer for many leases says so for each of them.
LeaseAnswer lease_answer_for(std::string_view code) {
    if (code == "unavailable" || code == "store_full" || code == "shutting_down") {
        throw Error(ErrorKind::unavailable, 503, std::string(code),
                    "the engine cannot store this now");
    }
    const bool is_lost = code == "lease_lost" || code == "conflict" || code == "not_found";
    return is_lost ? LeaseAnswer::lost : LeaseAnswer::refused;
}

LeaseAnswer read_result(JsonReader& reader) {
    LeaseAnswer answer = LeaseAnswer::held;
    reader.object([&](std::string_view key) {
        if (key == "cancel_requested" && reader.boolean()) answer = LeaseAnswer::stop_requested;
        if (key != "error" || reader.null()) return;
        reader.object([&](std::string_view part) {
            if (part == "code") answer = lease_answer_for(read_text(reader));
        });
    });
    return answer;
}

class HttpDesk : public Desk {
  public:
    explicit HttpDesk(const Options& options) : link_(options) {}

    std::vector<LeasedJob> claim(const ClaimRequest& request) override {
        if (is_stopping_) return {};
        ClaimRequest wanted = request;
        if (wanted.tenant.empty()) wanted.tenant = link_.options().tenant;
        lease_ = request.lease.count();
        ApiCall call = post("/api/v1/leases", claim_text(wanted));
        call.timeout = link_.options().timeout + request.wait;
        call.keep_on = [this, cut_at = Clock::now() + claim_answer_time] {
            return !is_stopping_ || Clock::now() < cut_at;
        };
        try {
            return read_claimed(link_.send(call).body);
        } catch (const Error& error) {
            if (is_stopping_ && error.code() == http_error::interrupted) return {};
            throw;
        }
    }

    std::vector<LeaseAnswer> heartbeat(std::span<const HeartbeatRequest> requests) override {
        return send_many(requests, "heartbeat", "heartbeats", write_heartbeat);
    }

    LeaseAnswer append_logs(const std::string& lease_id,
                            std::span<const LogEntry> entries) override {
        LeaseAnswer answer = LeaseAnswer::held;
        while (!entries.empty() && answer == LeaseAnswer::held) {
            std::string body;
            JsonWriter json(body);
            json.begin_object();
            json.key("entries");
            json.begin_array();
            std::size_t taken = 0;
            do {
                write_log_entry(json, entries[taken++]);
            } while (taken < entries.size() && taken < batch_items &&
                     body.size() + weight(entries[taken]) < log_bytes);
            json.end_array();
            json.end_object();
            answer = say(lease_id, "logs", std::move(body));
            entries = entries.subspan(taken);
        }
        return answer;
    }

    std::vector<LeaseAnswer> report(std::span<const ReportRequest> requests) override {
        if (requests.size() == 1) return {report_alone(requests.front())};
        std::vector<LeaseAnswer> answers(requests.size(), LeaseAnswer::refused);
        std::vector<ReportRequest> readable;  // whose results do not make the whole call unreadable
        std::vector<std::size_t> indexes;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const std::string& result = requests[i].outcome.result;
            if (result.empty() || problem_with_json(result, json_depth::batch_result).empty()) {
                readable.push_back(requests[i]);
                indexes.push_back(i);
            } else if (problem_with_json(result, json_depth::result).empty()) {
                answers[i] = say_alone("report", requests[i], write_report);
            }
        }
        const auto said =
            send_many(std::span<const ReportRequest>(readable), "report", "reports", write_report);
        for (std::size_t i = 0; i < said.size(); ++i) answers[indexes[i]] = said[i];
        return answers;
    }

    LeaseAnswer release(const std::string& lease_id, const std::string& reason) override {
        return say(lease_id, "release", json_object_text([&](JsonWriter& json) {
                       if (!reason.empty()) write_message(json, "reason", reason);
                   }));
    }

    // A waiting claim notices within a moment (HttpRequest::keep_on). The engine notices the closed
    // connection, and gives back the jobs that it could not send.
    void stop_waiting() override { is_stopping_ = true; }

  private:
    using Clock = std::chrono::steady_clock;

    static ApiCall post(std::string path, std::string body) {
        ApiCall call;
        call.method = "POST";
        call.path = std::move(path);
        call.body = std::move(body);
        return call;
    }

    // The upper bound of a line's size in JSON: six bytes for a control character.
    static std::size_t weight(const LogEntry& entry) {
        return 6 * (entry.message.size() + entry.data.size()) + 128;
    }

    std::vector<LeasedJob> read_claimed(const std::string& body) const {
        return link_.read_answer(body, [](JsonReader& reader) {
            return read_list<LeasedJob>(reader, "leases", read_leased);
        });
    }

    // A call about a lease that hangs must leave time for another before the lease ends.
    Millis lease_call_timeout() const {
        const Millis third = Millis(lease_.load()) / 3;
        return std::min(link_.options().timeout, std::max(third, lease_call_timeout_min));
    }

    // Throws when the engine refuses the call for another reason than the lease.
    LeaseAnswer send_or_throw(const std::string& lease_id, const std::string& verb,
                              std::string body) {
        ApiCall call =
            post("/api/v1/leases/" + percent_encoded(lease_id) + "/" + verb, std::move(body));
        call.timeout = lease_call_timeout();
        try {
            link_.send(call);
            return LeaseAnswer::held;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::refused || is_passing(error)) throw;
            if (lease_answer_for(error.code()) != LeaseAnswer::lost) throw;
            return LeaseAnswer::lost;
        }
    }

    LeaseAnswer say(const std::string& lease_id, const std::string& verb, std::string body) {
        try {
            return send_or_throw(lease_id, verb, std::move(body));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::refused || is_passing(error)) throw;
            return LeaseAnswer::refused;
        }
    }

    template <class Item, class Write>
    LeaseAnswer say_alone(const std::string& verb, const Item& item, Write write) {
        return say(item.lease_id, verb, json_text([&](JsonWriter& json) { write(json, item); }));
    }

    LeaseAnswer report_alone(const ReportRequest& request) {
        const std::string& result = request.outcome.result;
        if (!result.empty()) {
            const std::string problem = problem_with_json(result, json_depth::result);
            if (!problem.empty()) {
                throw Error(ErrorKind::refused, 0, "malformed", "the result " + problem);
            }
        }
        return send_or_throw(request.lease_id, "report",
                             json_text([&](JsonWriter& json) { write_report(json, request); }));
    }

    // Sends `requests` in as few calls as the engine's limits allow.
    template <class Item, class Write>
    std::vector<LeaseAnswer> send_many(std::span<const Item> requests, const std::string& verb,
                                       std::string_view list, Write write) {
        std::vector<LeaseAnswer> answers;
        while (!requests.empty()) {
            std::string body;
            JsonWriter json(body);
            json.begin_object();
            json.key(list);
            json.begin_array();
            std::size_t taken = 0;
            while (taken < std::min(requests.size(), batch_items)) {
                const std::size_t before = body.size();
                write(json, requests[taken]);
                if (taken > 0 && body.size() > batch_bytes) {
                    body.resize(before);
                    break;
                }
                ++taken;
            }
            json.end_array();
            json.end_object();
            const auto said = send_batch(requests.first(taken), verb, std::move(body), write);
            answers.insert(answers.end(), said.begin(), said.end());
            requests = requests.subspan(taken);
        }
        return answers;
    }

    // The engine reads a batch as a whole: if it cannot read one item it refuses all. Then each is
    // sent alone.
    template <class Item, class Write>
    std::vector<LeaseAnswer> send_batch(std::span<const Item> requests, const std::string& verb,
                                        std::string body, Write write) {
        ApiCall call = post("/api/v1/leases/" + verb, std::move(body));
        call.timeout = lease_call_timeout();
        try {
            auto answers = link_.read_answer(link_.send(call).body, [](JsonReader& reader) {
                return read_list<LeaseAnswer>(reader, "results", read_result);
            });
            if (answers.size() != requests.size()) {
                throw not_an_engine(link_.shown(),
                                    fmt::format("it answers for {} leases instead of {}",
                                                answers.size(), requests.size()));
            }
            return answers;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::refused || is_passing(error)) throw;
        }
        std::vector<LeaseAnswer> answers;
        for (const Item& item : requests) answers.push_back(say_alone(verb, item, write));
        return answers;
    }

    EngineLink link_;
    std::atomic<std::int64_t> lease_ = 30'000;  // in milliseconds, of the last claim
    std::atomic<bool> is_stopping_ = false;
};

}  // namespace

std::unique_ptr<Desk> http_desk(const Options& options) {
    return std::make_unique<HttpDesk>(options);
}

}  // namespace sluice::client
