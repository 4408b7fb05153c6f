#include "support/builders.hpp"

#include <limits>
#include <ostream>

#include "domain/values/check.hpp"

namespace sluice {
namespace {

// Any step that leads from one state to the other serves a store.
void move(Job& job, JobState to, Timestamp now) {
    for (const Transition& row : transitions) {
        if (row.from != job.now.state || row.to != to) continue;
        const JobState from = job.now.state;
        job.now.state = to;
        record(job, {.step = row.step,
                     .from = from,
                     .lease = {},
                     .actor = "test",
                     .at = now,
                     .detail = ""});
        return;
    }
    check(false, "the test asks for a change that the table does not know");
}

// Writes fields one after the other, long texts by their ends.
class Fields {
  public:
    explicit Fields(std::ostream& out) : out_(out) {}

    Fields& add(const char* name, const std::string& value) {
        out_ << ' ' << name << "='" << value.substr(0, 60);
        if (value.size() > 60) out_ << "…(" << value.size() << " bytes)";
        out_ << '\'';
        return *this;
    }
    Fields& add(const char* name, std::int64_t value) {
        out_ << ' ' << name << '=' << value;
        return *this;
    }
    Fields& add(const char* name, std::optional<Timestamp> value) {
        return value ? add(name, to_micros(*value)) : add(name, std::string("none"));
    }
    Fields& add(const char* name, const std::vector<std::string>& values) {
        for (const std::string& value : values) add(name, value);
        return *this;
    }

