#pragma once

#include "interfaces/http/toolkit/app.hpp"

// The part of the native API about what may run now: each handler reads the request, hands a
// command or a question on, and answers.
namespace sluice::http::native {

// limits.cpp
void list_limits(Call call);
void create_limit(Call call);
void get_limit(Call call);
void change_limit(Call call);
void lift_limit(Call call);
void get_limit_history(Call call);
void check_limits(Call call);
void can_start(Call call);

// quotas.cpp
void list_quotas(Call call);
void create_quota(Call call);
void get_quota(Call call);
void change_quota(Call call);
void act_on_quota(Call call);  // lift, pause, resume
void list_profiles(Call call);
void set_profile(Call call);

// sources.cpp
void list_sources(Call call);
void pause_source(Call call);
void resume_source(Call call);
void pause_named_source(Call call);  // the body names it
void resume_named_source(Call call);

// maintenance.cpp
void list_maintenance(Call call);
void begin_maintenance(Call call);
void end_maintenance(Call call);

// tenants.cpp
void block_tenant(Call call);
void unblock_tenant(Call call);
void block_named_tenant(Call call);  // the body names it
void unblock_named_tenant(Call call);
void list_blocked(Call call);

}  // namespace sluice::http::native
