#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "simulation/ledger.hpp"
#include "simulation/node.hpp"
#include "simulation/task.hpp"
#include "support/test_engine.hpp"

namespace sluice::simulation {

struct WorldOptions {
    std::uint64_t seed = 1;
    Duration chaos = std::chrono::seconds(60);  // how long things go wrong
    bool calm = false;                          // nothing goes wrong
    bool keep_transcript = false;               // every answer as text
};

// A caller that asks about another tenant's job learns nothing, not even that it exists.
template <class Answer>
void demand_unknown(const std::optional<Result<Answer>>& answer) {
    if (!answer) return;
    demand(!*answer, "something was done to what is another tenant's");
    const ErrorCode code = answer->error().code;
    demand(code == ErrorCode::not_found || is_passing(code),
           "another tenant's is refused with: ", answer->error().message);
}

// The outcome of a request.
template <class Item>
struct Reply {
    std::optional<AnswerTo<Item>> answer{};  // none: the outcome is unknown
    Timestamp asked{};
    Timestamp heard{};
    bool repeated = false;  // it was sent twice, and the other one may have arrived first

    bool is_ok() const { return answer && *answer; }
};

// Nodes, clients and workers on virtual time, in one thread, with a network between them that loses
// and repeats messages. Everything that happens follows from the seed.
//
//   1. Chaos: every fault that the weather allows may happen. Each answer is checked against all
//      answers before, and the store, after each commit, against what must always hold.
//   2. Healing: there are no more faults, workers are honest, and everything must finish.
class World : private Onlooker {
  public:
    World(Disk& disk, WorldOptions options);
    ~World() override;

    // Throws a Violation when something happened that must not.
    void play();

    // Of the whole run: the same for the same seed.
    Digest hash();
    const std::vector<std::string>& transcript() const { return transcript_; }
    const Coverage& coverage() const { return coverage_; }
    std::size_t jobs() const { return checker_.jobs(); }
    std::uint64_t messages() const { return messages_; }

  private:
    bool is_chaos() const { return timeline_.now() < chaos_end_; }
    bool happens(int percent) { return is_chaos() && dice_.percent(percent); }

    // ── world.cpp ──
    void before(Node& node, Batch& batch) override;
    void after(Node& node, Batch& batch, const Engine::Ran& ran) override;
    void is_slow() override { trouble(); }
    void died(Node& node) override;
    void booted(Node& node) override;
    void look_at(Node& node, const Batch& batch, const Engine::Ran& ran);
    void check_waiting(Node& node, Timestamp now);
    void check_patience();
    void check_order(Batch& batch);
    void announce(const Node& from, const Announcement& news);
    void trouble() { last_trouble_ = timeline_.now(); }
    void heal();
    void restart_later(Node& node);
    bool is_alone() const;
    bool any_is_up() const;
    // By the clocks of clients, which are never set, or are that of the node's machine.
    Timestamp client_time() const;
    std::optional<Timestamp> last_removal() const;
    template <class Answer>
    void note(const char* what, const std::optional<Result<Answer>>& answer);

    // ── operators.cpp ──
    Task<void> operate();
    Task<void> one_change();
    Task<void> change_rules(const char* what, ChangeLimits change);
    Task<void> put(LimitRule rule);
    Task<void> lift(LimitRule rule);
    Task<void> set_profile();
    Task<void> release_lease();
    Task<void> ask_start();
    Task<void> lift_for_the_end();
    Timestamp end_within(int seconds);
    LimitRule new_rule();
    LimitRule new_pause();
    void audit(Node& node);
    void audit_the_end();
    void check_answers(const Batch& batch);

    // ── calamities.cpp ──
    Task<void> kill_nodes();
    Task<void> fill_the_disk();
    Task<void> set_clocks();
    Task<void> watch_the_time();
    Task<void> tick();
    Task<void> keep_time();
    bool is_late_look(const Node& node);
    void check_time(const Node& node);
    void undo_unseen_step();

    // ── the network ── co_await ask(…) gives a Reply.
    template <class Item>
    struct Exchange {
        Reply<Item> reply{};
        std::coroutine_handle<> waiting{};
        bool over = false;
        // Claims that the nodes may keep waiting.
        std::vector<std::pair<Node*, std::uint64_t>> tickets{};
    };
    template <class Item>
    using ExchangePtr = std::shared_ptr<Exchange<Item>>;

