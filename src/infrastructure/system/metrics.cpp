#include "infrastructure/system/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <mutex>
#include <tuple>

#include "application/engine/duties.hpp"
#include "infrastructure/system/metrics_text.hpp"

namespace sluice {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets seconds_buckets{.0001, .00025, .0005, .001, .0025, .005, .01, .025,
                              .05,   .1,     .25,   .5,   1,     2.5,  5,   10};
const Buckets size_buckets{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};

template <class Builder>
auto& family(prometheus::Registry& registry, Builder builder, const char* name, const char* help) {
    return builder.Name(name).Help(help).Register(registry);
}

double to_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

struct Metrics::Families {
    prometheus::Registry registry;

    prometheus::Counter& counter(const char* name, const char* help) {
        return family(registry, BuildCounter(), name, help).Add({});
    }
    prometheus::Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
        return family(registry, BuildHistogram(), name, help).Add({}, buckets);
    }

    prometheus::Counter& submitted =
        counter("sluice_jobs_submitted_total", "Jobs that were accepted");
    prometheus::Counter& claimed =
        counter("sluice_jobs_claimed_total", "Jobs that were handed to workers");
    prometheus::Family<prometheus::Counter>& completed = family(
        registry, BuildCounter(), "sluice_jobs_completed_total", "Jobs that ended, by outcome");
    prometheus::Counter& retried =
        counter("sluice_job_retries_total", "Failed attempts that were queued again");
    prometheus::Counter& extended =
        counter("sluice_lease_extensions_total", "Heartbeats that extended a lease");
    prometheus::Counter& expired =
        counter("sluice_lease_expiries_total", "Leases that ran out under a running job");
    prometheus::Counter& log_lines =
        counter("sluice_log_lines_total", "Log lines that were stored");
    prometheus::Counter& failed_commits =
        counter("sluice_commit_failures_total", "Batches that the store refused");
    prometheus::Gauge& waiting =
        family(registry, BuildGauge(), "sluice_waiting_claims", "Claims that wait for work")
            .Add({});
    prometheus::Gauge& space =
        family(registry, BuildGauge(), "sluice_store_room",
               "Room of the store: 2 there is, 1 the reserve is in use, 0 that is used up")
            .Add({});
    prometheus::Histogram& batch =
        histogram("sluice_commit_batch_size", "Commands in one commit", size_buckets);
    prometheus::Histogram& commit = histogram(
        "sluice_commit_seconds", "Time from opening a transaction to its commit", seconds_buckets);
    prometheus::Family<prometheus::Histogram>& requests =
        family(registry, BuildHistogram(), "sluice_http_request_seconds",
               "Time to answer a request, waiting for work included");
    prometheus::Gauge& answer_bytes = family(registry, BuildGauge(), "sluice_http_answer_bytes",
                                             "Bytes of large answers that wait for their readers")
                                          .Add({});
    prometheus::Counter& cut_readers = counter(
        "sluice_http_cut_readers_total", "Readers of large answers that were cut to make room");
    prometheus::Counter& refused_answers =
        counter("sluice_http_refused_answers_total", "Large answers for which there was no room");
    prometheus::Family<prometheus::Gauge>& depth = family(
        registry, BuildGauge(), "sluice_queue_depth", "Jobs that are queued, by queue and type");

    // Each duty is there from the start, so that a duty that never runs can be seen.
    struct OfDuty {
        prometheus::Counter& runs;
        prometheus::Counter& failures;
        prometheus::Counter& items;
        prometheus::Gauge& last;
    };
    prometheus::Family<prometheus::Counter>& duty_runs =
        family(registry, BuildCounter(), "sluice_duty_runs_total",
               "Runs of what is done unasked, by duty");
    prometheus::Family<prometheus::Counter>& duty_failures =
        family(registry, BuildCounter(), "sluice_duty_failures_total",
               "Runs of which nothing was kept, since the store refused it");
    prometheus::Family<prometheus::Counter>& duty_items =
        family(registry, BuildCounter(), "sluice_duty_items_total",
               "What duties have dealt with: leases, keys, jobs, windows");
    prometheus::Family<prometheus::Gauge>& duty_last =
        family(registry, BuildGauge(), "sluice_duty_last_run_seconds",
               "When a duty last ran and did not fail, in seconds since 1970");
    std::map<std::string_view, OfDuty> duties = [this] {
        std::map<std::string_view, OfDuty> made;
        for (const DutyName& duty : duty::all) {
            const prometheus::Labels labels{{"duty", std::string(duty.name)}};
            made.emplace(duty.name, OfDuty{duty_runs.Add(labels), duty_failures.Add(labels),
                                           duty_items.Add(labels), duty_last.Add(labels)});
        }
        return made;
    }();

