#include "interfaces/http/native_limits/read_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "application/toolkit/names.hpp"
#include "interfaces/http/requests/fields.hpp"

namespace sluice::http::native {
namespace {

// Numbers beyond are outside of what a rule may have, and of what fits into a duration.
constexpr std::int64_t period_ms_max = 366LL * 24 * 3600 * 1000;
// Of longer lists so much is read that the refusal of the list is found.
constexpr std::size_t tenants_read = limits::tenants_of_profile + 1;

void refuse_text(JsonReader& reader, const std::optional<Error>& refusal) {
    if (refusal) reader.fail(refusal->message, refusal->code);
}

// Reason and ticket have two names each, for those who write quotas. Given twice, they must agree.
class WriteReader {
  public:
    WriteReader(JsonReader& reader, LimitWrite& write) : reader_(reader), write_(write) {}

    // Reads the member of this name; false when it is none of these.
    bool read(std::string_view key) {
        if (key == "reason" || key == "quota_reason") {
            read_text(reason_, "reason", check_reason_text);
            write_.reason = reason_.value_or("");
        } else if (key == "ticket" || key == "quota_ticket") {
            if (reader_.kind() == JsonReader::Kind::null && !ticket_) write_.ticket.emplace();
            read_text(ticket_, "ticket", check_ticket_text);
            if (ticket_) write_.ticket = ticket_;
        } else if (key == "dry_run") {
            if (!reader_.null()) write_.dry_run = reader_.boolean();
        } else {
            return false;
        }
        return true;
    }

  private:
    using Check = std::optional<Error> (*)(std::string_view, std::string_view);

    void read_text(std::optional<std::string>& known, const char* what, Check check) {
        if (reader_.null()) return;
        std::string text = reader_.string();
        refuse_text(reader_, check("", text));
        if (known && *known != text) {
            reader_.fail(fmt::format("differs from the other {}: give one of them", what));
        }
        known = std::move(text);
    }

    JsonReader& reader_;
    LimitWrite& write_;
    std::optional<std::string> reason_{};
    std::optional<std::string> ticket_{};
};

// A field that is too large is refused like one that is wrong: the body itself is not too large.
Error as_invalid_field(Error error) {
    if (error.code == ErrorCode::too_large && !error.pointer.empty()) {
        error.code = ErrorCode::invalid;
    }
    return error;
}

// A rate whose bucket was not given has the usual one.
struct RateDraft {
    std::int64_t count = 0;
    std::optional<std::int64_t> burst{};
};

// The bucket of a rate, if it is not the usual one.
std::optional<std::int64_t> own_burst(const LimitRate& rate) {
    return rate.burst == default_burst(rate) ? std::nullopt : std::optional(rate.burst);
}

class RuleReader {
  public:
    RuleReader(JsonReader& reader, RuleForm form, LimitRule base)
        : reader_(reader), form_(form), is_new_(base.id.empty()), rule_(std::move(base)) {
        if (form_ == RuleForm::quota && rule_.rate) {
            hourly_ = {.count = rule_.rate->count, .burst = own_burst(*rule_.rate)};
        }
    }

    LimitRule read(LimitWrite& write) {
        UnknownFields unknown;
        WriteReader of_write(reader_, write);
        reader_.object([&](std::string_view key) {
            if (of_write.read(key) || read_common(key)) return;
            const bool is_known = form_ == RuleForm::quota ? read_quota(key) : read_limit(key);
            if (!is_known) unknown.add(key);
        });
        unknown.refuse(reader_);
        if (form_ == RuleForm::quota) finish_quota();
        return std::move(rule_);
    }

  private:
    bool read_common(std::string_view key) {
        if (key == "tenant") {
            read_text(rule_.scope.tenant);
        } else if (key == "type") {
            read_text(rule_.scope.type);
        } else if (key == "max_active") {
            rule_.max_active = reader_.null() ? std::nullopt : std::optional(reader_.integer());
        } else if (key == "paused") {
            rule_.paused = !reader_.null() && reader_.boolean();
        } else if (key == "until") {
            rule_.until = reader_.null() ? std::nullopt : std::optional(read_timestamp(reader_));
        } else {
            return false;
        }
        return true;
    }

