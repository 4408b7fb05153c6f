#include "application/verify_history.hpp"

#include <fmt/format.h>

#include "domain/json_text.hpp"

namespace sluice {
namespace {

constexpr int page = 500;

std::string follows(const Event& event, std::optional<JobState> state) {
    if (event.step == Step::submitted) {
        if (event.seq != 1) return "a job is submitted once";
        return event.to == JobState::queued && !event.from ? "" : "a submitted job is queued";
    }
    if (!state) return "the first event is not the submission";
    if (event.step == Step::lease_closed)
        return event.from || event.to ? "it must not change the state" : "";
    if (event.from != state) return fmt::format("the job was {} before", to_text(*state));
    if (event.to != next_state(*state, event.step)) {
        return fmt::format("a {} job cannot become {} by being {}", to_text(*state),
                           event.to ? to_text(*event.to) : "nothing", to_text(event.step));
    }
    return "";
}

bool has_member(const std::string& detail, std::string_view name, const std::string& value) {
    if (value.empty()) return true;
    std::string member;
    append_json_string(member, name);
    member += ':';
    append_json_string(member, value);
    return detail.find(member) != std::string::npos;
}

// How a job ended stands in its own row, too, for reading it quickly. The event that ended it knows
// better.
std::string differs_from(const Event& ending, const Job& job) {
    if (job.now.completed_at != ending.at) return "the job says another time of its end";
    if (job.now.attempt != ending.attempt) return "the job says another number of attempts";
    if (ending.to == JobState::canceled) return "";  // what it says may be of an earlier attempt
    if (!has_member(ending.detail, "error_code", job.now.error_code) ||
        !has_member(ending.detail, "error_message", job.now.error_message)) {
        return "the job says another error";
    }
    return "";
}

// Events count the log lines that came before them, so that lines cannot be taken away unnoticed.
std::optional<HistoryBreak> verify_log(JobReader& reader, const Job& job) {
    std::int64_t seq = 0;
    for (auto some = reader.logs(job.spec->id, 0, page); !some.empty();
         some = reader.logs(job.spec->id, seq, page)) {
        for (const LogLine& line : some) {
            if (line.seq == seq + 1) ++seq;
        }
        if (some.back().seq != seq) break;
    }
    if (seq == job.now.log_seq) return std::nullopt;
    return HistoryBreak{job.spec->id, job.now.head.seq,
                        fmt::format("log line {} is missing", seq + 1)};
}

}  // namespace

std::optional<HistoryBreak> verify_job(JobReader& reader, const Job& job, std::int64_t& events) {
    const JobId id = job.spec->id;
    if (sha256(job.spec->payload) != job.spec->payload_digest) {
        return HistoryBreak{id, 0, "the payload does not match its digest"};
    }
    if (!job.damage.empty()) {
        return HistoryBreak{id, 0, fmt::format("the stored {} is damaged", job.damage)};
    }
    Digest previous = genesis(job.spec);
    std::optional<JobState> state;
    std::int64_t seq = 0;
    for (auto some = reader.events(id, 0, page); !some.empty();
         some = reader.events(id, seq, page)) {
        for (const Event& event : some) {
            ++events;
            if (event.seq != ++seq) {
                return HistoryBreak{id, seq, fmt::format("event {} is missing", seq)};
            }
            if (chain_hash(previous, event, job.now.result) != event.hash) {
                return HistoryBreak{id, seq,
                                    "the hash does not match the event, or the one before it"};
            }
            if (std::string wrong = follows(event, state); !wrong.empty()) {
                return HistoryBreak{id, seq, std::move(wrong)};
            }
            previous = event.hash;
            if (event.to) state = event.to;
            if (!event.to || !is_final(*event.to)) continue;
            if (std::string wrong = differs_from(event, job); !wrong.empty()) {
                return HistoryBreak{id, seq, std::move(wrong)};
            }
        }
    }
    if (seq != job.now.head.seq) {
        return HistoryBreak{
            id, seq + 1,
            fmt::format("the job has {} events, but {} are there", job.now.head.seq, seq)};
    }
    if (previous != job.now.head.hash) {
        return HistoryBreak{id, seq, "the job knows another last event"};
    }
    if (state != job.now.state) {
        return HistoryBreak{
            id, seq,
            fmt::format("the job is {}, its history says {}", to_text(job.now.state),
                        state ? to_text(*state) : "nothing")};
    }
    return job.now.log_seq > 0 ? verify_log(reader, job) : std::nullopt;
}

namespace {

// A job may change between the reading of its row and of its events. What looks broken is read
// again; what is really broken stays so.
std::optional<HistoryBreak> verify_settled(JobReader& reader, const Job& job,
                                           std::int64_t& events) {
    constexpr int tries = 5;
    std::int64_t counted = 0;
    std::optional<HistoryBreak> broken = verify_job(reader, job, counted);
    for (int i = 0; broken && i < tries; ++i) {
        const std::optional<Job> again = reader.find_one(job.spec->id);
        if (!again) break;
        counted = 0;
        broken = verify_job(reader, *again, counted);
    }
    events += counted;
    return broken;
}

}  // namespace

Verification verify_history(JobReader& reader) {
    Verification result;
    JobId last{};
    for (auto ids = reader.ids_after(last, page); !ids.empty();
         ids = reader.ids_after(last, page)) {
        for (const std::optional<Job>& job : reader.find(ids)) {
            if (!job) continue;
            ++result.jobs;
            if (auto broken = verify_settled(reader, *job, result.events)) {
                result.breaks.push_back(*std::move(broken));
                if (result.breaks.size() == breaks_max) return result;
            }
        }
        last = ids.back();
    }
    return result;
}

}  // namespace sluice
