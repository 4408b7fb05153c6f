// One call: send the job, follow redirects, judge the answer.
//
// Redirects are followed here and not by the HTTP library, which would send the configured headers,
// and with them secrets, to any host that an answer names. No text that leaves this file holds a
// header's value, or the user, password or query of an URL.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "client/link/http.hpp"
#include "client/link/reportable.hpp"
#include "domain/values/ascii.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "interfaces/worker/executors/stopped.hpp"
#include "interfaces/worker/executors/url_text.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

using client::Context;
using client::HttpConnection;
using client::HttpRequest;
using client::HttpResponse;
using client::Job;
using client::Outcome;
using Clock = std::chrono::steady_clock;
namespace http_error = client::http_error;

constexpr std::size_t error_body_bytes_max = 64 * 1024;  // the rest is not read
constexpr std::size_t shown_body_bytes_max = 2048;

std::string job_json(const Job& job, const std::string& lease_id) {
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.field("job_id", job.id);
    json.field("type", job.type);
    json.field("attempt", job.attempt);
    json.field("max_attempts", job.max_attempts);
    json.text_or_null("tenant", job.tenant);
    json.text_or_null("project", job.project);
    json.text_or_null("queue", job.queue);
    json.text_or_null("entity_type", job.entity_type);
    json.text_or_null("entity_id", job.entity_id);
    json.text_or_null("site_id", job.site_id);
    json.text_or_null("node_id", job.node_id);
    json.text_or_null("correlation_id", job.correlation_id);
    json.field("lease_id", lease_id);
    json.raw_field("payload", payload_text(job));
    json.end_object();
    return body;
}

using Headers = std::vector<std::pair<std::string, std::string>>;

// Default headers first; a configured header of the same name replaces them.
Headers headers_of(const Headers& configured, const Job& job, const std::string& lease_id) {
    Headers headers{
        {"Content-Type", "application/json"},
        {"Accept", "application/json"},
        {"Sluice-Job-Id", job.id},
        {"Sluice-Lease-Id", lease_id},
        {"Idempotency-Key", fmt::format("\"{}/{}\"", job.id, job.attempt)},
    };
    std::erase_if(headers, [&](const auto& header) {
        return std::any_of(configured.begin(), configured.end(), [&](const auto& other) {
            return equals_ignoring_case(header.first, other.first);
        });
    });
    headers.insert(headers.end(), configured.begin(), configured.end());
    return headers;
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The service's message about the failure, for people.
std::string failure_text(const HttpResponse& response) {
    if (response.header("Content-Type").starts_with("application/problem+json")) {
        std::string detail;
        JsonReader reader(response.body);
        reader.object([&](std::string_view key) {
            if (key == "detail") detail = reader.string();
        });
        if (reader.finish() && !detail.empty()) {
            return client::clean_text(detail, shown_body_bytes_max);
        }
    }
    return client::clean_text(response.body, shown_body_bytes_max);
}

Outcome failed_status(const HttpResponse& response) {
    const int status = response.status;
    const bool retryable = status >= 500 || status == 408 || status == 425 || status == 429;
    const std::string text = failure_text(response);
    return Outcome::failed(fmt::format("HTTP_{}", status),
                           fmt::format("HTTP {}{}{}", status, text.empty() ? "" : ": ", text),
                           retryable);
}

Outcome take_result(const std::string& body) {
    if (body.size() > client::text_limits::result) {
        return Outcome::failed(
            "RESULT_TOO_LARGE",
            fmt::format("the answer is longer than {} bytes, which is the most a result can have",
                        client::text_limits::result),
            false);
    }
    if (body.find_first_not_of(" \t\r\n") == std::string::npos) return Outcome::succeeded();
    JsonReader reader(body);
    std::string result(reader.raw());
    if (const auto done = reader.finish(); !done) {
        return Outcome::failed("INVALID_RESULT", "the answer is not JSON: " + done.error().message,
                               false);
    }
    return Outcome::succeeded(std::move(result));
}

Outcome failed_redirect(std::string message) {
    return Outcome::failed("HTTP_REDIRECTS", std::move(message), false);
}

// Connections that are kept for the next job, one for each job at once.
class KeptConnections {
  public:
    std::unique_ptr<HttpConnection> take() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) return std::make_unique<HttpConnection>();
        std::unique_ptr<HttpConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
    }
    void put_back(std::unique_ptr<HttpConnection> connection) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(connection));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<HttpConnection>> idle_;
};

class Call {
  public:
    Call(const HttpExecutor& executor, const Job& job, Context& context)
        : executor_(executor), context_(context) {
        request_.method = executor.method;
        request_.url = executor.url;
        request_.headers = headers_of(executor.headers, job, context.lease_id());
        if (request_.method != "GET" && request_.method != "HEAD") {
            request_.body = job_json(job, context.lease_id());
        }
        request_.body_max = error_body_bytes_max;
        request_.cut_body = true;
        request_.public_addresses_only = !executor.allow_private_addresses;
        request_.ca_file = executor.ca_file;
        request_.keep_on = [this] { return !context_.cancel().requested(); };
        request_.on_body = [this](std::string_view bytes) {
            result_ += bytes;
            return result_.size() <= client::text_limits::result;
        };
    }

