// Whether an action is allowed, as far as jobs must have succeeded before.
#include <algorithm>

#include "application/entities/ask_gates.hpp"
#include "interfaces/http/native/entity_json.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

std::string* text_field(GateQuestion& question, std::string_view key) {
    if (key == "tenant") return &question.key.tenant;
    if (key == "app") return &question.parent;
    if (key == "entity_type") return &question.key.kind;
    if (key == "entity_id") return &question.key.id;
    if (key == "action") return &question.action;
    if (key == "job_type") return &question.job_type;
    return nullptr;
}

Result<GateQuestion> read_question(const Call& call) {
    GateQuestion question;
    question.key.tenant = call.caller->tenant;
    JsonReader reader = given_body_reader(call.request);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (reader.null()) return;
        if (std::string* text = text_field(question, key)) {
            *text = reader.string();
        } else {
            unknown.add(key);
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    if (auto refusal = refuse_tenant(*call.caller, question.key.tenant, "/tenant")) {
        return *std::move(refusal);
    }
    if (question.key.kind.empty()) {
        return Error{ErrorCode::invalid, "is required", "/entity_type"};
    }
    if (question.key.id.empty()) return Error{ErrorCode::invalid, "is required", "/entity_id"};
    if (question.action.empty() == question.job_type.empty()) {
        return Error{ErrorCode::invalid, "give either an action or a job_type", "/action"};
    }
    return question;
}

std::string open_text(const std::vector<GateVerdict>& verdicts) {
    return json_object_text([&](JsonWriter& json) {
        json.field("open", true);
        json.array("gates", verdicts,
                   [&](const GateVerdict& verdict) { write_gate(json, verdict); });
    });
}

// The refusal that an action would get, with the facts that programs need.
Response closed_response(const GateVerdict& verdict, std::string_view request_id) {
    Response response = problem_of(gate_refusal(verdict), request_id);
    const std::string more = json_object_text([&](JsonWriter& json) {
        json.field("job_type", verdict.gate.job_type);
        json.field("latest_job",
                   verdict.latest ? std::optional(verdict.latest->spec->id) : std::nullopt);
        json.field("latest_state", verdict.latest
                                       ? std::optional(to_text(verdict.latest->now.state))
                                       : std::nullopt);
    });
    response.body.back() = ',';  // both are objects
    response.body += more.substr(1);
    return response;
}

Response gates_response(const std::vector<GateVerdict>& verdicts, std::string_view request_id) {
    const auto closed = std::find_if(verdicts.begin(), verdicts.end(),
                                     [](const GateVerdict& verdict) { return !verdict.open; });
    if (closed != verdicts.end()) return closed_response(*closed, request_id);
    return json(200, open_text(verdicts));
}

}  // namespace

void check_gates(Call call) {
    const std::string& request_id = call.request.request_id;
    auto question = read_question(call);
    if (!question) return send_refusal(call, question.error());
    const auto ask = [&rules = call.app.rules, question = *std::move(question),
                      request_id](JobReader& reader) -> Result<Response> {
        const auto verdicts = ask_gates(reader, rules, question);
        if (!verdicts) return verdicts.error();
        return gates_response(*verdicts, request_id);
    };
    call.app.queries.ask<Response>(ask, [reply = call.reply, &request_id](Result<Response> answer) {
        reply.send(answer ? *std::move(answer) : problem_of(answer.error(), request_id));
    });
}

}  // namespace sluice::http::native
