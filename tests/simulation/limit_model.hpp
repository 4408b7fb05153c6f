#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/ports/entity_store.hpp"
#include "simulation/coverage.hpp"

namespace sluice::simulation {

// Which jobs the rules permit to run, worked out from what operators asked for, the open leases and
// the time of each start: slowly, and with nothing by which the engine decides. Demands that every
// start was permitted, and that what the engine tells of its rules is so.
//
// Not everything is known exactly: clocks of nodes differ, a node looks at times a little late, and
// a bucket whose rate was changed keeps a part of its tokens. So a bucket has a largest and a
// least content, and an answer may be "perhaps".
class LimitModel {
  public:
    enum class Answer { no, perhaps, yes };

    explicit LimitModel(Coverage& coverage) : coverage_(coverage) {}

    void let_clocks_differ_by(Duration most) { clocks_differ_by_ = most; }

    // Somebody asks for this rule with this reason, which no other request has.
    void asked(const std::string& reason, const LimitRule& rule) { asked_[reason] = rule; }

    // Reads which of the rules and profiles hold from now on.
    void read(EntityReader& entities);
    bool has_rules() const { return !rules_.empty(); }
    std::vector<LimitRule> rules() const;  // with their ids

    // The time by the clock that the next starts and answers go by. It may be set back.
    void set_time(Timestamp now);

    using Leases = std::map<Lane, std::int64_t>;
    void set_leases(Leases leases);
    // A commit has started these jobs, and these leases are open after it.
    void started(const std::vector<Lane>& lanes, Leases leases);
    // A lease was closed in this way.
    void returned(const Lane& lane, std::string_view way);
    // A client's job was accepted.
    void submitted(const JobSpec& spec) const;

    Answer may_start(const Lane& lane);

    // A rule that holds a lane back, as explain or can-start has named it.
    struct Told {
        std::string rule{};  // its id
        std::string code{};
        std::optional<Timestamp> until{};
    };
    void check_told(const Lane& lane, const std::vector<Told>& told);
    void check_use(const LimitsNow& limits) const;

  private:
    // Its looks at one meter are 5 ms apart.
    static constexpr Duration engine_is_late_by = std::chrono::milliseconds(10);
    static constexpr double rounding = 0.001;  // of tokens
    static constexpr double hour = 3600;       // in seconds
    static constexpr double slot = 30;         // in which starts of the last hour are counted

    using Meter = std::pair<std::string, std::string>;  // the rule's id, and its values of `per`

    struct Bucket {
        double most = 0;
        double least = 0;
        bool is_sure = true;  // `least` holds
        // Tokens that its starts took and that have not come back, also those that it has no room
        // for since it was made smaller.
        double owed_least = 0;
        double owed_most = 0;
        double at = 0;  // as elapsed_
        std::deque<double> starts{};

        void forget();  // what is missing
    };
    // One bound of a rule that may hold a lane back.
    struct Closed {
        std::string code{};
        Answer is_closed = Answer::no;
        // When it opens by time alone, at the earliest and at the latest.
        std::optional<Timestamp> from{};
        Timestamp to = never;
    };

    void read_rule(const Entity& entity, std::map<std::string, LimitRule>& rules);
    void change(const LimitRule& before, const LimitRule& after);
    std::vector<const LimitRule*> rules_for(const Lane& lane) const;
    const LimitRule* quota_for(const Lane& lane, const std::string& type) const;
    std::int64_t active(const LimitRule& rule, const std::string& meter) const;
    Bucket& bucket(const LimitRule& rule, const std::string& meter);
    void refill(const LimitRule& rule, Bucket& bucket) const;
    void start(const LimitRule& rule, const Lane& lane);
    void check_active(const Lane& lane) const;
    void check_use_of(const LimitRule& rule, const RuleUse& use) const;
    void check_tokens(const LimitRule& rule, const MeterUse& use) const;
    Answer is_over(const LimitRule& rule) const;
    Answer work_out(const Lane& lane);
    std::vector<Closed> closed_by(const LimitRule& rule, const Lane& lane);
    Closed closed_by_rate(const LimitRule& rule, Bucket& bucket) const;
    Closed closed_by_hour(const LimitRule& rule, const Bucket& bucket) const;
    void check_rule_told(const LimitRule& rule, const Lane& lane, const Told* told);
    Timestamp after(double seconds) const;
    static double seconds_of(Duration time) { return static_cast<double>(time.count()) / 1e6; }
    static double per_second(const LimitRate& rate) {
        return static_cast<double>(rate.count) / seconds_of(rate.period);
    }
    static std::string meter_of(const LimitRule& rule, const Lane& lane);
    static std::string name_of(const LimitRule& rule, const Lane& lane);

    Coverage& coverage_;
    Duration clocks_differ_by_{};
    std::map<std::string, LimitRule> asked_;  // by their reasons
    std::map<std::string, LimitRule> rules_;  // by their ids
    LimitRules::Profiles profiles_;
    Leases leases_;
    std::map<Meter, Bucket> buckets_;
    std::map<Lane, Answer> answers_;  // of this moment
    Timestamp now_ = Timestamp::min();
    double elapsed_ = 0;  // seconds that have passed; a clock that is set back takes none away
};

}  // namespace sluice::simulation