    Outcome run(HttpConnection& connection) {
        context_.log().info(fmt::format("{} {}", request_.method, shown_url(request_.url)));
        for (;;) {
            HttpResponse response;
            try {
                if (!set_timeouts()) return out_of_time();
                response = connection.send(request_);
            } catch (const client::Error& error) {
                return explain(error);
            }
            if (!is_redirect(response.status)) return judge(response);
            if (std::optional<Outcome> refusal = redirect(response)) return *refusal;
        }
    }

  private:
    std::int64_t elapsed_ms() const {
        return std::chrono::duration_cast<Millis>(Clock::now() - begin_).count();
    }

    // The limit is for all hops together. Returns false when nothing is left of it.
    bool set_timeouts() {
        if (executor_.timeout <= Millis(0)) return true;
        const Millis left = executor_.timeout - Millis(elapsed_ms());
        request_.timeout = left;
        request_.connect_timeout = std::min(request_.connect_timeout, left);
        return left > Millis(0);
    }

    Outcome out_of_time() {
        return fail("HTTP_TIMEOUT",
                    fmt::format("no answer within {} ms", executor_.timeout.count()), true);
    }

    Outcome fail(std::string code, std::string message, bool retryable) {
        context_.log().warn(fmt::format("no answer after {} ms: {}", elapsed_ms(), message));
        return Outcome::failed(std::move(code), std::move(message), retryable);
    }

    Outcome explain(const client::Error& error) {
        const std::string& code = error.code();
        if (context_.cancel().requested()) return stopped(context_.cancel().reason());
        if (code == http_error::timed_out) return fail("HTTP_TIMEOUT", error.what(), true);
        if (code == http_error::private_address) {
            return fail("HTTP_ADDRESS_REFUSED",
                        std::string(error.what()) +
                            "; allow_private_addresses in the configuration permits it",
                        false);
        }
        if (code == http_error::bad_url) {
            return fail("HTTP_BAD_URL", shown_url(request_.url) + " is no http address", false);
        }
        if (error.kind() == client::ErrorKind::usage) {
            return fail("HTTP_BAD_REQUEST", error.what(), false);
        }
        return fail("HTTP_UNREACHABLE", error.what(), true);
    }

    Outcome judge(const HttpResponse& response) {
        const std::int64_t duration_ms = elapsed_ms();
        const std::string data = json_object_text([&](JsonWriter& json) {
            json.field("status", response.status);
            json.field("duration_ms", duration_ms);
        });
        const bool is_success = response.status / 100 == 2;
        context_.log().write(is_success ? client::Level::info : client::Level::warn,
                             fmt::format("answered {} in {} ms", response.status, duration_ms),
                             data);
        return is_success ? take_result(result_) : failed_status(response);
    }

    // Points the request to the target of the answer, or returns why not.
    std::optional<Outcome> redirect(const HttpResponse& response) {
        const std::string& target = response.redirect_url;
        if (target.empty() && response.header("Location").empty()) return judge(response);
        if (++redirects_ > executor_.redirects_max) {
            return failed_redirect(fmt::format("redirected more than {} times, last to {}",
                                               executor_.redirects_max, shown_url(target)));
        }
        const bool is_same_origin = origin(target) == origin(request_.url);
        const std::string_view user = user_of(target);
        const bool has_own_user =
            !user.empty() && !(is_same_origin && user == user_of(request_.url));
        if (origin(target).empty() || is_misleading(target) || has_own_user) {
            return failed_redirect("redirected to something that is no plain http address: " +
                                   client::clean_text(shown_url(target), shown_body_bytes_max));
        }
        if (is_secure(request_.url) && !is_secure(target)) {
            return failed_redirect("redirected from https to " + shown_url(target) +
                                   ", which would send the job unencrypted");
        }
        context_.log().info(
            fmt::format("answered {}, going on to {}", response.status, shown_url(target)));
        if (response.status <= 303 && request_.method != "HEAD") {
            request_.method = "GET";
            request_.body.clear();
            std::erase_if(request_.headers, [](const auto& header) {
                return equals_ignoring_case(header.first, "Content-Type");
            });
        }
        if (is_same_origin) {
            request_.url = with_user(target, user_of(request_.url));
        } else {
            drop_configured_headers();
            request_.url = target;
        }
        return std::nullopt;
    }

    void drop_configured_headers() {
        std::erase_if(request_.headers, [&](const auto& header) {
            return std::find(executor_.headers.begin(), executor_.headers.end(), header) !=
                   executor_.headers.end();
        });
    }

    const HttpExecutor& executor_;
    Context& context_;
    HttpRequest request_;
    std::string result_;
    int redirects_ = 0;
    Clock::time_point begin_ = Clock::now();
};

class HttpWorker : public client::JobWorker {
  public:
    explicit HttpWorker(HttpExecutor executor) : executor_(std::move(executor)) {}

    Outcome execute(const Job& job, Context& context) override {
        std::unique_ptr<HttpConnection> connection = connections_.take();
        Outcome outcome = Call(executor_, job, context).run(*connection);
        connections_.put_back(std::move(connection));
        return outcome;
    }

  private:
    const HttpExecutor executor_;
    KeptConnections connections_;
};

}  // namespace

std::shared_ptr<client::JobWorker> http_worker(HttpExecutor executor) {
    return std::make_shared<HttpWorker>(std::move(executor));
}

}  // namespace sluice::worker
