#pragma once

#include "interfaces/http/app.hpp"

// The native API: each handler reads the request, hands a command or a question on, and answers. No
// rules here.
namespace sluice::http::native {

// jobs.cpp
void submit_job(Call call);
void submit_batch(Call call);
void cancel(Call call);
void replay(Call call);

// queries.cpp
void list_jobs(Call call);
void get_job(Call call);
void get_logs(Call call);
void get_events(Call call);
void explain(Call call);

// workers.cpp
void list_workers(Call call);

// job_stream.cpp
void stream_job(Call call);

// leases.cpp
void claim(Call call);
void heartbeat(Call call);
void heartbeat_many(Call call);
void append_log_lines(Call call);
void report(Call call);
void report_many(Call call);
void release(Call call);

}  // namespace sluice::http::native
