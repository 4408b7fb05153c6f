#pragma once

#include <functional>
#include <string>

#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/app.hpp"

// Answers that are read from the store. Reading and writing the text happens on a reader's thread;
// a large answer goes out in pieces, each of which is read when the peer has taken the one before.
namespace sluice::http {

// A body is cut into pieces of about this size. One that is not larger is a single piece.
inline constexpr std::size_t piece_bytes = 128 * 1024;

// A page of a list ends before it is larger than this.
inline constexpr std::size_t page_bytes = 4 * 1024 * 1024;

struct StorePiece {
    Response response{};                                   // in later pieces only the body counts
    std::function<Result<StorePiece>(JobReader&)> rest{};  // none: this was the last piece
    bool takes_long = false;  // there is no answer yet: `rest` gives it, and waits for its turn
};

// May be asked again, and reads the same part anew then. The first one may find that there is much
// to read, and defer that: other questions come first (LongQuestions).
using PieceQuestion = std::function<Result<StorePiece>(JobReader&)>;

// The form of a contract's refusals.
using Refuse = Response (*)(const Error& error, std::string_view request_id);

// Answers with the result of the question, piece by piece.
void answer_from_store(const Call& call, PieceQuestion question, Refuse refuse = problem_of);

// One piece of JSON.
StorePiece json_piece(std::string body);

}  // namespace sluice::http
