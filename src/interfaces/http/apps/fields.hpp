#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "domain/entities/entity.hpp"
#include "interfaces/http/toolkit/app.hpp"

// Reading the bodies and paths of this contract's requests.
namespace sluice::http::apps {

// The form of a field of a body.
enum class Form {
    name,     // a short text that is not empty
    text,     // a text of any kind
    id,       // 24 hex digits
    ids,      // a list of them
    integer,  // a whole number
    texts,    // an object of texts
    typed,    // an object of texts, or of {"type","value"}
    values,   // an object of anything
};
struct Field {
    std::string_view name;
    Form form;
    std::string_view means{};  // the usual name of the field, when this is another name
};
using Fields = std::initializer_list<Field>;

// The body's fields, each by its usual name; other fields are ignored. Without a body there are
// none. A null counts as a field that was not given. Two names for one field must have the same
// value.
Result<Attributes> read_fields(const Request& request, Fields known);

// The same for changes of an existing entity: a null removes the field's value, which names and
// lists do not allow.
Result<Attributes> read_changes(const Request& request, Fields known);

// Takes a text out of them; empty when it is not there.
std::string take_text(Attributes& attributes, std::string_view name);

Error missing_field(std::string_view name);

// Whether a path's part can be an id. A part that cannot be one belongs to no entity.
bool is_id(std::string_view text);

}  // namespace sluice::http::apps