    template <class Item>
    auto ask(const char* what, Item item, Duration patience = std::chrono::seconds(10));
    template <class Item>
    void send(const ExchangePtr<Item>& exchange, Node& node, const Item& item, bool answers);
    template <class Item>
    void arrive(const ExchangePtr<Item>& exchange, Node& node, Item item, bool answers);
    template <class Item>
    void settle(const ExchangePtr<Item>& exchange, std::optional<AnswerTo<Item>> answer);
    template <class Item>
    void hang_up(const Exchange<Item>& exchange);
    Duration travel_time();

    // ── clients.cpp ──
    Task<void> client(int number);
    Task<void> submit(const std::string& tenant);
    Task<void> submit_otherwise(SubmitJobs command);
    Task<void> cancel(const std::string& tenant);
    Task<void> replay(const std::string& tenant);
    Task<void> explain(const std::string& tenant);
    Task<void> reset_site(const std::string& tenant);
    SubmitJobs new_submission(const std::string& tenant);
    JobSpec new_spec(const std::string& tenant);
    void add_dependencies(SubmitJobs& command);
    std::optional<JobId> any_job(const std::string& tenant);

    // ── workers.cpp ──
    Task<void> worker(int number);
    ClaimJobs new_claim(int number);
    Task<void> work_on(std::size_t place);
    Task<void> finish(std::size_t place);
    Task<void> heartbeat(std::size_t place);
    Task<void> log(std::size_t place);
    Task<void> hand_back(std::size_t place);
    Task<void> report(std::size_t place);
    Task<void> say_again(std::size_t place, Report report);
    Task<void> speak_for_others(std::size_t place);
    bool closed_after_the_end(LeaseId lease);
    Report new_report(const Holding& holding);

    const WorldOptions options_;
    Dice dice_;
    Timeline timeline_;
    Timestamp chaos_end_;
    Weather weather_;
    Coverage coverage_;
    Checker checker_;
    Ledger ledger_;
    // The error of the machine's clock, or of that of the database that nodes share.
    Duration clock_off_{};
    Dice clock_dice_;       // for steps of the clock only
    std::set<int> late_;    // nodes whose last look at the clock was late
    Duration retention_{};  // of ended jobs; zero: for ever
    Surroundings around_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::list<Task<void>> actors_;

    Timestamp last_trouble_{};
    std::map<JobId, int> overlooked_;  // jobs that waiting claims could get, and for how many looks
    // Rules about what may run are drawn apart.
    Dice limit_dice_;
    const bool has_limits_;
    int changes_ = 0;        // of rules, asked for
    std::set<int> audited_;  // nodes that have told what their meters are

    std::optional<JobId> expected_;  // the job that the claim that runs alone must get; zero: none
    int sites_ = 0;
    int references_ = 0;
    std::map<std::string, int> keys_;  // by tenant
    std::uint64_t tickets_ = 0;
    std::uint64_t messages_ = 0;
    int looks_ = 0;
    Digest answers_{};
    std::vector<std::string> transcript_;
};

// ── the network ──

template <class Item>
auto World::ask(const char* what, Item item, Duration patience) {
    struct Asking {
        World& world;
        const char* what;
        Item item;
        Duration patience;
        ExchangePtr<Item> exchange = std::make_shared<Exchange<Item>>();

        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> waiting) {
            exchange->waiting = waiting;
            exchange->reply.asked = world.timeline_.now();
            Node& node = *world.dice_.pick(world.nodes_);
            const bool twice = world.happens(world.weather_.repeated) && may_be_repeated(item);
            const bool second_answers = twice && world.dice_.one_in(2);
            exchange->reply.repeated = twice;
            world.send(exchange, node, item, !second_answers);
            if (twice) world.coverage_.fault("request repeated");
            if (twice) world.send(exchange, *world.dice_.pick(world.nodes_), item, second_answers);
            world.timeline_.after(patience, [&world = world, exchange = exchange] {
                world.hang_up(*exchange);
                world.settle(exchange, std::optional<AnswerTo<Item>>{});
            });
        }
        Reply<Item> await_resume() {
            Reply<Item>& reply = exchange->reply;
            if (!reply.answer) {
                world.coverage_.no_answer(what);
            } else if (!*reply.answer) {
                world.coverage_.refusal(what, reply.answer->error().code);
            }
            world.note(what, reply.answer);
            return std::move(reply);
        }

        // Without a key a repeat is a second request, which is what the caller asked for.
        static bool may_be_repeated(const Item& item) {
            if constexpr (requires { item.idempotency_key; }) return !item.idempotency_key.empty();
            return true;
        }
    };
    return Asking{*this, what, std::move(item), patience};
}

