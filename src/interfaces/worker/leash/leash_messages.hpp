#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/worker/leash/descriptor.hpp"
#include "interfaces/worker/leash/leash.hpp"

// The messages between a worker and its leash. Both are the same binary, so there is only one
// version.
//
// Commands to be started go over a SOCK_SEQPACKET socket. All other orders of the worker are on a
// board in memory that both share, and an eventfd makes the leash look at it: so no order can get
// lost, and of several only the last counts. The leash notes process ids there, so that the worker
// knows them also after the leash has died. Each command has a pipe of its own, on which the leash
// writes one ExitRecord when the whole group is gone.
namespace sluice::worker {

// Descriptors that the leash process is started with.
inline constexpr int leash_socket_descriptor = 3;
inline constexpr int leash_board_descriptor = 4;
inline constexpr int leash_wake_descriptor = 5;

// The head of each message. After it comes the text of the command, inline or in a file in memory.
struct StartOrder {
    std::uint64_t child = 0;  // names the command; never used again
    std::uint32_t slot = 0;   // its slot on the board
    std::uint32_t text_bytes = 0;
    std::uint32_t descriptors = 0;  // which of DescriptorBit came with it, lowest first
};

enum DescriptorBit : std::uint32_t {
    report_bit = 1,
    input_bit = 2,
    output_bit = 4,
    errors_bit = 8,
    result_bit = 16,
    text_bit = 32,
};
inline constexpr std::size_t descriptors_max = 6;

// Longer texts travel in a file in memory.
inline constexpr std::size_t inline_text_bytes_max = 32 * 1024;

// How a command ended.
struct ExitRecord {
    std::int32_t code = -1;
    std::int32_t signal = 0;
    std::int32_t start_error = 0;  // errno when it could not be started
    std::int32_t start_step = 0;   // a StartStep: what failed
    std::int32_t by_lease = 0;     // 1: it got a signal because its lease was about to end
};

enum class StartStep : std::int32_t { none, in_time, prepare, enter_directory, execute };

// argv, environment and directory as one text, and back. The pointers that reading gives point into
// the text and last as long as it does.
std::string command_text(const Command& command);

struct CommandView {
    std::vector<char*> argv{};         // ends with nullptr
    std::vector<char*> environment{};  // NAME=value; does not end with nullptr
    const char* directory = nullptr;   // empty: stay
};
std::optional<CommandView> read_command(std::string& text);

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// The worker's orders for one command. Moments are nanoseconds of CLOCK_BOOTTIME.
struct BoardSlot {
    std::atomic<std::uint64_t> child;  // that has the slot; a group of any other is to be killed
    std::atomic<std::int64_t> term_at;
    std::atomic<std::int64_t> kill_at;       // as the lease says
    std::atomic<std::int64_t> stop_kill_at;  // SIGTERM now, SIGKILL then; never: not to be stopped
    std::atomic<std::int32_t> pid;           // set by the leash; 0: not started yet, or over
};

// The memory that a worker and its leash share. Zero when it is made.
class LeashBoard {
  public:
    static constexpr std::uint32_t slots = 16 * 1024;

    LeashBoard();                                // makes the memory; throws std::system_error
    explicit LeashBoard(Descriptor descriptor);  // maps memory that another process made
    ~LeashBoard();
    LeashBoard(const LeashBoard&) = delete;
    LeashBoard& operator=(const LeashBoard&) = delete;

    int descriptor() const { return descriptor_.get(); }
    BoardSlot& operator[](std::uint32_t slot) const { return memory_->slots[slot]; }

    // Counts the steps of the leash, so that an idle leash can be told from a busy one.
    std::atomic<std::uint64_t>& steps() const { return memory_->steps; }
    // How many messages the leash has taken from the socket.
    std::atomic<std::uint64_t>& taken() const { return memory_->taken; }

  private:
    struct Memory {
        std::atomic<std::uint64_t> steps;
        std::atomic<std::uint64_t> taken;
        BoardSlot slots[LeashBoard::slots];
    };
    void map();

    Descriptor descriptor_;
    Memory* memory_ = nullptr;
};

// A file in memory with this text, to be read from its beginning. Throws std::system_error.
Descriptor text_in_memory(const std::string& text);

}  // namespace sluice::worker
