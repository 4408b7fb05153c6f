#pragma once

#include <string>
#include <vector>

namespace sluice::e2e {

// A request that must be refused, as it goes over the wire.
struct BadRequest {
    std::string name{};
    std::string bytes{};
    int status = 400;
    std::string code{};   // empty: any
    bool closes = false;  // the connection must end after the refusal
};

// The same with fewer demands: it is answered with an error, or the connection ends without an
// answer, and it submits no job of this type.
struct RawRequest {
    std::string name{};
    std::string bytes{};
};
inline constexpr const char* malformed_job = R"({"type":"malformed"})";
std::vector<RawRequest> bad_generated();
std::string good_generated();  // from which all of them were made

// Each has a request inside that would submit a job of the type "smuggled".
std::vector<RawRequest> smuggling_attacks();

std::vector<BadRequest> bad_framing();  // head, framing, smuggling: all close the connection
std::vector<BadRequest> bad_routing();  // methods, paths, ids, parameters, content types
std::vector<BadRequest> bad_json();     // bodies that are not JSON, or too much of it
std::vector<BadRequest> bad_fields();   // JSON that is not a job, a claim or a cancel

}  // namespace sluice::e2e
