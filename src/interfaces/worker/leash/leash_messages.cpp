#include "interfaces/worker/leash/leash_messages.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace sluice::worker {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::system_category(), what);
}

void append_number(std::string& text, std::size_t number) {
    const auto value = static_cast<std::uint32_t>(number);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The text's own NUL goes along, so that the reader needs no copy.
void append_string(std::string& text, std::string_view string) {
    append_number(text, string.size() + 1);
    text.append(string);
    text.push_back('\0');
}

// Takes the text apart again; gives nothing when append_…() did not write it.
class TextReader {
  public:
    explicit TextReader(std::string& text) : at_(text.data()), left_(text.size()) {}

    std::optional<std::uint32_t> number() {
        std::uint32_t value = 0;
        if (left_ < sizeof value) return std::nullopt;
        std::memcpy(&value, at_, sizeof value);
        move(sizeof value);
        return value;
    }

    char* string() {
        const auto size = number();
        if (!size || *size == 0 || *size > left_ || at_[*size - 1] != '\0') return nullptr;
        char* found = at_;
        move(*size);
        return found;
    }

    bool strings(std::vector<char*>& into) {
        const auto count = number();
        if (!count || *count > left_) return false;
        into.reserve(*count + 1);
        for (std::uint32_t i = 0; i < *count; ++i) {
            char* found = string();
            if (found == nullptr) return false;
            into.push_back(found);
        }
        return true;
    }

  private:
    void move(std::size_t count) {
        at_ += count;
        left_ -= count;
    }

    char* at_;
    std::size_t left_;
};

}  // namespace

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
    Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) fail("cannot set up a pipe");
    return pipe;
}

std::string command_text(const Command& command) {
    std::string text;
    append_number(text, command.argv.size());
    for (const std::string& argument : command.argv) append_string(text, argument);
    append_number(text, command.environment.size());
    for (const auto& [name, value] : command.environment) append_string(text, name + '=' + value);
    append_string(text, command.directory);
    return text;
}

std::optional<CommandView> read_command(std::string& text) {
    TextReader reader(text);
    CommandView command;
    if (!reader.strings(command.argv) || command.argv.empty()) return std::nullopt;
    command.argv.push_back(nullptr);
    if (!reader.strings(command.environment)) return std::nullopt;
    command.directory = reader.string();
    if (command.directory == nullptr) return std::nullopt;
    return command;
}

LeashBoard::LeashBoard() : descriptor_(::memfd_create("sluice-leash", MFD_CLOEXEC)) {
    if (!descriptor_ || ::ftruncate(descriptor_.get(), sizeof(Memory)) != 0) {
        fail("cannot make memory to share with the leash");
    }
    map();
}

LeashBoard::LeashBoard(Descriptor descriptor) : descriptor_(std::move(descriptor)) {
    map();
}

LeashBoard::~LeashBoard() {
    ::munmap(static_cast<void*>(memory_), sizeof(Memory));
}

void LeashBoard::map() {
    static_assert(std::atomic<std::int32_t>::is_always_lock_free &&
                      std::atomic<std::int64_t>::is_always_lock_free,
                  "two processes share them");
    void* const memory =
        ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (memory == MAP_FAILED) fail("cannot share memory with the leash");
    memory_ = static_cast<Memory*>(memory);
}

Descriptor text_in_memory(const std::string& text) {
    Descriptor file(::memfd_create("sluice-command", MFD_CLOEXEC));
    if (!file) fail("cannot make a file in memory");
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail("cannot fill a file in memory");
        done += static_cast<std::size_t>(count);
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) fail("cannot rewind a file in memory");
    return file;
}

}  // namespace sluice::worker
