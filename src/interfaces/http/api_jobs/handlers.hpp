#pragma once

#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http::api_jobs {

// actions.cpp
void submit(Call call);
void cancel(Call call);
void replay(Call call);

// queries.cpp
void list(Call call);
void get(Call call);
void get_logs(Call call);  // as a stream, when the request asks for text/event-stream

// stream.cpp
void stream(Call call);

}  // namespace sluice::http::api_jobs
