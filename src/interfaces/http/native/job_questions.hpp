#pragma once

#include <functional>
#include <string>

#include "interfaces/http/app.hpp"
#include "interfaces/http/url.hpp"

// Questions about the job in the path. A job of a tenant that the caller did not or may not ask
// about is not found.
namespace sluice::http::native {

// Answers with the JSON text that `question` makes.
void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question);

// Answers with a part of what the job has in order: `limit` items after the one that is numbered
// `after`, which `read` turns into JSON text.
using ReadPage = std::string (*)(JobReader& reader, JobId id, std::int64_t after, int limit);
void ask_for_page(Call call, ReadPage read);

}  // namespace sluice::http::native
