#include "interfaces/http/toolkit/store_stream.hpp"

#include <fmt/format.h>

#include "interfaces/http/message/problem.hpp"

namespace sluice::http {
namespace {

constexpr Duration ping_period = std::chrono::seconds(15);

class StoreStream : public BodyStream {
  public:
    StoreStream(const Call& call, JobId subject, std::shared_ptr<StreamSource> source,
                std::vector<Holdings::Share> shares)
        : subject_(subject),
          shares_(std::move(shares)),
          shared_(std::make_shared<Shared>(call.app, call.caller, std::move(source))) {
        shared_->text = "retry: 2000\n\n";
    }
    ~StoreStream() override { shared_->closed = true; }

    void on_ready(std::function<void()> ready) override {
        shared_->ready = std::move(ready);
        // Weak: a watch must not keep the stream alive that owns it.
        const std::weak_ptr<Shared> weak = shared_;
        JobFeed::Watcher watcher;
        watcher.on_change = [weak] {
            if (const auto shared = weak.lock()) look(shared);
        };
        watcher.on_tick = [weak] {
            const auto shared = weak.lock();
            if (!shared) return;
            if (!shared->app.access.is_still_good(*shared->caller)) return end(*shared);
            if (shared->source->changes_unnoticed()) look(shared);
            ping(*shared);
        };
        watch_ = std::make_unique<JobFeed::Watch>(shared_->app.feed, subject_, std::move(watcher));
        look(shared_);
    }

    // The store is read on when the last text was taken and sent, so that a slow reader has one in
    // memory, and not two.
    bool pull(std::string& out) override {
        shared_->is_wanted = shared_->text.empty();
        out += std::exchange(shared_->text, {});
        if (shared_->ended) return false;
        if (shared_->is_wanted && shared_->look_again) look(shared_);
        return true;
    }

  private:
    // The state that a question in flight needs even when the stream is gone before its answer.
    struct Shared {
        Shared(App& a, CallerPtr c, std::shared_ptr<StreamSource> s)
            : app(a), caller(std::move(c)), source(std::move(s)), last_sent(a.clock.now()) {}

        App& app;
        CallerPtr caller;
        std::shared_ptr<StreamSource> source;  // shared with the question in flight
        Timestamp last_sent;
        std::string text;
        std::function<void()> ready;
        bool is_wanted = true;  // the peer has taken all text
        bool asking = false;
        bool look_again = false;  // changed while a question was in flight or text was not taken
        bool ended = false;
        bool closed = false;
    };

    // Reads on, unless a read is under way or its text has not been sent yet.
    static void look(const std::shared_ptr<Shared>& shared) {
        if (shared->ended) return;
        if (shared->asking || !shared->is_wanted || !shared->text.empty()) {
            shared->look_again = true;
            return;
        }
        shared->asking = true;
        shared->look_again = false;
        const auto question = [source = shared->source](JobReader& reader) {
            return source->read(reader);
        };
        shared->app.queries.ask<StreamChunk>(
            question, [shared](Result<StreamChunk> chunk) { take(shared, std::move(chunk)); });
    }

    static void take(const std::shared_ptr<Shared>& shared, Result<StreamChunk> chunk) {
        shared->asking = false;
        if (shared->closed) return;
        if (!chunk) {
            shared->ended = true;
        } else {
            if (!chunk->text.empty()) shared->last_sent = shared->app.clock.now();
            shared->text += chunk->text;
            shared->ended = chunk->ended;
            shared->look_again |= chunk->full;
        }
        if (shared->look_again) look(shared);
        shared->ready();
    }

    // The caller's credential is not good any more.
    static void end(Shared& shared) {
        shared.ended = true;
        shared.ready();
    }

    static void ping(Shared& shared) {
        const Timestamp now = shared.app.clock.now();
        if (now - shared.last_sent < ping_period) return;
        shared.last_sent = now;
        if (!shared.is_wanted) return;  // it has something to read
        shared.text += ": ping\n\n";
        shared.ready();
    }

    JobId subject_;
    std::vector<Holdings::Share> shares_;
    std::shared_ptr<Shared> shared_;
    std::unique_ptr<JobFeed::Watch> watch_;
};

// Nothing: too many are taken.
std::vector<Holdings::Share> shares_for_stream(const Call& call, const std::string& tenant) {
    Holdings& streams = call.app.limiter.streams;
    const CallerLimits& limits = call.app.limiter.limits;
    const Caller& caller = *call.caller;
    std::vector<Holdings::Share> shares;
    shares.push_back(streams.take("tenant " + tenant, limits.streams_per_tenant));
    if (!caller.credential.empty()) {
        shares.push_back(streams.take(fmt::format("{} {}", caller.credential, caller.name),
                                      limits.streams_per_token));
    }
    if (!shares.front() || !shares.back()) shares.clear();
    return shares;
}

Response too_many_streams(std::string_view request_id) {
    Response response = problem(429, "too_many_streams",
                                "too many streams are open for this token or its tenant; close "
                                "some, or try again later",
                                request_id);
    response.headers.emplace_back("Retry-After", "5");
    return response;
}

}  // namespace

void append_stream_event(std::string& out, std::optional<std::int64_t> id, std::string_view type,
                         std::string data) {
    for (char& c : data) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    if (id) out += fmt::format("id: {}\n", *id);
    out += fmt::format("event: {}\ndata: {}\n\n", type, data);
}

void stream_from_store(const Call& call, StreamSubject subject,
                       std::shared_ptr<StreamSource> source) {
    auto shares = shares_for_stream(call, subject.tenant);
    if (shares.empty()) return call.reply.send(too_many_streams(call.request.request_id));
    Response head;
    head.content_type = "text/event-stream; charset=utf-8";
    head.headers.emplace_back("X-Accel-Buffering", "no");
    call.reply.stream(
        std::move(head),
        std::make_unique<StoreStream>(call, subject.watched, std::move(source), std::move(shares)));
}

}  // namespace sluice::http
