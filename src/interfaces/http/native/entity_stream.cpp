// Server-Sent Events about one entity: `state` for each of its events, with the event's number as
// the id to go on after, and `gate` whenever one of its gates opens or closes. The first events
// give the present state.
#include <map>

#include "application/entities/ask_gates.hpp"
#include "interfaces/http/native/entity_json.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/read_entity.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/store_stream.hpp"

namespace sluice::http::native {
namespace {

constexpr int chunk_items = 200;

std::string event_text(const EntityEvent& event, const SecretMarks& secrets) {
    return json_text([&](JsonWriter& json) { write_entity_event(json, event, secrets); });
}

std::string gate_text(const GateVerdict& verdict) {
    return json_text([&](JsonWriter& json) { write_gate(json, verdict); });
}

class EntitySource : public StreamSource {
  public:
    EntitySource(const Rules& rules, EntityKey key, std::int64_t after)
        : rules_(rules), key_(std::move(key)), after_(after) {}

    Result<StreamChunk> read(JobReader& reader) override {
        StreamChunk chunk;
        const auto events = reader.entities().events(key_, after_, chunk_items);
        for (const EntityEvent& event : events) {
            append_stream_event(chunk.text, event.seq, "state", event_text(event, rules_.secrets));
            after_ = event.seq;
        }
        chunk.full = std::ssize(events) == chunk_items;
        const auto entity = reader.entities().find_one(key_);
        if (!chunk.full && entity) tell_gates(all_gates(reader, rules_, *entity), chunk.text);
        return chunk;
    }

    // A gate also closes when the app or a runtime profile changes.
    bool changes_unnoticed() const override {
        const EntityKind* kind = rules_.kinds.find(key_.kind);
        return kind && !kind->gates.empty();
    }

  private:
    void tell_gates(const std::vector<GateVerdict>& verdicts, std::string& out) {
        for (const GateVerdict& verdict : verdicts) {
            const auto [told, is_first] =
                told_.try_emplace({verdict.gate.action, verdict.gate.job_type}, verdict.open);
            if (!is_first && told->second == verdict.open) continue;
            told->second = verdict.open;
            append_stream_event(out, std::nullopt, "gate", gate_text(verdict));
        }
    }

    const Rules& rules_;
    const EntityKey key_;
    std::int64_t after_;
    std::map<std::pair<std::string, std::string>, bool> told_;  // gates, and whether they are open
};

// The event to go on after: Last-Event-ID, which browsers send by themselves, wins over ?after=.
// Nothing: the newest one.
Result<std::optional<std::int64_t>> read_after(const Request& request, const QueryParams& params) {
    const std::string_view* header = request.header("Last-Event-ID");
    if (!header && !params.find("after")) return std::optional<std::int64_t>();
    const auto after = header ? read_number(*header, "Last-Event-ID", 0, INT64_MAX)
                              : number_param(params, "after", 0, INT64_MAX, 0);
    if (!after) return after.error();
    return std::optional(*after);
}

Result<std::int64_t> find_start(const Rules& rules, EntityReader& entities, const EntityKey& key,
                                std::optional<std::int64_t> after) {
    const auto entity = entities.find_one(key);
    if (!entity) return no_such_entity(rules.kinds, key);
    if (after && *after > entity->revision) {
        return Error{ErrorCode::malformed, "there is no event with this id yet", ""};
    }
    return after.value_or(entity->revision - 1);
}

}  // namespace

void stream_entity(Call call) {
    const auto params = read_query(call.request, {"after", "tenant"});
    if (!params) return send_refusal(call, params.error());
    auto key = read_entity_key(call, *params, call.param(0), call.param(1));
    if (!key) return send_refusal(call, key.error());
    const auto after = read_after(call.request, *params);
    if (!after) return send_refusal(call, after.error());

    const auto question = [&rules = call.app.rules, key = *key, after = *after](JobReader& reader) {
        return find_start(rules, reader.entities(), key, after);
    };
    call.app.queries.ask<std::int64_t>(question, [call, key = *key](Result<std::int64_t> start) {
        if (!start) {
            return send_refusal(call, start.error());
        }
        stream_from_store(call, {watch_id(key), key.tenant},
                          std::make_shared<EntitySource>(call.app.rules, key, *start));
    });
}

}  // namespace sluice::http::native
