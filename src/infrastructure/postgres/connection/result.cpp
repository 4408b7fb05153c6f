#include "infrastructure/postgres/connection/result.hpp"

#include <libpq-fe.h>

#include <charconv>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/connection/text_code.hpp"

namespace sluice::postgres {
namespace {

// Most significant byte first, as PostgreSQL sends numbers of every width.
std::int64_t read_number(std::string_view bytes) {
    check(bytes.size() == 1 || bytes.size() == 2 || bytes.size() == 4 || bytes.size() == 8,
          "a column that is read as a number is one");
    // Starts with all bits of the sign.
    std::uint64_t bits = (bytes.front() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(bits);
}

}  // namespace

void Result::Clear::operator()(pg_result* handle) const {
    PQclear(handle);
}

int Result::rows() const {
    return PQntuples(handle_.get());
}

bool Result::is_null(int row, int column) const {
    return PQgetisnull(handle_.get(), row, column) != 0;
}

std::string_view Result::bytes(int row, int column) const {
    return {PQgetvalue(handle_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(handle_.get(), row, column))};
}

int Result::affected() const {
    const std::string_view digits = PQcmdTuples(handle_.get());
    int count = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), count);
    return count;
}

std::string_view Result::command() const {
    return PQcmdStatus(handle_.get());
}

std::int64_t Row::integer() {
    const std::string_view bytes = raw();
    return bytes.empty() ? 0 : read_number(bytes);
}

std::string Row::text() {
    return decode(raw());
}

std::string_view Row::raw() {
    return result_.bytes(row_, column_++);
}

}  // namespace sluice::postgres
