#include "interfaces/cli/framework/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

using namespace std::chrono_literals;

constexpr client::Millis patience_of_waits = 60s;

client::Options client_options(const CommonFlags& flags) {
    client::Options options;
    options.server = flags.server;
    options.token = token_of(flags);
    options.tenant = flags.tenant;
    options.ca_file = flags.ca_file;
    options.patience = 0ms;
    options.user_agent = "sluice-cli";
    if (!flags.request_timeout.empty()) {
        options.timeout = duration_flag("--request-timeout", flags.request_timeout);
    }
    return options;
}

std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    out += '\'';
    return out;
}

bool is_named(std::string_view header, std::string_view name) {
    return std::equal(header.begin(), header.end(), name.begin(), name.end(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    });
}

}  // namespace

Session::Session(const CommonFlags& flags)
    : options_(client_options(flags)),
      format_(output_format(flags)),
      was_asked_for_a_format_(format_ != OutputFormat::automatic),
      fields_(comma_list(flags.fields)),
      quiet_(flags.quiet),
      show_curl_(flags.show_curl),
      out_(screen_on(STDOUT_FILENO, flags.no_colour)),
      err_(screen_on(STDERR_FILENO, flags.no_colour)),
      client_(std::make_unique<client::Client>(options_)) {
    if (format_ == OutputFormat::automatic) {
        format_ = out_.is_terminal ? OutputFormat::table : OutputFormat::plain;
    }
    if (show_curl_) {
        client_->show_requests(
            [this](const client::Request& request) { put_line(curl_command(request)); });
    }
}

client::Client& Session::patient_client() {
    if (show_curl_) return *client_;
    if (!patient_client_) {
        client::Options options = options_;
        options.patience = patience_of_waits;
        patient_client_ = std::make_unique<client::Client>(std::move(options));
    }
    return *patient_client_;
}

void Session::check_job(const std::string& id) {
    if (!show_curl_) client_->get(id);
}

client::Client& Session::asking() {
    if (!asking_) asking_ = std::make_unique<client::Client>(options_);
    return *asking_;
}

std::vector<std::string> Session::fields_or(const std::vector<std::string>& usual,
                                            const std::vector<std::string>& known) const {
    for (const std::string& field : fields_) check_word("--fields", field, known);
    return fields_.empty() ? usual : fields_;
}

void Session::put_line(std::string_view text) const {
    put(fmt::format("{}\n", text));
}

void Session::put_json(std::string_view json) const {
    put_line(out_.is_terminal ? printable_json(json) : std::string(json));
}

void Session::say(std::string_view text) const {
    if (!quiet_) complain(text);
}

void Session::complain(std::string_view text) const {
    write_to(err_, fmt::format("{}\n", text));
}

std::string shell_word(std::string_view text) {
    const auto is_plain = [](unsigned char c) {
        return std::isalnum(c) ||
               std::string_view("-._/:@%+,").find(static_cast<char>(c)) != std::string_view::npos;
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), is_plain) ? std::string(text)
                                                                            : shell_quoted(text);
}

std::string curl_command(const client::Request& request) {
    std::string line = "curl -sS";
    if (request.url.find("/stream") != std::string::npos) line += "N";
    if (request.method != "GET") line += " -X " + request.method;
    line += fmt::format(" {}", shell_quoted(request.url));
    for (const auto& [name, value] : request.headers) {
        if (is_named(name, "user-agent") || is_named(name, "content-length")) continue;
        if (is_named(name, "authorization")) {
            line += " -H \"Authorization: Bearer $SLUICE_TOKEN\"";
        } else {
            line += fmt::format(" -H {}", shell_quoted(name + ": " + value));
        }
    }
    if (!request.body.empty()) line += fmt::format(" --data-raw {}", shell_quoted(request.body));
    return line;
}

}  // namespace sluice::cli