template <class Item>
void World::send(const ExchangePtr<Item>& exchange, Node& node, const Item& item, bool answers) {
    ++messages_;
    if (happens(weather_.lost)) return coverage_.fault("request lost");
    timeline_.after(travel_time(), [this, exchange, &node, item, answers] {
        arrive(exchange, node, item, answers);
    });
}

template <class Item>
void World::arrive(const ExchangePtr<Item>& exchange, Node& node, Item item, bool answers) {
    if (!node.is_up()) {
        coverage_.fault("node was down");
        return settle(exchange, std::optional<AnswerTo<Item>>{});
    }
    // How long a claim waits is sent as a time after the beginning; the node's clock counts.
    if constexpr (std::is_same_v<Item, ClaimJobs>) {
        item.ticket = ++tickets_;
        exchange->tickets.emplace_back(&node, item.ticket);
        if (item.wait_until) item.wait_until = node.now() + (*item.wait_until - at(0));
    }
    node.post_one<Item>(std::move(item), [this, exchange, answers](AnswerTo<Item> answer) {
        if (!answers) return;
        if (happens(weather_.lost)) return coverage_.fault("answer lost");
        timeline_.after(travel_time(), [this, exchange, answer = std::move(answer)]() mutable {
            if (exchange->over) coverage_.fault("answer late");
            settle(exchange, std::optional(std::move(answer)));
        });
    });
}

// A node that notices that its caller has gone forgets the claim.
template <class Item>
void World::hang_up(const Exchange<Item>& exchange) {
    if (exchange.over) return;
    for (const auto& [node, ticket] : exchange.tickets) {
        if (!dice_.one_in(2)) continue;
        coverage_.fault("claim forgotten");
        node->forget(ticket);
    }
}

template <class Item>
void World::settle(const ExchangePtr<Item>& exchange, std::optional<AnswerTo<Item>> answer) {
    if (exchange->over) return;
    exchange->over = true;
    exchange->reply.answer = std::move(answer);
    exchange->reply.heard = timeline_.now();
    exchange->waiting.resume();
}

template <class Answer>
void World::note(const char* what, const std::optional<Result<Answer>>& answer) {
    std::string text = what;
    if (!answer) {
        text += " got no answer";
    } else if (!*answer) {
        text += " refused: " + answer->error().message;
    } else if constexpr (std::is_same_v<Answer, Job>) {
        text += ' ' + to_text((*answer)->spec->id) + ' ' +
                std::string(to_text((*answer)->now.state)) + ' ' +
                std::to_string((*answer)->now.head.seq);
    } else if constexpr (std::is_same_v<Answer, Claimed>) {
        for (const Job& job : **answer) text += ' ' + to_text(lease_of(job));
    } else if constexpr (std::is_same_v<Answer, Explanation>) {
        for (const Reason& reason : (*answer)->reasons) text += ' ' + reason.code + reason.detail;
    } else if constexpr (std::is_same_v<Answer, StartNow>) {
        for (const HeldBy& held : (*answer)->held_by) text += ' ' + held.code + held.detail;
    } else if constexpr (std::is_same_v<Answer, LimitAnswer>) {
        for (const LimitRule& rule : (*answer)->rules) text += ' ' + rule.id + rule.reason;
    } else if constexpr (std::is_same_v<Answer, Appended>) {
        text += ' ' + std::to_string((*answer)->last_seq);
    }
    answers_ = sha256(answers_, text);
    if (options_.keep_transcript) transcript_.push_back(std::move(text));
}

}  // namespace sluice::simulation
