// Submits a job of the type "count_words", shows what happens to it, and prints its result.
//
//     ./submit '"to be or not to be"' [SERVER]
#include <sluice/client.hpp>

#include <cstdio>

using namespace sluice::client;

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: submit JSON_STRING [SERVER]\n");
        return 2;
    }
    try {
        Options options;
        if (argc > 2) options.server = argv[2];
        Client client(options);

        NewJob wanted;
        wanted.type = "count_words";
        wanted.payload = argv[1];
        const Job job = client.submit(wanted);

        client.follow(job.id, 0, [](const Update& update) {
            if (update.line) std::fprintf(stderr, "  %s\n", update.line->message.c_str());
            if (update.status)
                std::fprintf(stderr, "%s\n", std::string(to_text(update.status->state)).c_str());
            return true;
        });

        const Job ended = client.get(job.id);
        if (ended.state != State::succeeded) {
            std::fprintf(stderr, "%s: %s\n", ended.error_code.c_str(), ended.error_message.c_str());
            return 1;
        }
        std::printf("%s\n", ended.result.c_str());
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "submit: %s\n", error.what());
        return 1;
    }
}
