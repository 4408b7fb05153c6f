#include "nodes/record.hpp"

#include <stdexcept>

namespace sluice::nodes {

Record::Record(const std::filesystem::path& path) : file_(path) {
    if (!file_) throw std::runtime_error("cannot write " + path.string());
}

std::int64_t Record::now() const {
    const auto at = system_start_ + (std::chrono::steady_clock::now() - steady_start_);
    return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

void Record::write(const e2e::Fields& line) {
    const std::string text = serialize(line);
    const std::lock_guard lock(mutex_);
    file_ << text << '\n';
}

void Record::note(const std::string& op, const std::string& actor, const e2e::Fields& args,
                  std::chrono::microseconds later) {
    const std::int64_t at = now() + later.count();
    write(
        {{"op", op}, {"actor", actor}, {"args", args}, {"t0", at}, {"t1", at}, {"outcome", "ok"}});
}

void Record::finish() {
    const std::lock_guard lock(mutex_);
    file_.close();
    if (!file_) throw std::runtime_error("the record could not be written");
}

}  // namespace sluice::nodes
