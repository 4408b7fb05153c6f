#include "interfaces/worker/engine/node_records.hpp"

#include <fmt/format.h>

#include <future>

#include "json/json_values.hpp"

namespace sluice::worker {
namespace {

constexpr std::chrono::seconds lookup_patience{10};

Result<AnsibleNode> node_in(JobReader& reader, const EntityKey& key) {
    const auto record = reader.entities().find_one(key);
    if (!record) {
        return Error{
            ErrorCode::not_found,
            fmt::format("neither the configuration nor the store has a node \"{}\"; create it with "
                        "POST /api/v1/nodes, or configure it as [nodes.NAME]",
                        key.id),
            ""};
    }
    if (record->state != "active") {
        return Error{ErrorCode::not_found,
                     fmt::format("the node \"{}\" is {}, and jobs run on active ones only; enable "
                                 "it, or choose another",
                                 key.id, record->state),
                     ""};
    }
    const Attributes& attributes = record->attributes;
    AnsibleNode node;
    node.hostname = text_of(attributes, "hostname").value_or("");
    node.port = static_cast<int>(integer_of(attributes, "port").value_or(node.port));
    node.user = text_of(attributes, "user").value_or("");
    node.key_file = text_of(attributes, "key_file").value_or("");
    node.connection = text_of(attributes, "connection").value_or("");
    return node;
}

}  // namespace

FindNode node_records(QueryQueue& queries, OnIoThread on_io_thread) {
    return [&queries,
            on_io_thread = std::move(on_io_thread)](const client::Job& job) -> Result<AnsibleNode> {
        // Shared: the waiting thread may have given up when the answer comes.
        const auto answer = std::make_shared<std::promise<Result<AnsibleNode>>>();
        auto found = answer->get_future();
        const EntityKey key{job.tenant, "node", job.node_id};
        on_io_thread([&queries, answer, key] {
            queries.ask<AnsibleNode>(
                [key](JobReader& reader) { return node_in(reader, key); },
                [answer](Result<AnsibleNode> node) { answer->set_value(std::move(node)); });
        });
        const Error no_answer{
            ErrorCode::unavailable,
            fmt::format("the store did not answer where the node \"{}\" is; the next "
                        "attempt asks again",
                        key.id),
            ""};
        if (found.wait_for(lookup_patience) != std::future_status::ready) return no_answer;
        try {
            return found.get();
        } catch (const std::future_error&) {  // the engine stops, and the question was dropped
            return no_answer;
        }
    };
}

}  // namespace sluice::worker