    bool read_limit(std::string_view key) {
        if (key == "kind" && is_new_) {
            read_kind();
        } else if (key == "name") {
            read_text(rule_.name);
        } else if (key == "queue") {
            read_text(rule_.scope.queue);
        } else if (key == "source") {
            read_text(rule_.scope.source);
        } else if (key == "per") {
            read_dimensions();
        } else if (key == "rate") {
            read_rate();
        } else {
            return false;
        }
        return true;
    }

    bool read_quota(std::string_view key) {
        if (key == "profile") {
            read_text(rule_.profile);
        } else if (key == "max_per_hour") {
            hourly_.count = 0;
            rule_.rate.reset();
            if (reader_.null()) return true;
            rule_.rate.emplace();
            hourly_.count = reader_.integer();
        } else if (key == "burst") {
            hourly_.burst = reader_.null() ? std::nullopt : std::optional(reader_.integer());
            has_burst_ = hourly_.burst.has_value();
        } else {
            return false;
        }
        return true;
    }

    void read_text(std::string& text) {
        if (reader_.null()) {
            text.clear();
        } else {
            text = read_name(reader_);
        }
    }

    void read_kind() {
        const auto kind = parse_limit_kind(reader_.string());
        if (kind == LimitKind::limit || kind == LimitKind::throttle) {
            rule_.kind = *kind;
        } else {
            reader_.fail("must be limit or throttle; all other kinds have paths of their own");
        }
    }

    void read_dimensions() {
        rule_.per = {};
        if (reader_.null()) return;
        reader_.array([&](std::size_t) {
            const auto dimension = parse_dimension(reader_.string());
            if (dimension) return rule_.per.add(*dimension);
            reader_.fail("must be tenant, type, queue or source");
        });
    }

    // Members that the body does not name stay as they were.
    void read_rate() {
        const std::optional<LimitRate> known = std::exchange(rule_.rate, std::nullopt);
        if (reader_.null()) return;
        LimitRate rate = known.value_or(LimitRate{.count = 0, .period = std::chrono::seconds(1)});
        bool has_own_burst = known && own_burst(*known);
        UnknownFields unknown;
        reader_.object([&](std::string_view key) {
            if (key == "burst") {
                has_own_burst = !reader_.null();
                if (has_own_burst) rate.burst = reader_.integer();
            } else if (reader_.null()) {
                return;
            } else if (key == "count") {
                rate.count = reader_.integer();
            } else if (key == "period_ms") {
                rate.period =
                    from_millis(std::clamp<std::int64_t>(reader_.integer(), -1, period_ms_max));
            } else {
                unknown.add(key);
            }
        });
        unknown.refuse(reader_);
        if (!has_own_burst) rate.burst = default_burst(rate);
        rule_.rate = rate;
    }

    void finish_quota() {
        rule_.per = counted_by_of_quota(rule_.scope);
        if (!rule_.rate) {
            if (has_burst_) reader_.fail_at("burst", "needs max_per_hour");
            return;
        }
        rule_.rate = hourly_rate(hourly_.count, hourly_.burst);
    }

