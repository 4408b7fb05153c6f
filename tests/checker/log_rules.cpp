// Log lines: all acknowledged lines are there once, in order, and no others.
#include <fmt/format.h>

#include <map>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

struct Sent {
    bool was_stored = false;     // acknowledged
    bool may_be_stored = false;  // acknowledged, or unknown
    std::int64_t attempt = 0;    // of its lease, where the history knows it
    std::int64_t line = 0;
    std::string lease{};
};

// By job and message. Messages are unique within a run.
using Messages = std::map<std::string, std::map<std::string, Sent>>;

Messages all_sent(const Evidence& evidence) {
    Messages messages;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        if (job == nullptr) continue;
        for (const Operation* said : lease.spoken) {
            if (said->op != "logs") continue;
            for (const Json& entry : list(said->args, "entries")) {
                Sent& sent = messages[job->id][text(entry, "message")];
                sent.was_stored = sent.was_stored || said->outcome == Outcome::ok;
                sent.may_be_stored = sent.may_be_stored || said->outcome != Outcome::fail;
                sent.attempt = lease.claimed == nullptr ? 0 : lease.claimed->attempt;
                sent.line = number(entry, "line");
                sent.lease = id;
            }
        }
    }
    return messages;
}

void look_at_stored(const Job& job, const std::map<std::string, Sent>& sent, Row& row) {
    std::set<std::string> seen;
    std::map<std::string, std::int64_t> last_of_lease;
    std::int64_t seq = 0;
    for (const LogLine& line : job.lines) {
        row.expect(line.seq == ++seq, job.id, fmt::format("line {} is out of order", line.seq));
        row.expect(seen.insert(line.message).second, job.id, "is there twice: " + line.message);
        const auto found = sent.find(line.message);
        const bool is_known = found != sent.end() && found->second.may_be_stored;
        row.expect(is_known, job.id, "nobody sent, or it was refused: " + line.message);
        if (!is_known) continue;
        row.expect(line.attempt == found->second.attempt, job.id,
                   "is in another attempt: " + line.message);
        std::int64_t& last = last_of_lease[found->second.lease];
        row.expect(found->second.line > last, job.id, "is not in its place: " + line.message);
        last = found->second.line;
    }
    for (const auto& [message, one] : sent) {
        if (one.was_stored) row.expect(seen.contains(message), job.id, "is lost: " + message);
    }
}

}  // namespace

// Lines are numbered without gaps; acknowledged lines are there once, in the order of their lease
// and under its attempt; refused lines are not there.
void logs_are_whole(const Evidence& evidence, const Limits&, Row& row) {
    const Messages messages = all_sent(evidence);
    static const std::map<std::string, Sent> none;
    for (const auto& [id, job] : evidence.jobs) {
        const auto sent = messages.find(id);
        look_at_stored(job, sent == messages.end() ? none : sent->second, row);
    }
}

// An earlier read of a log is the beginning of the final log, and has all lines that were
// acknowledged before.
void logs_only_grow(const Evidence& evidence, const Limits&, Row& row) {
    struct Stored {
        Time t1;
        std::int64_t last_seq;
    };
    std::map<std::string, std::vector<Stored>> stored;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("logs")) continue;
        stored[operation.job].push_back({operation.t1, number(operation.result, "last_seq")});
    }
    for (const Operation& operation : evidence.operations) {
        const Job* job = evidence.find(operation.job);
        if (!operation.is_ok("read_logs") || job == nullptr) continue;
        const auto& lines = list(operation.result, "logs");
        for (std::size_t i = 0; i < lines.size(); ++i) {
            row.expect(i < job->lines.size() && text(lines[i], "message") == job->lines[i].message,
                       job->id, "was read, and is not there: " + text(lines[i], "message"));
        }
        for (const Stored& earlier : stored[job->id]) {
            if (earlier.t1 >= operation.t0) continue;
            row.expect(static_cast<std::int64_t>(lines.size()) >= earlier.last_seq, job->id,
                       "a read of its log lacks lines that were acknowledged");
        }
    }
}

}  // namespace sluice::checker
