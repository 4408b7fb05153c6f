// Runs jobs of the type "count_words": counts the words of the payload, a JSON string.
//
//     ./worker [SERVER]
#include <sluice/worker.hpp>

#include <csignal>
#include <cstdio>
#include <string>

using namespace sluice::client;

namespace {

Worker* running = nullptr;

void stop(int) {
    if (running != nullptr) running->stop();
}

Outcome count_words(const Job& job, Context& context) {
    context.log().info("counting", R"({"bytes":)" + std::to_string(job.payload.size()) + "}");
    int words = 0;
    bool in_word = false;
    for (const char c : job.payload) {
        if (context.cancel().requested()) return Outcome::canceled();
        const bool is_space = c == ' ' || c == '"';
        if (!is_space && !in_word) ++words;
        in_word = !is_space;
    }
    if (words == 0) return Outcome::failed("empty_text", "there is nothing to count", false);
    context.progress(100, "counted");
    return Outcome::succeeded(R"({"words":)" + std::to_string(words) + "}");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        WorkerOptions options;
        if (argc > 1) options.connection.server = argv[1];
        options.concurrency = 4;
        options.on_notice = [](Level, const std::string& notice) {
            std::fprintf(stderr, "%s\n", notice.c_str());
        };
        Worker worker(options);
        worker.handle("count_words", count_words);

        running = &worker;
        std::signal(SIGTERM, stop);
        std::signal(SIGINT, stop);
        worker.run();
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "worker: %s\n", error.what());
        return 1;
    }
}
