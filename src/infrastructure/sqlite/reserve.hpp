#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "application/store_room.hpp"
#include "domain/time.hpp"

namespace sluice::sqlite {

// Room on the store's disk that is kept for the end of what runs: a file beside the store that
// holds nothing. Given up, its room is the store's; when there is enough again, it is taken back.
class Reserve {
  public:
    // Keeps `bytes`, but no more than an eighth of the disk, in the file PATH-reserve. Zero, or a
    // disk that does not say how large it is: nothing is kept, and room() does not tell when a
    // write will not fit. On a disk that is full already the reserve counts as given up. Nothing
    // said: the same as zero, but a file that is there stays there.
    Reserve(const std::filesystem::path& store, std::optional<std::size_t> bytes);

    StoreRoom room() const { return state_.room(); }

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
    RoomState state_;
    Duration looked_at_{};  // since boot: when it was last given up, or not taken back
};

}  // namespace sluice::sqlite
