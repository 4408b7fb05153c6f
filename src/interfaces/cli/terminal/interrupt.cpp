#include "interfaces/cli/terminal/interrupt.hpp"

#include <signal.h>

#include <atomic>

namespace sluice::cli {
namespace {

std::atomic<bool> was_interrupted{false};

void note_interrupt(int) {
    was_interrupted = true;
}

}  // namespace

InterruptWatch::InterruptWatch() {
    was_interrupted = false;
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, nullptr);
}

InterruptWatch::~InterruptWatch() {
    signal(SIGINT, SIG_DFL);
}

bool InterruptWatch::interrupted() {
    return was_interrupted;
}

}  // namespace sluice::cli
