#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "domain/entity.hpp"
#include "domain/entity_kind.hpp"

// Which jobs gates look at, and which of them count.
namespace sluice {

// The jobs that gates ask for. The newest success of many gates can be read in one call before.
class Checks {
  public:
    explicit Checks(JobReader& jobs) : jobs_(jobs) {}

    JobReader& jobs() { return jobs_; }

    // Has the newest job of each of these filters at hand.
    void fetch(std::vector<JobFilter> filters);
    // The newest job of the filter as it was fetched, if any; nullptr when it was not.
    const std::optional<Job>* newest_of(const JobFilter& filter) const;

  private:
    using Name = std::array<std::string, 5>;
    static Name name_of(const JobFilter& filter);

    JobReader& jobs_;
    std::map<Name, std::optional<Job>> newest_;
};

// So many of an entity's successful checks are looked at, the newest first. A gate stays closed,
// and says so, when none of them counts for the entity as it is now: a new check comes first.
inline constexpr int checks_looked_at = 500;

// The jobs of the gate's type about the entity, and those of them that have succeeded.
JobFilter checks_of(const Entity& entity, const Gate& gate);
JobFilter successes_of(const Entity& entity, const Gate& gate);

// Whether the job may open a gate at all.
bool is_intact_success(const Job& job);

// Whether a check counts for the entity as it is now; profiles apart.
bool is_of_this_revision(const Entity& entity, const Attributes& payload);

bool ran_against(const Attributes& payload, const Entity& profile);

// Whether a check whose app has no profile of the kind that the gate asks for may count: it must
// not have run against one of another kind.
bool ran_against_none_other(const Attributes& payload, ProfileChoice choice);

// Looks through the entity's checks for one success per profile, or for any when there are none.
class GateSearch {
  public:
    GateSearch(const Entity& entity, ProfileChoice choice, std::vector<Entity> profiles)
        : entity_(entity), choice_(choice), missing_(std::move(profiles)) {
        any_will_do_ = missing_.empty();
    }

    // Looks at what the filter accepts, the newest first, until the search is over. Returns whether
    // there may be older ones.
    bool look_through(Checks& checks, const JobFilter& filter);

    bool is_over() const { return found_; }
    const std::vector<Entity>& missing() const { return missing_; }
    // The successes that it went by, also when it is not over.
    const std::vector<JobId>& counted() const { return counted_; }

  private:
    void look_at(const Job& job);
    bool has_use_for(const Job& job);

    const Entity& entity_;
    ProfileChoice choice_;
    std::vector<Entity> missing_;
    bool any_will_do_ = false;
    bool found_ = false;
    std::vector<JobId> counted_;
};

}  // namespace sluice
