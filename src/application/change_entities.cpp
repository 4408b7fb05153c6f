#include "application/change_entities.hpp"

#include "application/entity_desk.hpp"

namespace sluice {

std::vector<Result<EntityAnswer>> change_entities(Transaction& tx,
                                                  std::span<const EntityAction> actions) {
    std::vector<Result<EntityAnswer>> answers;
    for (const EntityAction& action : actions) {
        EntityDesk desk(tx, "anonymous");
        Result<EntityAnswer> answer = action.decide(desk);
        if (answer && desk.refusal()) answer = *desk.refusal();
        if (answer) {
            desk.apply();
            answer->jobs = desk.submitted();
        }
        answers.push_back(std::move(answer));
    }
    return answers;
}

}  // namespace sluice