  private:
    std::ostream& out_;
};

void print_spec(const JobSpec& spec, Fields& fields) {
    fields.add("tenant", spec.tenant).add("project", spec.project).add("queue", spec.queue);
    fields.add("type", spec.type).add("priority", spec.priority);
    fields.add("created_at", spec.created_at).add("spec.run_after", spec.run_after);
    fields.add("timeout", spec.timeout.count()).add("max_attempts", spec.max_attempts);
    fields.add("backoff", static_cast<int>(spec.backoff.kind));
    fields.add("base", spec.backoff.base.count()).add("cap", spec.backoff.cap.count());
    for (const Duration delay : spec.backoff.delays) fields.add("delay", delay.count());
    fields.add("retry_on_timeout", spec.retry_on_timeout);
    fields.add("entity_type", spec.entity_type).add("entity_id", spec.entity_id);
    fields.add("site_id", spec.site_id).add("node_id", spec.node_id);
    fields.add("key", spec.exclusive_keys).add("label", spec.labels);
    for (const JobId dependency : spec.depends_on) fields.add("depends_on", dependency.value);
    fields.add("on_failure", static_cast<int>(spec.on_dependency_failure));
    fields.add("source", spec.source).add("correlation_id", spec.correlation_id);
    fields.add("idempotency_key", spec.idempotency_key);
    fields.add("replay_of", spec.replay_of ? spec.replay_of->value : -1);
    fields.add("payload", spec.payload).add("digest", to_hex(spec.payload_digest));
}

void print_lease(const Lease& lease, Fields& fields) {
    fields.add("token", lease.token.value).add("worker_id", lease.worker_id);
    fields.add("since", lease.since).add("until", lease.until).add("term", lease.term.count());
    fields.add("stop_requested", lease.stop_requested);
    fields.add("client_seq", lease.client_seq).add("batch_mark", lease.batch_mark);
}

}  // namespace

const std::string unusual_text = "it's \"quoted\" \\ {1:,} %s\t\n\x01 žluťoučký 水門 🚰 ';--";

Timestamp at(int seconds) {
    return from_micros((1'767'225'600 + std::int64_t{seconds}) * 1'000'000);
}

JobSpec spec(std::string type) {
    JobSpec made;
    made.type = std::move(type);
    made.created_at = at(0);
    made.run_after = at(0);
    made.payload_digest = sha256(made.payload);
    return made;
}

JobSpec spec(std::int64_t id, std::string type) {
    JobSpec made = spec(std::move(type));
    made.id = JobId{id};
    return made;
}

JobSpec unusual_spec(std::int64_t id, JobId dependency) {
    JobSpec made;
    made.id = JobId{id};
    made.tenant = "tenant " + unusual_text;
    made.project = "project " + unusual_text;
    made.queue = "queue " + unusual_text;
    made.type = "type " + unusual_text;
    made.priority = std::numeric_limits<int>::min();
    made.created_at = from_micros(-62'135'596'800'000'001);
    made.run_after = from_micros(253'402'300'799'999'999);
    made.timeout = Duration{1};
    made.max_attempts = std::numeric_limits<int>::max();
    made.backoff = Backoff::list({Duration{0}, Duration{1}, std::chrono::hours(24 * 365)});
    made.retry_on_timeout = true;
    made.entity_type = "entity type " + unusual_text;
    made.entity_id = "entity id " + unusual_text;
    made.site_id = "site " + unusual_text;
    made.node_id = "node " + unusual_text;
    made.exclusive_keys = {"key " + unusual_text, "", "a,b", "3:abc"};
    made.labels = {"", "a,b", "gpu=" + unusual_text};
    made.depends_on = {dependency};
    made.on_dependency_failure = OnDependencyFailure::run;
    made.source = "source " + unusual_text;
    made.correlation_id = "correlation " + unusual_text;
    made.idempotency_key = "idempotency " + unusual_text;
    made.replay_of = JobId{std::numeric_limits<std::int64_t>::max()};
    made.payload = "{ \"text\" : \"" + std::string(256 * 1024, 'x') + "水\" ,\r\n\"n\":1.0e+2 }";
    made.payload_digest = sha256(made.payload);
    return made;
}

Job queued(JobSpec spec) {
    Job job = accepted(std::move(spec));
    record(job, {.step = Step::submitted,
                 .from = {},
                 .lease = {},
                 .actor = "test",
                 .at = at(0),
                 .detail = ""});
    return job;
}

Job running(Job job, const Claim& claim) {
    ++job.now.attempt;
    job.now.started_at = claim.now;
    job.lease = Lease{.token = LeaseToken{claim.token},
                      .worker_id = claim.worker_id,
                      .since = claim.now,
                      .until = claim.now + claim.term,
                      .term = claim.term};
    move(job, JobState::running, claim.now);
    return job;
}

Job requeued(Job job, Timestamp run_after) {
    job.lease.reset();
    job.now.started_at.reset();
    job.now.run_after = run_after;
    move(job, JobState::queued, run_after);
    return job;
}

Job ended(Job job, JobState state, Timestamp now) {
    job.lease.reset();
    job.now.completed_at = now;
    move(job, state, now);
    return job;
}

Job ended_under_worker(Job job, JobState state, Timestamp now) {
    job.lease->stop_requested = true;
    job.now.completed_at = now;
    move(job, state, now);
    return job;
}

Event event(std::int64_t job, std::int64_t seq) {
    Event made;
    made.job = JobId{job};
    made.seq = seq;
    made.step = seq == 1 ? Step::submitted : Step::claimed;
    made.actor = "test";
    made.at = at(static_cast<int>(seq));
    made.hash = digest(static_cast<int>(seq));
    return made;
}

LogLine log_line(std::int64_t job, std::int64_t seq) {
    LogLine made;
    made.job = JobId{job};
    made.seq = seq;
    made.attempt = 1;
    made.message = "line " + std::to_string(seq);
    made.at = at(static_cast<int>(seq));
    return made;
}

Digest digest(int seed) {
    return sha256("digest " + std::to_string(seed));
}

std::vector<JobId> ids_of(const std::vector<Job>& jobs) {
    std::vector<JobId> ids;
    ids.reserve(jobs.size());
    for (const Job& job : jobs) ids.push_back(job.spec->id);
    return ids;
}

void PrintTo(JobId id, std::ostream* out) {
    *out << '#' << id.value;
}

void PrintTo(const Job& job, std::ostream* out) {
    PrintTo(job.spec->id, out);
    *out << ' ' << to_text(job.now.state);
    Fields fields(*out);
    fields.add("attempt", job.now.attempt).add("run_after", job.now.run_after);
    fields.add("started_at", job.now.started_at).add("completed_at", job.now.completed_at);
    fields.add("progress", job.now.progress.value_or(-1)).add("message", job.now.message);
    fields.add("result", job.now.result).add("error_code", job.now.error_code);
    fields.add("error_message", job.now.error_message).add("log_seq", job.now.log_seq);
    fields.add("head.seq", job.now.head.seq).add("head.hash", to_hex(job.now.head.hash));
    if (job.lease) print_lease(*job.lease, fields);
    print_spec(job.spec, fields);
}

}  // namespace sluice
