#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "application/ports/store_space.hpp"
#include "domain/values/time.hpp"

namespace sluice::sqlite {

// Space on the store's disk that is kept for the end of running jobs: a file beside the store
// without contents. When it is given up, its space is the store's; when there is enough again, it
// is taken back.
class Reserve {
  public:
    // Keeps `bytes`, but no more than an eighth of the disk, in the file PATH-reserve. Zero, or a
    // disk of unknown size: nothing is kept, and space() does not tell when a write will not fit.
    // On a disk that is full already the reserve counts as given up. std::nullopt: the same as
    // zero, but an existing file stays.
    Reserve(const std::filesystem::path& store, std::optional<std::size_t> bytes);

    StoreSpace space() const { return state_.space(); }

    // A write did not fit. True: it may fit now.
    bool give_up();

    // A write went through.
    void fitted() { state_.fitted(); }

    // Costs nothing as long as the reserve is kept.
    void take_back_if_possible();

  private:
    bool take();

    std::filesystem::path path_;
    std::filesystem::path log_;  // the store's write-ahead log
    std::size_t bytes_ = 0;
    ReserveState state_;
    Duration looked_at_{};  // since boot: when it was last given up, or not taken back
};

}  // namespace sluice::sqlite
