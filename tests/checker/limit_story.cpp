// The steps of a story that are about limits.
#include <fmt/format.h>

#include "checker/story.hpp"

namespace sluice::checker {

void Story::claim_in_vain(int wait_ms) {
    const std::int64_t sent = (now_ - 1) * 1000;
    pass(wait_ms);
    done("claim", {{"worker", "w"}, {"lease_ms", 1000}, {"wait_ms", wait_ms}}, 200,
         Fields{{"leases", boost::json::array{}}})["t0"] = sent;
}

void Story::claim_in_time(const std::string& job, int wait_ms) {
    const std::int64_t sent = (now_ - 1) * 1000;
    pass(100);
    const std::string lease = claim(job);
    last()["t0"] = sent;
    last()["args"].as_object()["wait_ms"] = wait_ms;
    report(lease, "succeeded");
}

// The reason is what an operation and its event have in common.
void Story::note_change(const std::string& limit, Json after) {
    const std::string reason = fmt::format("reason {}", ++count_);
    const auto seq = static_cast<std::int64_t>(limit_changes.size()) + 1;
    limit_changes.push_back(
        {{"seq", seq},
         {"at", time(now_)},
         {"detail", Fields{{"rule", limit}, {"reason", reason}, {"after", std::move(after)}}}});
    done("change_limit", {{"reason", reason}}, 200, Fields{{"id", limit}});
}

std::string Story::limit(const Fields& terms) {
    const std::string id = fmt::format("{:024x}", ++count_);
    note_change(id, terms);
    return id;
}

void Story::change_limit(const std::string& limit, const Fields& terms) {
    note_change(limit, terms);
}

void Story::lift_limit(const std::string& limit) {
    note_change(limit, nullptr);
}

void Story::submit_in_vain(const std::string& key) {
    Fields args{{"ref", fmt::format("mark-{}", ++count_)}, {"body", Fields{}}};
    if (!key.empty()) args["key"] = key;
    done("submit", std::move(args), 403, Fields{{"code", "forbidden"}})["outcome"] = "fail";
}

void Story::release_lease(const std::string& lease) {
    Chapter& chapter = of(lease);
    const std::string id = text(chapter.fields, "id");
    step(id, "retried", "queued", lease, "anonymous",
         Fields{{"error_code", "LEASE_RELEASED"}, {"run_after", time(now_)}});
    leases_.erase(id);
    done("release_lease", {{"job", id}}, 200, chapter.fields);
}

void Story::check_limits() {
    done("check_limits", {}, 200, Fields{{"differences", boost::json::array{}}});
}

}  // namespace sluice::checker
