#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "domain/entities/entity.hpp"
#include "domain/entities/entity_kind.hpp"

// Finds the jobs that gates ask for, and which of them count.
namespace sluice {

// The jobs that gates ask for. The newest successes for many gates can be read in one call
// beforehand.
class Checks {
  public:
    explicit Checks(JobReader& jobs) : jobs_(jobs) {}

    JobReader& jobs() { return jobs_; }

    // Reads the newest job of each of these filters.
    void fetch(std::vector<JobFilter> filters);
    // The newest job of the filter as it was fetched, if any; nullptr if the filter was not
    // fetched.
    const std::optional<Job>* newest_of(const JobFilter& filter) const;

  private:
    using Name = std::array<std::string, 5>;
    static Name name_of(const JobFilter& filter);

    JobReader& jobs_;
    std::map<Name, std::optional<Job>> newest_;
};

// At most so many of an entity's successful checks are read, the newest first. If none of them
// counts for the entity as it is now, the gate stays closed, and says so: a new check comes first.
inline constexpr int checks_looked_at = 500;

// The jobs of the gate's type about the entity, and those of them that have succeeded.
JobFilter checks_of(const Entity& entity, const Gate& gate);
JobFilter successes_of(const Entity& entity, const Gate& gate);

// Whether the job may open a gate at all.
bool is_intact_success(const Job& job);

// Whether a check counts for the entity as it is now; profiles apart.
bool is_of_this_revision(const Entity& entity, const Attributes& payload);

bool ran_against(const Attributes& payload, const Entity& profile);

// Whether a check may count when its app has no profile of the kind that the gate asks for: it must
// not have run against a profile of another kind.
bool ran_against_none_other(const Attributes& payload, ProfileChoice choice);

// Looks through the entity's checks for one success per profile, or for any success when there are
// no profiles.
class GateSearch {
  public:
    GateSearch(const Entity& entity, ProfileChoice choice, std::vector<Entity> profiles)
        : entity_(entity), choice_(choice), missing_(std::move(profiles)) {
        any_will_do_ = missing_.empty();
    }

    // Reads the jobs that the filter accepts, the newest first, until the search is over. Returns
    // whether there may be older ones.
    bool look_through(Checks& checks, const JobFilter& filter);

    bool is_over() const { return found_; }
    const std::vector<Entity>& missing() const { return missing_; }
    // The successes that the search has counted, also when it is not over.
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
