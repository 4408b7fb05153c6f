#include "interfaces/cli/framework/failure.hpp"

#include <fmt/format.h>

#include "domain/values/time.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/parse.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "sluice/client.hpp"

namespace sluice::cli {
namespace {

int code_of_status(const client::Error& error) {
    if (error.code() == "idempotency_key_reused") return exit_conflict;
    switch (error.status()) {
        case 400:
        case 413:
        case 422: return exit_usage;
        case 401:
        case 403: return exit_denied;
        case 404: return exit_not_found;
        case 409:
        case 412: return exit_conflict;
        case 429: return exit_rate_limited;
        default: return exit_error;
    }
}

std::string hint_for(int status) {
    switch (status) {
        case 401:
            return "; give one by SLUICE_TOKEN or --token-file, or ask an admin for a new one";
        case 403: return "; sluice token whoami shows what your token is for";
        case 429: return "; try again in a moment";
        default: return "";
    }
}

// When the same request may be taken. Of a time that the message names, that one counts: a refusal
// by maintenance, for example, lasts until its end.
std::string next_try(const std::string& message, client::Millis pause) {
    static const std::string mark = " until ";
    for (std::size_t at = message.find(mark); at != message.npos; at = message.find(mark, at + 1)) {
        const std::size_t begin = at + mark.size();
        const auto end = parse_rfc3339(message.substr(begin, message.find('Z', begin) + 1 - begin));
        if (!end) continue;
        const Duration rest = *end - now();
        if (rest <= Duration::zero()) break;
        return fmt::format("; try again then, in {}", short_duration(rest));
    }
    if (pause <= client::Millis(5'000)) return "; try again in a moment";
    return fmt::format("; try again in {}", short_duration(pause));
}

}  // namespace

Failure failure_of(const client::Error& error) {
    std::string message = printable(error.what());
    while (message.ends_with('.')) message.pop_back();
    switch (error.kind()) {
        case client::ErrorKind::unreachable:
            return {exit_unreachable,
                    message + (error.code() == "untrusted"
                                   ? "; give its authority with --ca-file, or write http:// if it "
                                     "has no certificate"
                                   : "; start an engine with: sluice dev, or name another one with "
                                     "--server or SLUICE_SERVER")};
        case client::ErrorKind::unavailable:
            return {exit_unreachable, message + next_try(message, error.retry_after())};
        case client::ErrorKind::usage: return {exit_usage, message};
        case client::ErrorKind::refused: break;
    }
    return {code_of_status(error), message + hint_for(error.status())};
}

int run_command_line(const Command& program, int argc, const char* const* argv) {
    const Parsed parsed = parse(program, {argv + 1, argv + argc});
    if (!parsed.command) return parsed.exit_code;
    const auto fail = [](int code, std::string_view message) {
        fmt::print(stderr, "sluice: {}\n", message);
        return code;
    };
    try {
        return parsed.command->action()();
    } catch (const client::RequestShown&) {
        return exit_ok;
    } catch (const CommandError& error) {
        return fail(error.code(), error.what());
    } catch (const client::Error& error) {
        const Failure failure = failure_of(error);
        return fail(failure.code, failure.message);
    } catch (const std::exception& error) {
        return fail(exit_error, error.what());
    }
}

}  // namespace sluice::cli
