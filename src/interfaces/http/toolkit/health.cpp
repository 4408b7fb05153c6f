#include "interfaces/http/toolkit/health.hpp"

#include "interfaces/http/toolkit/answers.hpp"
#include "json/json_writer.hpp"

namespace sluice::http {
namespace {

// An engine in maintenance is ready: it takes submits and the words of workers.
std::string ready_text(const App& app) {
    const std::shared_ptr<const LimitRules> rules = app.rules_now.get();
    const LimitRule* const maintenance = rules->maintenance("", app.clock.now());
    return json_object_text([&](JsonWriter& json) {
        json.field("status", "ready");
        if (!maintenance) return;
        json.field("maintenance", true);
        json.text_or_null("reason", maintenance->reason);
        json.field("until", maintenance->until);
    });
}

void send_metrics(const App& app, const Reply& reply, const Depths& depths,
                  const LimitsNow& limits) {
    Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = app.metrics_text(depths, limits);
    reply.send(std::move(response));
}

}  // namespace

void health(Call call) {
    call.reply.send(json(200, R"({"status":"ok"})"));
}

void ready(Call call) {
    if (call.app.stopping) {
        return send_refusal(call, {ErrorCode::shutting_down, "the engine is stopping", ""});
    }
    std::string request_id = call.request.request_id;
    // Goes the ways that every write goes, so that a store that does not answer shows.
    call.app.commands.ask_ready(
        [reply = call.reply, &app = call.app,
         request_id = std::move(request_id)](const std::optional<Error>& reason) {
            reply.send(reason ? problem_of(*reason, request_id) : json(200, ready_text(app)));
        });
}

// Queued jobs are counted beside the commits, where the store can; it may take a while.
void metrics(Call call) {
    using Counted = std::optional<Depths>;
    const auto answer = [&app = call.app, reply = call.reply](const Depths& depths) {
        app.commands.post_one<AskLimits>(
            {}, [&app, reply, depths](const Result<LimitsNow>& limits) {
                send_metrics(app, reply, depths, limits ? *limits : LimitsNow{});
            });
    };
    call.app.queries.ask<Counted>(
        [](JobReader& reader) { return Result<Counted>(reader.depths()); },
        [&app = call.app, answer](Result<Counted> counted) {
            if (!counted) return answer({});
            if (*counted) return answer(**counted);
            app.commands.post_one<AskDepths>(
                {}, [answer](Result<Depths> depths) { answer(depths ? *depths : Depths{}); });
        });
}

}  // namespace sluice::http
