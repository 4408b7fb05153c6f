// A stream may end at any time: the engine stops, a proxy closes it, a network breaks. So following
// is a loop of rounds. Only one number carries over from one to the next, the position of the last
// update that was passed on; the next round asks for later updates, and drops all others.
#include "client/link/job_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "client/link/sse.hpp"

namespace sluice::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Millis silence_max{45'000};  // an engine sends a comment every 15 seconds
constexpr Millis waiting_round{20'000};
constexpr Millis polling_pause{500};
constexpr Millis longest_wait = std::chrono::hours(24 * 365 * 50);
constexpr Millis shortest_timeout{1'000};

class Rounds {
  public:
    enum class End {
        over,       // the final status was passed on, now or before
        stopped,    // the listener wants no more
        broke_off,  // there may be more updates
    };

    Rounds(EngineLink& link, const std::string& id, std::int64_t position,
           const std::function<bool(const Update&)>& on_update,
           const std::function<bool()>& keep_on)
        : link_(link),
          path_(job_path(link.options(), id, "stream")),
          position_(position),
          on_update_(on_update),
          keep_on_(keep_on) {}

    // Listens until the stream ends, or for this long, after which it throws an error of its own;
    // zero: without limit.
    End listen(Millis longest) {
        SseReader reader;
        ApiCall call;
        call.path = path_;
        call.headers.emplace_back("Accept", "text/event-stream");
        if (position_ > 0) call.headers.emplace_back("Last-Event-ID", std::to_string(position_));
        call.timeout = longest;
        call.idle_timeout = silence_max;
        call.keep_on = keep_on_;
        end_ = End::broke_off;
        was_answered_ = false;
        call.on_body = [&](std::string_view bytes) {
            was_answered_ = true;
            return reader.feed(bytes, [this](const SseEvent& event) { return take(event); });
        };
        const HttpResponse response = link_.send(call);
        was_answered_ = true;
        if (thrown_) std::rethrow_exception(thrown_);
        if (response.status == 204) return End::over;
        if (!response.header("Content-Type").starts_with("text/event-stream")) {
            throw not_an_engine(link_.shown(), fmt::format("its stream has the Content-Type \"{}\"",
                                                           response.header("Content-Type")));
        }
        return end_;
    }

    std::int64_t position() const { return position_; }

    // Whether the exception of listen() came from the listener.
    bool listener_threw() const { return thrown_ != nullptr; }

    // Whether the engine sent anything in the last round.
    bool was_answered() const { return was_answered_; }

  private:
    // False ends the round.
    bool take(const SseEvent& event) {
        std::int64_t position = 0;
        const char* const last = event.id.data() + event.id.size();
        const auto read = std::from_chars(event.id.data(), last, position);
        if (read.ec != std::errc{} || read.ptr != last) {
            throw not_an_engine(
                link_.shown(),
                fmt::format("an event of its stream has the id \"{}\", which is no number",
                            event.id));
        }
        if (position <= position_) return true;
        Update update;
        update.position = position;
        if (event.type == "log") {
            update.line = link_.read_answer(event.data, read_log_line);
        } else if (event.type == "status") {
            update.status = link_.read_answer(event.data, read_status);
        }
        position_ = position;
        if (!update.line && !update.status) return true;
        bool goes_on = true;
        try {
            goes_on = on_update_(update);
        } catch (...) {
            thrown_ = std::current_exception();  // of the listener, not of the stream
            return false;
        }
        if (!goes_on) end_ = End::stopped;
        if (update.status && is_final(update.status->state)) end_ = End::over;
        return end_ == End::broke_off;
    }

    EngineLink& link_;
    std::string path_;
    std::int64_t position_;
    const std::function<bool(const Update&)>& on_update_;
    const std::function<bool()>& keep_on_;
    End end_ = End::broke_off;
    bool was_answered_ = false;
    std::exception_ptr thrown_;
};

// How long the engine has been away, and how long to wait for it.
class Absence {
  public:
    explicit Absence(Millis patience) : patience_(patience) {}

    void ends() { failures_ = 0; }

    // The pause before the next try. Nothing: patience is over.
    std::optional<Millis> next_pause(const Error& error) {
        const Clock::time_point now = Clock::now();
        if (failures_ == 0) patient_until_ = now + patience_;
        const Millis pause = pause_before(failures_++, error.retry_after());
        if (now + pause > patient_until_) return std::nullopt;
        return pause;
    }

  private:
    Millis patience_;
    Clock::time_point patient_until_{};
    int failures_ = 0;
};

Job get_job(EngineLink& link, const std::string& id, Millis remaining) {
    ApiCall call;
    call.path = job_path(link.options(), id, "");
    call.timeout = std::min(link.options().timeout, std::max(remaining, shortest_timeout));
    const Millis patience = std::min(link.options().patience, remaining);
    return link.read_answer(link.send_patiently(call, patience).body, read_job);
}

}  // namespace

bool follow_job(EngineLink& link, const std::string& id, std::int64_t position,
                const std::function<bool(const Update&)>& on_update,
                const std::function<bool()>& keep_on) {
    bool told_to_end = false;
    std::function<bool()> keep_listening;
    if (keep_on) {
        keep_listening = [&] {
            told_to_end = told_to_end || !keep_on();
            return !told_to_end;
        };
    }
    Rounds rounds(link, id, position, on_update, keep_listening);
    Absence absence(link.options().patience);
    for (int empty_rounds = 0;;) {
        const std::int64_t before = rounds.position();
        std::optional<Millis> pause;
        try {
            const Rounds::End end = rounds.listen(Millis(0));
            if (end != Rounds::End::broke_off) return end == Rounds::End::over;
            absence.ends();
            empty_rounds = rounds.position() > before ? 0 : empty_rounds + 1;
            pause = pause_before(empty_rounds);
        } catch (const Error& error) {
            if (told_to_end) return false;
            if (rounds.listener_threw() || !is_worth_a_repeat(error)) throw;
            if (rounds.was_answered()) absence.ends();
            pause = absence.next_pause(error);
            if (!pause) throw;
        }
        if (!link.pause(*pause, keep_listening)) return false;
    }
}

std::optional<Job> wait_for_end(EngineLink& link, const std::string& id,
                                std::optional<Millis> limit) {
    const Clock::time_point deadline =
        Clock::now() + std::clamp(limit.value_or(longest_wait), Millis(0), longest_wait);
    const auto remaining = [&] {
        const auto left = std::chrono::ceil<Millis>(deadline - Clock::now());
        return std::max(left, Millis(0));
    };
    const std::function<bool(const Update&)> on_update = [](const Update&) { return true; };
    const std::function<bool()> keep_on;
    bool has_stream = true;
    for (int round = 0;; ++round) {
        Job job = get_job(link, id, remaining());
        if (is_final(job.state)) return job;
        if (remaining() == Millis(0)) return std::nullopt;
        // Each event has a position of its own, so the job's revision is at most the position of
        // the last event.
        Rounds rounds(link, id, job.revision, on_update, keep_on);
        Millis pause = has_stream ? pause_before(round) : polling_pause;
        try {
            // Not for ever: a proxy may hold back the engine's bytes.
            const Millis longest = std::min(waiting_round, remaining());
            if (has_stream && rounds.listen(longest) == Rounds::End::over) pause = Millis(0);
        } catch (const Error& error) {
            if (error.code() == http_error::interrupted) throw;
            if (error.code() == http_error::timed_out) pause = Millis(0);
            has_stream = error.may_be_repeated() && error.code() != not_an_engine_code;
        }
        link.pause(std::min(pause, remaining()));
    }
}

}  // namespace sluice::client
