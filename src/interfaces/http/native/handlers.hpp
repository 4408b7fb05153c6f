#pragma once

#include "interfaces/http/toolkit/app.hpp"

// The native API: each handler reads the request, hands a command or a question on, and answers. No
// rules here.
namespace sluice::http::native {

// jobs.cpp
void submit_job(Call call);
void submit_batch(Call call);
void cancel(Call call);
void replay(Call call);
void release_lease(Call call);

// queries.cpp
void list_jobs(Call call);
void get_job(Call call);
void get_logs(Call call);
void get_events(Call call);
void explain(Call call);

// workers.cpp
void list_workers(Call call);

// stream.cpp
void stream_job(Call call);

// entities.cpp
void list_entities(Call call);
void create_entity(Call call);
void get_entity(Call call);
void change_entity(Call call);
void get_entity_events(Call call);

// entity_stream.cpp
void stream_entity(Call call);

// gates.cpp
void check_gates(Call call);

// tokens.cpp
void create_token(Call call);
void list_tokens(Call call);
void revoke_token(Call call);
void whoami(Call call);

// leases.cpp
void claim(Call call);
void heartbeat(Call call);
void heartbeat_many(Call call);
void append_log_lines(Call call);
void report(Call call);
void report_many(Call call);
void release(Call call);

}  // namespace sluice::http::native
