// The texts that the benchmarks exchange with the engine, and the engine's own counts.
#pragma once

#include "bench/http.hpp"

namespace sluice::bench {

inline constexpr std::string_view payload =
    R"({"site":"site-0042","action":"renew-certificate","domain":"shop.example.org",)"
    R"("requested_by":"ada","head_sha":"9fceb02d0ae598e95dc970b74767f19372d61af8"})";
inline constexpr std::string_view result = R"({"ok":true,"changed":3,"took_ms":1742})";
inline constexpr std::size_t lease_id_bytes_max = 80;

// The fields of a job by which rules go. An empty one is left out.
struct JobNames {
    std::string queue{"bench"};
    std::string type{"bench.job"};
    std::string tenant{};
    std::string source{};
};

inline void append_member(std::string& out, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += R"(")" + std::string(name) + R"(":")" + std::string(value) + R"(",)";
}

// One of many tenants.
inline std::string tenant_name(std::size_t number) {
    return "tenant-" + std::to_string(100'000 + number);
}

inline std::string job_body(const JobNames& names) {
    std::string out = "{";
    append_member(out, "type", names.type);
    append_member(out, "queue", names.queue);
    append_member(out, "tenant", names.tenant);
    append_member(out, "source", names.source);
    out += R"("payload":)";
    out += payload;
    out += '}';
    return out;
}

inline std::string submit_text(const JobNames& names, std::size_t batch) {
    const std::string job = job_body(names);
    if (batch == 1) return post_text("/api/v1/jobs", job);
    std::string body = R"({"jobs":[)";
    for (std::size_t i = 0; i < batch; ++i) {
        if (i > 0) body += ',';
        body += job;
    }
    body += "]}";
    return post_text("/api/v1/jobs/batch", body);
}

inline std::string claim_text(const JobNames& names, std::size_t limit, int wait_ms) {
    std::string body = R"({"worker_id":"bench",)";
    append_member(body, "tenant", names.tenant);
    body += R"("queues":[")" + names.queue + R"("],"limit":)" + std::to_string(limit);
    body += R"(,"wait_ms":)" + std::to_string(wait_ms) + '}';
    return post_text("/api/v1/leases", body);
}

// Finds the lease ids in an answer to a claim. The jobs of a benchmark look alike, so the next id
// is nearly always as far away as the last one was; only where it is not does this search.
inline void find_leases(std::string_view body, std::vector<std::string_view>& leases) {
    static constexpr std::string_view mark = R"("lease_id":")";
    leases.clear();
    std::size_t at = body.find(mark);
    std::size_t stride = 0;
    while (at != std::string_view::npos) {
        const std::size_t id = at + mark.size();
        leases.push_back(body.substr(id, body.find('"', id) - id));
        const std::size_t guess = at + stride;
        if (stride > 0 && guess < body.size() && body.compare(guess, mark.size(), mark) == 0) {
            at = guess;
            continue;
        }
        const std::size_t next = body.find(mark, at + mark.size());
        stride = next - at;
        at = next;
    }
}

// Writes the report of these leases into `out`, whose memory is used again.
inline void write_report(std::string& out, const std::vector<std::string_view>& leases,
                         bool is_batch) {
    static constexpr std::string_view id_name = R"({"lease_id":")";
    static constexpr std::string_view outcome = R"("outcome":"succeeded","result":)";
    const auto append_outcome = [&] {
        out += outcome;
        out += result;
        out += '}';
    };
    const std::size_t outcome_bytes = outcome.size() + result.size() + 1;
    out.clear();
    if (!is_batch) {
        std::array<char, 64 + lease_id_bytes_max> path{};
        const int bytes = std::snprintf(path.data(), path.size(), "/api/v1/leases/%.*s/report",
                                        static_cast<int>(leases[0].size()), leases[0].data());
        append_post(out, {path.data(), static_cast<std::size_t>(bytes)}, 1 + outcome_bytes);
        out += '{';
        append_outcome();
        return;
    }
    static constexpr std::string_view open = R"({"reports":[)";
    const std::size_t each = id_name.size() + leases[0].size() + 2 + outcome_bytes;
    append_post(out, "/api/v1/leases/report",
                open.size() + leases.size() * each + leases.size() - 1 + 2);
    out += open;
    for (std::size_t i = 0; i < leases.size(); ++i) {
        if (i > 0) out += ',';
        out += id_name;
        out += leases[i];
        out += R"(",)";
        append_outcome();
    }
    out += "]}";
}

// The engine's counts since its start.
struct Counts {
    std::uint64_t submitted = 0;
    std::uint64_t claimed = 0;
    std::uint64_t succeeded = 0;

    bool operator==(const Counts&) const = default;
    Counts operator-(const Counts& before) const {
        return {submitted - before.submitted, claimed - before.claimed,
                succeeded - before.succeeded};
    }
    Counts operator+(const Counts& more) const {
        return {submitted + more.submitted, claimed + more.claimed, succeeded + more.succeeded};
    }
    std::string text() const {
        return std::to_string(submitted) + " submitted, " + std::to_string(claimed) + " claimed, " +
               std::to_string(succeeded) + " succeeded";
    }
};

inline Counts ask_counts(int port) {
    const std::string text = sluice::bench::exchange(
        port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + token_header() + "\r\n");
    const auto value = [&](const std::string& name) {
        const std::size_t at = text.find("\n" + name + " ");
        if (at == std::string::npos) return std::uint64_t{0};
        return static_cast<std::uint64_t>(
            std::strtod(text.c_str() + at + name.size() + 2, nullptr));
    };
    return {value("sluice_jobs_submitted_total"), value("sluice_jobs_claimed_total"),
            value(R"(sluice_jobs_completed_total{outcome="succeeded"})")};
}

}  // namespace sluice::bench
