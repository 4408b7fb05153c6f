#include "application/entities/counted_successes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "application/entities/ask_gates.hpp"
#include "domain/values/chance.hpp"
#include "infrastructure/memory/memory_store.hpp"
#include "json/json_values.hpp"
#include "support/builders.hpp"

namespace sluice {
namespace counted_successes_test {

// Two changesets and their checks, drawn at random, in a session that is never committed.
class DrawnChecks {
  public:
    explicit DrawnChecks(Chance& chance) : chance_(chance) {
        for (const char* id : {"one", "two"}) {
            Entity& made = add_entity("changeset", id, pick(kind.states()));
            if (happens(0.8)) made.attributes["head_sha"] = json_string(pick(shas));
        }
        for (const char* profile : {"temp_changeset", "persistent_env"}) {
            if (happens(0.5)) continue;
            Entity& made = add_entity("runtime_profile", profile, "active");
            made.attributes = {{"kind", json_string(profile)}, {"profile_revision", "2"}};
        }
        session_->entities().put(entities_);
        for (int i = 0; i < 12; ++i) add_check();
    }

    // For each gate before an action that its entity may still take, whether it is open.
    std::vector<bool> open_gates() {
        std::vector<bool> open;
        for (const Entity& entity : entities_) {
            if (entity.key.kind != kind.name) continue;
            for (const Gate& gate : kind.gates) {
                open.push_back(kind.may_still(entity.state, gate.action) &&
                               show_gate(session_->reader(), entity, gate).open);
            }
        }
        return open;
    }

    // The answers of gates to each question that any caller may ask about a type of job.
    std::vector<bool> answers() {
        std::vector<bool> open;
        for (const char* of_kind : {"changeset", "release", "thing"}) {
            for (const char* id : {"one", "two", "gone"}) {
                for (const char* parent : {"", "app", "other"}) {
                    for (const std::string& type : types) {
                        ask({{"default", of_kind, id}, parent, "", type}, open);
                    }
                }
            }
        }
        return open;
    }

    void remove_what_no_gate_asks_for() {
        std::vector<JobId> over;
        CountedSuccesses counted(session_->reader(), kinds);
        const std::vector<std::optional<Job>> all(jobs_.begin(), jobs_.end());
        if (happens(0.5)) counted.prepare(all);
        for (const Job& job : jobs_) {
            if (!counted.has(job)) over.push_back(job.spec->id);
        }
        session_->archive().remove(over);
        removed_ += over.size();
    }

    std::size_t removed() const { return removed_; }

  private:
    void ask(const GateQuestion& question, std::vector<bool>& open) {
        const auto verdicts = ask_gates(session_->reader(), Rules::built_in(), question);
        if (!verdicts) return;
        for (const GateVerdict& verdict : *verdicts) open.push_back(verdict.open);
    }

    bool happens(double part) { return chance_.next() < part; }
    std::string pick(const std::vector<std::string>& list) {
        return list[static_cast<std::size_t>(chance_.next() * static_cast<double>(list.size()))];
    }

    Entity& add_entity(const char* of_kind, const char* id, std::string state) {
        Entity& made = entities_.emplace_back();
        made.key = {"default", of_kind, id};
        made.number = ++number_;
        made.parent = "app";
        made.state = std::move(state);
        return made;
    }

    void add_check() {
        JobSpec made = spec(++number_, pick(types));
        made.project = happens(0.9) ? "app" : pick({"other", ""});
        made.entity_type = happens(0.8) ? kind.name : pick({"release", "thing"});
        made.entity_id = pick({"one", "two", "gone"});
        Attributes payload;
        if (happens(0.8)) payload["head_sha"] = json_string(pick(shas));
        if (happens(0.5)) {
            payload["runtime_profile_id"] = payload["runtime_profile_kind"] = R"("temp_changeset")";
            payload["runtime_profile_revision"] = happens(0.5) ? "1" : "2";
        }
        made.payload = to_json(payload);
        session_->jobs().put(std::vector<Arrival>{{queued(made), false}});
        const ClaimFilter any;
        const LeaseStore::Wanted wanted{.filter = &any, .limit = 1};
        session_->leases().take({&wanted, 1}, at(0));
        Job job = running(queued(made), {.token = ++number_});
        session_->leases().open({&job, 1});
        job = ended(job, happens(0.7) ? JobState::succeeded : JobState::failed, at(1));
        session_->jobs().finish({&job, 1});
        jobs_.push_back(job);
    }

    const EntityKinds kinds = Catalog::built_in().kinds;
    const EntityKind& kind = *kinds.find("changeset");
    const std::vector<std::string> shas{"a", "b"};
    const std::vector<std::string> types{"msuite_submit", "scan"};
    Chance& chance_;
    MemoryStore store_;
    std::unique_ptr<Session> session_ = store_.begin();
    std::int64_t number_ = 0;
    std::vector<Entity> entities_;
    std::vector<Job> jobs_;
    std::size_t removed_ = 0;
};

// For any entities and checks.
TEST(RetentionAndGates, NeverCloseAGateThatWasOpen) {
    Chance chance(7);
    const auto count = [](const std::vector<bool>& open) {
        return static_cast<int>(std::count(open.begin(), open.end(), true));
    };
    int open_gates = 0;
    int open_answers = 0;
    std::size_t removed = 0;
    for (int round = 0; round < 200; ++round) {
        DrawnChecks drawn(chance);
        const std::vector<bool> gates = drawn.open_gates();
        const std::vector<bool> answers = drawn.answers();
        open_gates += count(gates);
        open_answers += count(answers);

        drawn.remove_what_no_gate_asks_for();

        EXPECT_EQ(drawn.open_gates(), gates) << "in round " << round;
        EXPECT_EQ(drawn.answers(), answers) << "in round " << round;
        removed += drawn.removed();
    }
    EXPECT_GT(open_gates, 50) << "the cases must have something to lose";
    EXPECT_GT(open_answers, 500);
    EXPECT_GT(removed, 500u) << "and something to remove";
}

}  // namespace counted_successes_test
}  // namespace sluice
