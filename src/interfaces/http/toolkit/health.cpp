#include "interfaces/http/toolkit/health.hpp"

#include "interfaces/http/toolkit/answers.hpp"

namespace sluice::http {

void health(Call call) {
    call.reply.send(json(200, R"({"status":"ok"})"));
}

void ready(Call call) {
    if (call.app.stopping) {
        return send_refusal(call, {ErrorCode::shutting_down, "the engine is stopping", ""});
    }
    std::string request_id = call.request.request_id;
    // Goes the ways that every write goes, so that a store that does not answer shows.
    call.app.commands.ask_ready([reply = call.reply, request_id = std::move(request_id)](
                                    const std::optional<Error>& reason) {
        reply.send(reason ? problem_of(*reason, request_id) : json(200, R"({"status":"ready"})"));
    });
}

// Queued jobs are counted beside the commits, where the store can; it may take a while.
void metrics(Call call) {
    using Counted = std::optional<Depths>;
    const auto answer = [&app = call.app, reply = call.reply](const Depths& depths) {
        Response response;
        response.content_type = "text/plain; version=0.0.4; charset=utf-8";
        response.body = app.metrics_text(depths);
        reply.send(std::move(response));
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
