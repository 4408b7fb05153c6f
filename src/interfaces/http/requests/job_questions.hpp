#pragma once

#include <functional>
#include <string>

#include "interfaces/http/message/url.hpp"
#include "interfaces/http/requests/pages.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"

// Questions about the job in the path. A job is not found when it is of a tenant that the caller
// did not or may not ask about.
namespace sluice::http {

// Answers with the JSON text that `question` makes.
void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question);

// Answers with the pieces that `question` makes.
void ask_for_pieces(Call call, const QueryParams& params,
                    std::function<Result<StorePiece>(JobReader&, const Job&)> question);

// Answers with a part of the job's ordered records: the page that `read` makes.
using ReadPage = PieceQuestion (*)(JobId id, Page page);
void ask_for_page(Call call, ReadPage read);

// The job's log lines; `next` is the name of the number to go on after.
PieceQuestion log_page(std::string_view next, JobId id, Page page);

}  // namespace sluice::http