    JsonReader& reader_;
    RuleForm form_;
    bool is_new_;
    LimitRule rule_;
    RateDraft hourly_{};
    bool has_burst_ = false;
};

bool is_tag_end(std::string_view text) {
    return text.empty() || text.front() == ',';
}

std::string_view without_space(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == text.npos ? std::string_view() : text.substr(begin);
}

Error bad_if_match() {
    return {ErrorCode::malformed,
            R"(If-Match must be *, or the ETag of the rule as it was answered, such as "3")", ""};
}

}  // namespace

Result<RuleRequest> read_rule_request(std::string_view body, Reading reading, RuleForm form,
                                      LimitRule base) {
    JsonReader reader(body, reading, body_name);
    RuleRequest request;
    request.rule = RuleReader(reader, form, std::move(base)).read(request.write);
    if (const auto done = reader.finish(); !done) return as_invalid_field(done.error());
    return request;
}

namespace {

// Reads the member of this name, which is not null.
void read_action_field(JsonReader& reader, std::string_view key, LimitAction& action) {
    if (key == "tenant") {
        action.tenant = read_name(reader);
    } else if (key == "source") {
        action.source = read_name(reader);
    } else if (key == "until") {
        action.until = read_timestamp(reader);
    } else if (key == "submits") {
        const std::string text = reader.string();
        action.named.submits = true;
        action.refuses_submits = text == "refuse";
        if (text != "refuse" && text != "take") reader.fail("must be take or refuse");
    } else if (key == "running") {
        const std::string text = reader.string();
        action.cancels_running = text == "cancel";
        if (text != "cancel" && text != "go_on") reader.fail("must be go_on or cancel");
    } else if (key == "tenants") {
        action.tenants = read_strings(reader, tenants_read);
    }
}

}  // namespace

Result<LimitAction> read_limit_action(const Request& request,
                                      const std::vector<std::string_view>& members) {
    JsonReader reader = body_reader(request);
    LimitAction action;
    UnknownFields unknown;
    WriteReader of_write(reader, action.write);
    reader.object([&](std::string_view key) {
        if (of_write.read(key)) return;
        const bool is_meant = std::find(members.begin(), members.end(), key) != members.end();
        if (!is_meant) return unknown.add(key);
        if (key == "until") action.named.until = true;
        if (!reader.null()) read_action_field(reader, key, action);
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return as_invalid_field(done.error());
    return action;
}

Result<CheckMeters> read_meter_check(const Request& request) {
    JsonReader reader = body_reader(request);
    CheckMeters check;
    LimitWrite write;
    UnknownFields unknown;
    WriteReader of_write(reader, write);
    reader.object([&](std::string_view key) {
        const bool is_why = key == "reason" || key == "ticket";
        if (is_why) {
            of_write.read(key);
        } else if (key != "repair") {
            unknown.add(key);
        } else if (!reader.null()) {
            check.repair = reader.boolean();
        }
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return as_invalid_field(done.error());
    check.reason = std::move(write.reason);
    check.ticket = write.ticket.value_or("");
    return check;
}

Result<IfMatch> IfMatch::read(const Request& request) {
    IfMatch match;
    const std::string_view* header = request.header("If-Match");
    if (!header) return match;
    match.is_given_ = true;
    std::string_view text = without_space(*header);
    if (without_space(text).starts_with('*') && without_space(text.substr(1)).empty()) return match;
    match.is_any_ = false;
    for (;;) {
        const bool is_weak = text.starts_with("W/");
        if (is_weak) text.remove_prefix(2);
        const std::size_t end = text.starts_with('"') ? text.find('"', 1) : text.npos;
        if (end == text.npos) return bad_if_match();
        std::int64_t revision = 0;
        const std::string_view tag = text.substr(1, end - 1);
        const auto [stop, error] = std::from_chars(tag.data(), tag.data() + tag.size(), revision);
        const bool is_number = error == std::errc{} && stop == tag.data() + tag.size();
        if (is_number && !is_weak) match.revisions_.push_back(revision);
        text = without_space(text.substr(end + 1));
        if (text.empty()) return match;
        if (!is_tag_end(text)) return bad_if_match();
        text = without_space(text.substr(1));
    }
}

std::optional<Error> IfMatch::refuse(std::optional<std::int64_t> revision) const {
    if (!is_given_) return std::nullopt;
    if (!revision) {
        return Error{ErrorCode::changed_meanwhile,
                     "there is none now, and If-Match is for one that is there: read it again", ""};
    }
    const bool matches =
        is_any_ || std::find(revisions_.begin(), revisions_.end(), *revision) != revisions_.end();
    if (matches) return std::nullopt;
    return Error{ErrorCode::changed_meanwhile,
                 fmt::format("the rule has revision {} now, which If-Match does not name: read it "
                             "again",
                             *revision),
                 ""};
}

}  // namespace sluice::http::native
