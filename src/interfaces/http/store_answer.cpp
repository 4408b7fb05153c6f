#include "interfaces/http/store_answer.hpp"

#include <utility>

namespace sluice::http {
namespace {

// What a question for a piece needs beside itself. All of it outlives the question: the request
// stays valid while a piece is made.
struct Source {
    QueryQueue& queries;
    const std::string& request_id;
    Refuse refuse;
};

AskPiece ask_for(const Source& source, PieceQuestion question) {
    return [source, question = std::move(question)](std::function<void(AnswerPiece)> came) {
        source.queries.ask<StorePiece>(
            question, [source, came = std::move(came)](Result<StorePiece> piece) {
                AnswerPiece answer;
                answer.failed = !piece;
                if (!piece) {
                    answer.response = source.refuse(piece.error(), source.request_id);
                } else {
                    answer.response = std::move(piece->response);
                    if (piece->rest) answer.rest = ask_for(source, std::move(piece->rest));
                }
                came(std::move(answer));
            });
    };
}

}  // namespace

void answer_from_store(const Call& call, PieceQuestion question, Refuse refuse) {
    const Source source{call.app.queries, call.request.request_id, refuse};
    call.reply.send_pieces(ask_for(source, std::move(question)));
}

StorePiece json_piece(std::string body) {
    return {.response = json(200, std::move(body))};
}

}  // namespace sluice::http
