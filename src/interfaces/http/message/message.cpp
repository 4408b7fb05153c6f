#include "interfaces/http/message/message.hpp"

#include "domain/values/ascii.hpp"

namespace sluice::http {

std::string_view to_text(Verb verb) {
    switch (verb) {
        case Verb::get: return "GET";
        case Verb::head: return "HEAD";
        case Verb::post: return "POST";
        case Verb::put: return "PUT";
        case Verb::patch: return "PATCH";
        case Verb::remove: return "DELETE";
        case Verb::options: return "OPTIONS";
        case Verb::other: break;
    }
    return "OTHER";
}

const std::string_view* Request::header(std::string_view name) const {
    for (const HeaderField& field : headers) {
        if (equals_ignoring_case(field.name, name)) return &field.value;
    }
    return nullptr;
}

}  // namespace sluice::http
