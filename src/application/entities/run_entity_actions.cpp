#include "application/entities/run_entity_actions.hpp"

#include "application/entities/entity_changes.hpp"

namespace sluice {

std::vector<Result<EntityAnswer>> change_entities(Transaction& tx,
                                                  std::span<const EntityAction> actions) {
    std::vector<Result<EntityAnswer>> answers;
    for (const EntityAction& action : actions) {
        EntityChanges changes(tx, "anonymous");
        Result<EntityAnswer> answer = action.decide(changes);
        if (answer && changes.refusal()) answer = *changes.refusal();
        if (answer) {
            if (auto refusal = changes.refused_submit()) answer = *std::move(refusal);
        }
        if (answer) {
            changes.apply();
            answer->jobs = changes.submitted();
        }
        answers.push_back(std::move(answer));
    }
    return answers;
}

}  // namespace sluice
