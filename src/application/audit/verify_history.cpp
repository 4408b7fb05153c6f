#include "application/audit/verify_history.hpp"

#include <fmt/format.h>

#include "domain/values/json_text.hpp"

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

// A job's row also says how it ended, so that it is quick to read. The event that ended it counts.
std::string differs_from(const Event& ending, const Job& job) {
    if (job.now.completed_at != ending.at) return "the job says another time of its end";
    if (job.now.attempt != ending.attempt) return "the job says another number of attempts";
    if (ending.to == JobState::canceled) return "";  // its error may be of an earlier attempt
    if (!has_member(ending.detail, "error_code", job.now.error_code) ||
        !has_member(ending.detail, "error_message", job.now.error_message)) {
        return "the job says another error";
    }
    return "";
}

// Reads a job's lines beside its events, and knows the digest of all lines up to one.
class LogWalk {
  public:
    LogWalk(JobReader& reader, JobId job) : reader_(reader), job_(job) {}

    // Walks on to this line. False: the next one is missing, or damaged.
    bool reach(std::int64_t seq) {
        while (seq_ < seq) {
            const LogLine* const line = next_line();
            if (!line || line->seq != seq_ + 1 || line->damaged) return false;
            digest_ = log_hash(digest_.value_or(Digest{}), *line);
            ++next_;
            ++seq_;
        }
        return true;
    }

    // The first line that was not walked yet.
    const LogLine* next_line() {
        if (next_ == some_.size()) {
            some_ = reader_.logs(job_, seq_, page);
            next_ = 0;
        }
        return next_ == some_.size() ? nullptr : &some_[next_];
    }

    std::int64_t seq() const { return seq_; }
    // Nothing before the first line.
    const std::optional<Digest>& digest() const { return digest_; }

  private:
    JobReader& reader_;
    JobId job_;
    std::vector<LogLine> some_;
    std::size_t next_ = 0;
    std::int64_t seq_ = 0;
    std::optional<Digest> digest_;
};

// Checks that all lines of the job and no others exist, and that the job has their digest.
std::optional<HistoryBreak> verify_log(LogWalk& log, const Job& job) {
    const auto broken = [&](std::string what) {
        return HistoryBreak{job.spec->id, job.now.head.seq, std::move(what)};
    };
    if (!log.reach(job.now.log_seq)) {
        const LogLine* const line = log.next_line();
        const bool is_there = line && line->seq == log.seq() + 1;
        return broken(
            fmt::format("log line {} is {}", log.seq() + 1, is_there ? "damaged" : "missing"));
    }
    if (log.next_line()) {
        return broken(fmt::format("the job has {} log lines, but line {} is there", log.seq(),
                                  log.next_line()->seq));
    }
    if (job.spec->history_form > 1 && log.digest() != job.now.log_hash) {
        return broken("a log line was changed, or the job knows another digest of its lines");
    }
    return std::nullopt;
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
    LogWalk log(reader, id);
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
            if (event.damaged) return HistoryBreak{id, seq, "the stored event is damaged"};
            const bool has_lines = log.reach(event.log_seq);
            const EventCover cover = cover_of(job.spec, job.now.result, log.digest());
            if (!has_lines || chain_hash(previous, event, cover) != event.hash) {
                // A broken log is named as such.
                LogWalk whole_log(reader, id);
                if (auto broken = verify_log(whole_log, job)) return broken;
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
    return verify_log(log, job);
}

namespace {

// A job may change between the reading of its row and of its events. One that looks broken is read
// again; a real break stays.
template <class Subject, class Verify, class ReadAgain>
std::optional<HistoryBreak> verify_settled(const Subject& subject, std::int64_t& events,
                                           Verify&& verify, ReadAgain&& read_again) {
    constexpr int tries = 5;
    std::int64_t counted = 0;
    std::optional<HistoryBreak> broken = verify(subject, counted);
    for (int i = 0; broken && i < tries; ++i) {
        const std::optional<Subject> again = read_again();
        if (!again) return std::nullopt;  // retention has removed it meanwhile
        counted = 0;
        broken = verify(*again, counted);
    }
    events += counted;
    return broken;
}

// Returns whether to go on.
bool note(Verification& result, std::optional<HistoryBreak> broken) {
    if (broken) result.breaks.push_back(*std::move(broken));
    return result.breaks.size() < breaks_max;
}

bool verify_jobs(JobReader& reader, Verification& result) {
    const auto verify = [&](const Job& job, std::int64_t& events) {
        return verify_job(reader, job, events);
    };
    JobId last{};
    for (auto ids = reader.ids_after(last, page); !ids.empty();
         ids = reader.ids_after(last, page)) {
        for (const std::optional<Job>& job : reader.find(ids)) {
            if (!job) continue;
            ++result.jobs;
            if (job->spec->history_form == 1) ++result.partly_covered;
            const auto read_again = [&] { return reader.find_one(job->spec->id); };
            if (!note(result, verify_settled(*job, result.events, verify, read_again))) {
                return false;
            }
        }
        last = ids.back();
    }
    return true;
}

bool verify_entities(EntityReader& reader, Verification& result) {
    bool covered = true;
    const auto verify = [&](const Entity& entity, std::int64_t& events) {
        return verify_entity(reader, entity, events, covered);
    };
    const EntityFilter all{.tenant = ""};
    std::int64_t before = newest_entity;
    for (auto some = reader.list(all, before, 0, page); !some.empty();
         some = reader.list(all, before, 0, page)) {
        for (const Entity& entity : some) {
            ++result.entities;
            const auto read_again = [&] { return reader.find_one(entity.key); };
            auto broken = verify_settled(entity, result.entity_events, verify, read_again);
            if (!covered) ++result.partly_covered;
            if (!note(result, std::move(broken))) return false;
        }
        before = some.back().number;
    }
    return true;
}

}  // namespace

std::string subject_of(const HistoryBreak& found) {
    if (!found.entity) return fmt::format("job {}", to_text(found.job));
    return fmt::format("{} of tenant {}", to_text(*found.entity), found.entity->tenant);
}

Verification verify_history(JobReader& reader) {
    Verification result;
    if (verify_jobs(reader, result)) verify_entities(reader.entities(), result);
    return result;
}

}  // namespace sluice
