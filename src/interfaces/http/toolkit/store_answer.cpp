#include "interfaces/http/toolkit/store_answer.hpp"

#include <utility>

namespace sluice::http {
namespace {

// The data that a question for a piece needs beside itself. All of it outlives the question: the
// request stays valid while a piece is made.
struct Source {
    QueryQueue& queries;
    LongQuestions& long_questions;
    const std::string& request_id;
    Refuse refuse;
    Reply reply;
};

using Came = std::function<void(AnswerPiece)>;

AskPiece ask_for(const Source& source, PieceQuestion question);

void ask(const Source& source, const PieceQuestion& question, const Came& came);

void take_answer(const Source& source, Result<StorePiece> piece, const Came& came) {
    AnswerPiece answer;
    answer.failed = !piece;
    if (!piece) {
        answer.response = source.refuse(piece.error(), source.request_id);
    } else if (piece->takes_long) {
        return source.long_questions.enter(
            {[reply = source.reply] { return reply.is_open(); },
             [source, question = std::move(piece->rest), came] {
                 ask(source, question, [&line = source.long_questions, came](AnswerPiece made) {
                     line.end();
                     came(std::move(made));
                 });
             }});
    } else {
        answer.response = std::move(piece->response);
        if (piece->rest) answer.rest = ask_for(source, std::move(piece->rest));
    }
    came(std::move(answer));
}

void ask(const Source& source, const PieceQuestion& question, const Came& came) {
    source.queries.ask<StorePiece>(question, [source, came](Result<StorePiece> piece) {
        take_answer(source, std::move(piece), came);
    });
}

AskPiece ask_for(const Source& source, PieceQuestion question) {
    return
        [source, question = std::move(question)](const Came& came) { ask(source, question, came); };
}

}  // namespace

void answer_from_store(const Call& call, PieceQuestion question, Refuse refuse) {
    const Source source{call.app.queries, call.app.long_questions, call.request.request_id, refuse,
                        call.reply};
    call.reply.send_pieces(ask_for(source, std::move(question)));
}

StorePiece json_piece(std::string body) {
    return {.response = json(200, std::move(body))};
}

}  // namespace sluice::http
