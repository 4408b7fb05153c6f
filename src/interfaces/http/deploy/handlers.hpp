#pragma once

#include "interfaces/http/toolkit/app.hpp"

// Each handler reads the request, hands a command or a question on, and answers. No rules here.
namespace sluice::http::deploy {

// jobs.cpp
void create_job(Call call);
void get_job(Call call);
void list_jobs(Call call);
void list_jobs_of_app(Call call);
void cancel(Call call);
void transition(Call call);

// runners.cpp
void claim(Call call);
void heartbeat(Call call);
void report(Call call);
void list_runners(Call call);

// apps.cpp
void stop_app(Call call);
void purge_app(Call call);
void clean_up_app(Call call);

// nodes.cpp
void health(Call call);
void node_heartbeat(Call call);
void list_nodes(Call call);
void upsert_node(Call call);
void set_node_enabled(Call call);
void list_placements(Call call);
void reassign(Call call);
void drain(Call call);

}  // namespace sluice::http::deploy
