// The steps of a story that take several operations, and a story of all steps.
#include "checker/story.hpp"

namespace sluice::checker {

// Events first, then log lines: any order will do, as long as it is always the same.
void Story::stream(const std::string& job, std::int64_t after) {
    const Chapter& chapter = jobs.at(job);
    boost::json::array all;
    for (const Fields& line : chapter.logs) {
        all.push_back(Fields{{"event", "log"},
                             {"seq", line.at("seq")},
                             {"message", line.at("message")},
                             {"attempt", line.at("attempt")}});
    }
    boost::json::array items;
    std::int64_t id = 0;
    for (const Fields& event : chapter.events) {
        if (is_final(text(event, "to"))) {
            for (const Json& line : all) items.push_back(line);
        }
        items.push_back(Fields{{"event", "status"},
                               {"type", event.at("type")},
                               {"state", event.at("to")},
                               {"attempt", event.at("attempt")}});
        if (is_final(text(event, "to"))) break;
    }
    boost::json::array told;
    for (Json& item : items) {
        item.as_object()["id"] = ++id;
        if (id > after) told.push_back(item);
    }
    done("stream", {{"job", job}, {"after", after}}, 200,
         Fields{{"events", std::move(told)}, {"ended", true}});
}

void Story::batch(const std::string& key) {
    const std::string first = submit();
    Fields one = record.back();
    record.pop_back();
    const std::string second = submit({{"depends_on", boost::json::array{first}}});
    Fields two = record.back();
    record.pop_back();
    Fields waits = two["args"].as_object()["body"].as_object();
    waits["depends_on"] = boost::json::array{"#0"};
    const boost::json::array bodies{one["args"].as_object()["body"], waits};
    done("batch", {{"key", key}, {"bodies", bodies}}, 202,
         Fields{{"jobs", boost::json::array{one["result"], two["result"]}}})["t0"] = one["t0"];
    cancel(first);
    cancel_for_dependency(second);
}

std::string Story::tend() {
    const std::string id =
        submit({{"type", "tend"}, {"entity_type", "gadget"}, {"entity_id", "g"}});
    report(claim(id), "succeeded");
    entities.push_back({{"kind", "entity"},
                        {"entity", Fields{{"kind", "gadget"},
                                          {"id", "g"},
                                          {"tenant", tenant_},
                                          {"state", "idle"},
                                          {"revision", 2}}},
                        {"events", boost::json::array{Fields{{"seq", 1},
                                                             {"action", "start"},
                                                             {"from", "idle"},
                                                             {"to", "busy"},
                                                             {"job_id", id}},
                                                      Fields{{"seq", 2},
                                                             {"action", "done"},
                                                             {"from", "busy"},
                                                             {"to", "idle"},
                                                             {"job_id", id}}}}});
    return id;
}

void Story::ask_from_elsewhere(const std::string& job) {
    Fields& asked = done("read", {{"job", job}}, 404, Fields{{"code", "not_found"}});
    asked["args"].as_object()["tenant"] = "elsewhere";
    asked["outcome"] = "fail";
}

namespace {

// Two jobs one after the other, by a limit and a rate; a pause of others meanwhile.
void tell_of_limits(Story& story) {
    const std::string limit = story.limit({{"kind", "limit"}, {"source", "s"}, {"max_active", 1}});
    const std::string rate = story.limit({{"kind", "throttle"},
                                          {"source", "s*"},
                                          {"per", boost::json::array{"source"}},
                                          {"rate_count", 1},
                                          {"rate_period_ms", 1000},
                                          {"rate_burst", 2}});
    const std::string pause =
        story.limit({{"kind", "throttle"}, {"source", "paused"}, {"paused", true}});
    const std::string waits = story.submit({{"source", "paused"}});
    const std::string first = story.submit({{"source", "s"}});
    const std::string second = story.submit({{"source", "s"}});
    story.report(story.claim(first), "succeeded");
    story.report(story.claim(second), "succeeded");
    story.claim_in_vain(5000);
    story.report(story.claim(story.submit({{"source", "s"}})), "succeeded");
    story.claim_in_time(story.submit({{"source", "free"}}), 5000);
    story.check_limits();
    story.lift_limit(pause);
    story.report(story.claim(waits), "succeeded");
    story.claim_in_time(story.submit({{"source", "free"}}), 5000);
    story.change_limit(limit, {{"kind", "limit"}, {"source", "s"}, {"max_active", 2}});
    story.limits = {
        {{"id", limit}, {"kind", "limit"}, {"source", "s"}, {"max_active", 2}, {"active", 0}}};
    story.lift_limit(rate);
    const std::string block = story.limit(
        {{"kind", "block"}, {"tenant", "default"}, {"paused", true}, {"refuses_submits", true}});
    story.submit_in_vain();
    story.lift_limit(block);
    const std::string released = story.submit({{"backoff", boost::json::array{500}}});
    story.release_lease(story.claim(released));
    story.report(story.claim(released), "succeeded");
}

}  // namespace

Story clean_story() {
    Story story;
    const Fields keyed{{"exclusive_keys", boost::json::array{"k"}}, {"backoff", "none"}};
    const std::string first = story.submit(keyed, "key-1");
    story.repeat();
    const std::string lease = story.claim(first);
    story.heartbeat(lease);
    story.log(lease);
    story.log(lease);
    story.report(lease, "failed");
    story.expire(story.claim(first));
    story.release(story.claim(first));
    const std::string last = story.claim(first);
    story.read(first);
    story.read_logs(first);
    story.report(last, "succeeded", {{"result", 1}});
    story.repeat();

    const std::string second = story.submit({{"exclusive_keys", boost::json::array{"k"}},
                                             {"depends_on", boost::json::array{first}},
                                             {"delay_ms", 5}});
    const std::string held = story.claim(second);
    story.cancel(second);
    story.heartbeat(held);
    story.report(held, "canceled");
    story.read(second);
    const std::string third = story.submit({{"depends_on", boost::json::array{second}}});
    story.cancel_for_dependency(third);
    const std::string slow = story.submit({{"timeout_ms", 300}});
    const std::string overdue = story.claim(slow);
    story.time_out(slow);
    story.expire(overdue);
    story.report(story.claim(story.replay(first)), "succeeded", {{"result", 2}});
    story.stream(first);
    story.stream(first, 3);
    story.batch("batch-1");
    story.tend();
    story.ask_from_elsewhere(first);
    tell_of_limits(story);
    story.act_for("south");
    story.cancel(story.submit({}, "key-1"));
    return story;
}

}  // namespace sluice::checker