    // Looking a metric up by its labels builds a map of strings; requests come too often for that.
    std::mutex mutex;
    std::map<std::tuple<std::string_view, std::string_view, int>, prometheus::Histogram*> by_route;
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>()) {
    family(families_->registry, BuildGauge(), "sluice_build_info", "Which version runs")
        .Add({{"version", std::string(version)}})
        .Set(1);
    for (int i = 2; i < 6; ++i) {
        families_->completed.Add({{"outcome", std::string(to_text(static_cast<JobState>(i)))}});
    }
}

Metrics::~Metrics() = default;

void Metrics::committed(const CommitRecord& record) {
    Families& to = *families_;
    if (record.has_failed()) to.failed_commits.Increment();
    if (record.waiting_claims) to.waiting.Set(static_cast<double>(*record.waiting_claims));
    to.space.Set(2.0 - static_cast<double>(record.space));
    if (record.commands > 0) {
        to.batch.Observe(static_cast<double>(record.commands));
        to.commit.Observe(to_seconds(record.took));
    }
    const auto add = [](prometheus::Counter& counter, std::int64_t count) {
        if (count > 0) counter.Increment(static_cast<double>(count));
    };
    for (const DutyRun& run : record.duties) ran(run);
    add(to.submitted, record.submitted);
    add(to.claimed, record.claimed);
    add(to.retried, record.retried);
    add(to.extended, record.leases_extended);
    add(to.expired, record.leases_expired);
    add(to.log_lines, record.log_lines);
    for (std::size_t i = 0; i < record.ended.size(); ++i) {
        if (record.ended[i] == 0) continue;
        add(to.completed.Add({{"outcome", std::string(to_text(static_cast<JobState>(i)))}}),
            record.ended[i]);
    }
}

void Metrics::ran(const DutyRun& run) {
    const Families::OfDuty& duty = families_->duties.at(run.duty);
    duty.runs.Increment();
    if (run.failed) return duty.failures.Increment();
    if (run.items > 0) duty.items.Increment(static_cast<double>(run.items));
    duty.last.Set(to_seconds(run.at.time_since_epoch()));
}

void Metrics::answered(std::string_view verb, std::string_view route, int status, Duration took) {
    prometheus::Histogram* histogram = nullptr;
    {
        const std::lock_guard lock(families_->mutex);
        // Verbs and routes are constants, so that views of them can be kept.
        prometheus::Histogram*& known = families_->by_route[{verb, route, status}];
        if (!known) {
            known = &families_->requests.Add({{"method", std::string(verb)},
                                              {"route", std::string(route)},
                                              {"status", std::to_string(status)}},
                                             seconds_buckets);
        }
        histogram = known;
    }
    histogram->Observe(to_seconds(took));
}

void Metrics::answering(const Answers& answers) {
    families_->answer_bytes.Set(static_cast<double>(answers.bytes));
    const auto set = [](prometheus::Counter& counter, std::uint64_t total) {
        counter.Increment(static_cast<double>(total) - counter.Value());
    };
    set(families_->cut_readers, answers.cut);
    set(families_->refused_answers, answers.refused);
}

std::string Metrics::text(const Depths& depths) {
    std::map<std::pair<std::string, std::string>, double> by_type;
    for (const Depth& depth : depths) {
        by_type[{depth.lane.queue, depth.lane.type}] += static_cast<double>(depth.queued);
    }
    std::vector<prometheus::Gauge*> shown;
    for (const auto& [names, count] : by_type) {
        prometheus::Gauge& gauge =
            families_->depth.Add({{"queue", names.first}, {"type", names.second}});
        gauge.Set(count);
        shown.push_back(&gauge);
    }
    std::string text = metrics_text(families_->registry.Collect());
    // A queue that is empty next time must not show its old depth.
    for (prometheus::Gauge* gauge : shown) families_->depth.Remove(gauge);
    return text;
}

}  // namespace sluice
