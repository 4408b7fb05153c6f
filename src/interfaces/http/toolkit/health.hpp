#pragma once

#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

void health(Call call);   // the process is there
void ready(Call call);    // every committer commits, and the engine is not stopping
void metrics(Call call);  // Prometheus text

}  // namespace sluice::http
