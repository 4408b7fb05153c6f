#pragma once

#include <functional>
#include <string>

#include "interfaces/http/native/pages.hpp"
#include "interfaces/http/store_answer.hpp"
#include "interfaces/http/url.hpp"

// Questions about the job in the path. A job of a tenant that the caller did not or may not ask
// about is not found.
namespace sluice::http::native {

// Answers with the JSON text that `question` makes.
void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question);

// Answers with the pieces that `question` makes.
void ask_for_pieces(Call call, const QueryParams& params,
                    std::function<Result<StorePiece>(JobReader&, const Job&)> question);

// Answers with a part of what the job has in order: the page that `read` makes.
using ReadPage = PieceQuestion (*)(JobId id, Page page);
void ask_for_page(Call call, ReadPage read);

// The job's log lines; `next` is what the number to go on after is called.
PieceQuestion log_page(std::string_view next, JobId id, Page page);

}  // namespace sluice::http::native
