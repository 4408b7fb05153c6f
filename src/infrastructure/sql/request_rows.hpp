#pragma once

#include "application/ports/store.hpp"
#include "infrastructure/sql/job_rows.hpp"

// How idempotency keys look as rows; see job_rows.hpp.
namespace sluice {
namespace rows {

// clang-format off
inline constexpr auto request_table = table("idempotency",
    key(text<&IdempotentRequest::tenant>("tenant")),
    key(text<&IdempotentRequest::key>("key")),
    changing(integer<&IdempotentRequest::at>("at")),
    changing(digest<&IdempotentRequest::body_digest>("body_digest")),
    changing(column<Ids<&IdempotentRequest::jobs>>("jobs", ColumnType::text)));
// clang-format on

}  // namespace rows

template <class Row>
IdempotentRequest read_request(Row& row) {
    IdempotentRequest request;
    rows::read_row(row, rows::request_table, std::tie(request));
    return request;
}

}  // namespace sluice
