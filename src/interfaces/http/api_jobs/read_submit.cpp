#include "interfaces/http/api_jobs/read_submit.hpp"

#include <fmt/format.h>

#include "application/toolkit/make_job.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::api_jobs {
namespace {

// A field that has two names, and the name by which it was given.
class EitherName {
  public:
    EitherName(std::string_view usual, std::string_view alias) : usual_(usual), alias_(alias) {}

    bool is(std::string_view key) const { return key == usual_ || key == alias_; }

    void given(JsonReader& reader, std::string_view key) {
        if (!given_.empty()) {
            reader.fail(fmt::format("cannot be given together with \"{}\", which means the same",
                                    key == usual_ ? alias_ : usual_));
        }
        given_ = key == usual_ ? usual_ : alias_;
    }

    std::string_view name() const { return given_.empty() ? usual_ : given_; }

  private:
    std::string_view usual_;
    std::string_view alias_;
    std::string_view given_{};
};

struct Submission {
    NewJob job{.max_attempts = 1};
    std::string idempotency_key{};
    EitherName action{"action", "jobType"};
    EitherName input{"input", "payload"};
};

void read_key(JsonReader& reader, Submission& submission) {
    auto key = checked_key(reader.string(), "idempotencyKey");
    if (!key) return reader.fail(key.error().message);
    submission.idempotency_key = *std::move(key);
}

// Reads the field of this name; false when there is none.
bool read_field(JsonReader& reader, std::string_view key, Submission& submission) {
    NewJob& job = submission.job;
    if (submission.action.is(key)) {
        submission.action.given(reader, key);
        job.type = reader.string();
    } else if (key == "tenant") {
        job.tenant = reader.string();
    } else if (key == "project") {
        job.project = reader.string();
    } else if (key == "priority") {
        job.priority = static_cast<int>(reader.integer(-limits::priority, limits::priority));
    } else if (key == "correlationId") {
        job.correlation_id = reader.string();
    } else if (key == "maxAttempts") {
        job.max_attempts = static_cast<int>(reader.integer(1, limits::attempts));
    } else if (key == "timeoutMs") {
        job.timeout = read_millis(reader, Duration{0}, limits::timeout);
    } else if (key == "runAfter") {
        job.run_after = read_timestamp(reader);
    } else if (key == "labels") {
        job.labels = read_labels(reader);
    } else if (key == "idempotencyKey") {
        read_key(reader, submission);
    } else {
        return false;
    }
    return true;
}

Result<Submission> read_body(const Call& call) {
    JsonReader reader = given_body_reader(call.request);
    Submission submission;
    submission.job.tenant = call.caller->tenant;
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (submission.input.is(key)) {
            submission.input.given(reader, key);
            submission.job.payload = reader.raw();
            return;
        }
        if (reader.null()) return;  // the same as not given
        if (!read_field(reader, key, submission)) unknown.add(key);
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    return submission;
}

// The fields that the rules for jobs know by another name than this contract.
std::string pointer_here(const std::string& pointer, const Submission& submission) {
    if (pointer == "/type") return fmt::format("/{}", submission.action.name());
    if (pointer == "/payload") return fmt::format("/{}", submission.input.name());
    if (pointer == "/correlation_id") return "/correlationId";
    if (pointer == "/run_after") return "/runAfter";
    return pointer;
}

// The key is in the header or in the body; when it is in both, it must be the same.
Result<std::string> key_of(const Request& request, const std::string& in_body) {
    auto in_header = idempotency_key(request);
    if (!in_header || in_body.empty() || *in_header == in_body) return in_header;
    if (in_header->empty()) return in_body;
    return Error{ErrorCode::invalid, "differs from the header Idempotency-Key; send one of them",
                 "/idempotencyKey"};
}

}  // namespace

Result<SubmitJobs> read_submit(const Call& call) {
    auto submission = read_body(call);
    if (!submission) return submission.error();
    if (auto refusal = refuse_tenant(*call.caller, submission->job.tenant, "/tenant")) {
        return *std::move(refusal);
    }
    auto key = key_of(call.request, submission->idempotency_key);
    if (!key) return key.error();
    submission->job.source = source_of(*call.caller);
    auto spec = make_job(std::move(submission->job), call.app.rules.types, call.app.clock.now());
    if (!spec) {
        spec.error().pointer = pointer_here(spec.error().pointer, *submission);
        return spec.error();
    }
    SubmitJobs command;
    command.jobs.push_back(*std::move(spec));
    command.actor = actor_name(*call.caller);
    if (!key->empty()) {
        command.idempotency_key = *std::move(key);
        command.body_digest = body_digest(call.request);
    }
    return command;
}

}  // namespace sluice::http::api_jobs
