#pragma once

#include "interfaces/http/toolkit/app.hpp"

// Each handler reads the request, hands a command or a question on, and answers. No rules here.
namespace sluice::http::apps {

// apps.cpp
void create_app(Call call);
void list_apps(Call call);
void get_app(Call call);
void update_app(Call call);
void list_members(Call call);
void put_member(Call call);

// jobs.cpp
void list_jobs(Call call);
void get_job(Call call);
void get_job_logs(Call call);

// changesets.cpp
void create_changeset(Call call);
void list_changesets(Call call);
void get_changeset(Call call);
void submit_changeset(Call call);
void resubmit_changeset(Call call);
void review_changeset(Call call);
void queue_changeset(Call call);
void move_changeset_to_draft(Call call);

// releases.cpp
void create_release(Call call);
void list_releases(Call call);
void get_release(Call call);
void assemble_release(Call call);
void publish_release(Call call);
void roll_back_release(Call call);

// environments.cpp
void create_environment(Call call);
void list_environments(Call call);
void get_environment(Call call);
void update_environment(Call call);
void deploy(Call call);
void check_drift(Call call);
void get_drift(Call call);
void list_migrations(Call call);
void list_deployments(Call call);
void get_deployment(Call call);

// temp_environments.cpp
void create_temp_environment(Call call);
void list_temp_environments(Call call);
void get_temp_environment(Call call);
void expire_temp_environment(Call call);

// runtime_profiles.cpp
void create_profile(Call call);
void list_profiles(Call call);
void get_profile(Call call);
void update_profile(Call call);

}  // namespace sluice::http::apps
