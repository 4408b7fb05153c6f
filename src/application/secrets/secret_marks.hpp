#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "application/secrets/secret_names.hpp"
#include "domain/jobs/job.hpp"
#include "domain/jobs/job_type.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Shown instead of a secret wherever others can see it.
inline constexpr std::string_view secret_stand_in = "***";

// Which parts of a payload are secret: members with the name of a secret (SecretNames), at any
// depth, and the values at the paths that the job's type lists.
class SecretMarks {
  public:
    // The usual names, and no paths.
    SecretMarks();
    SecretMarks(const std::vector<std::string>& names, const JobTypes& types);

    // Nothing is secret: for the worker that has the job to do.
    static const SecretMarks& none();

    // The problem with a name or a path that an operator has given; empty: none.
    static std::string problem_with_name(std::string_view name);
    static std::string problem_with_path(std::string_view path);

    // The payload as others may see it: a JSON string replaces each secret, and all around it is
    // byte for byte as it was. Gives `payload` itself when nothing in it is secret, and else a view
    // of `buffer`.
    std::string_view shown(std::string_view type, std::string_view payload,
                           std::string& buffer) const;
    std::string_view shown(const JobSpec& spec, std::string& buffer) const {
        return shown(spec.type, spec.payload, buffer);
    }

    // The same for JSON that belongs to no job: by names alone.
    std::string shown(std::string_view json) const;

    // The texts in the payload that are secret, and the numbers without their signs, in their
    // order.
    std::vector<std::string> secret_texts(const JobSpec& spec) const;

  private:
    using Path = std::vector<std::string>;

    // The secrets in jobs of one type.
    struct Marks {
        SecretNames names{};
        std::vector<Path> paths{};
        std::vector<std::string> hints{};   // one is the end of a name on the way to a path's end
        std::array<bool, 256> hint_ends{};  // the last bytes of the hints
        bool always_look = false;           // a path that gives no hint

        void add_path(std::string_view path);
        void add_hint(std::string hint);

        // Whether the text may have secrets. Only reads bytes that stand before a colon.
        bool may_be_in(std::string_view json) const;
        // Calls `take` with each secret value as it stands in the text.
        template <class Take>
        void find_in(std::string_view json, Take take) const;
        std::string_view shown(std::string_view json, std::string& buffer) const;
    };

    const Marks& marks_of(std::string_view type) const;

    Marks of_all_;      // by name only
    Marks of_default_;  // of types that are not listed
    std::map<std::string, Marks, std::less<>> of_types_;
};

}  // namespace sluice
