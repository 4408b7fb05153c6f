#include <fmt/format.h>

#include "application/audit/verify_history.hpp"
#include "domain/entities/entity_history.hpp"

namespace sluice {
namespace {

constexpr int events_page = 500;

// Walks the events of one entity in order.
class EntityWalk {
  public:
    explicit EntityWalk(const Entity& entity) : entity_(entity), previous_(genesis(entity)) {}

    // The error in the event; empty: none.
    std::string take(const EntityEvent& event) {
        if (event.seq != ++seq_) return fmt::format("event {} is missing", seq_);
        if (event.damaged) return "the stored event is damaged";
        if (event.from != state_) return fmt::format("the entity was \"{}\" before", state_);
        state_ = event.to;
        if (!event.hash) {
            covered_ = false;
            return has_hashes_ ? "the event has no hash, but one before it has" : "";
        }
        has_hashes_ = true;
        if (chain_hash(previous_, event) != *event.hash) {
            return "the hash does not match the event, or the one before it";
        }
        previous_ = *event.hash;
        return "";
    }

    // Whether every event had a hash.
    bool is_covered() const { return covered_; }

    std::string compare() const {
        if (seq_ != entity_.revision) {
            return fmt::format("the entity has {} events, but {} are there", entity_.revision,
                               seq_);
        }
        if (state_ != entity_.state) {
            return fmt::format("the entity is {}, its history says {}", entity_.state, state_);
        }
        if (entity_.head != (has_hashes_ ? std::optional(previous_) : std::nullopt)) {
            return "the entity knows another last event";
        }
        if (entity_.seal ? seal_of(entity_) != *entity_.seal : has_hashes_) {
            return "the entity is not as it was written: an attribute, its parent, state or time";
        }
        return "";
    }

  private:
    const Entity& entity_;
    Digest previous_;
    std::int64_t seq_ = 0;
    std::string state_;
    bool has_hashes_ = false;
    bool covered_ = true;
};

}  // namespace

std::optional<HistoryBreak> verify_entity(EntityReader& reader, const Entity& entity,
                                          std::int64_t& events, bool& covered) {
    covered = true;
    if (entity.damaged) {
        return HistoryBreak{{}, 0, "the stored row is damaged", entity.key};
    }
    EntityWalk walk(entity);
    std::int64_t seq = 0;
    for (auto some = reader.events(entity.key, 0, events_page); !some.empty();
         some = reader.events(entity.key, seq, events_page)) {
        for (const EntityEvent& event : some) {
            ++events;
            std::string wrong = walk.take(event);
            if (!wrong.empty()) {
                return HistoryBreak{{}, seq + 1, std::move(wrong), entity.key};
            }
            seq = event.seq;
        }
    }
    covered = walk.is_covered();
    std::string wrong = walk.compare();
    if (wrong.empty()) return std::nullopt;
    return HistoryBreak{{}, seq, std::move(wrong), entity.key};
}

}  // namespace sluice
