#include "e2e/cli.hpp"

#include <cstdlib>

namespace sluice::e2e {
namespace {

constexpr int first_of_all = 1'000'000;  // so that the next claim takes this job

}  // namespace

CliTest::CliTest() : engine(shared_engine("memory")), api(engine.port(), fresh_name("queue")) {
    setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
}

std::string CliTest::server() const {
    return "http://127.0.0.1:" + std::to_string(engine.port());
}

Words CliTest::with_server(Words words) const {
    words.insert(words.end(), {"--server", server()});
    return words;
}

Ended CliTest::cli(const Words& words) const {
    return run_sluice(with_server(words));
}

Ended CliTest::on_terminal(const Words& words, const TerminalOptions& options) const {
    return run_on_terminal(with_server(words), options);
}

std::string CliTest::run_job(const Words& more) const {
    Words words{"run", "task", "--queue", api.queue()};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = cli(words);
    EXPECT_EQ(ended.code, 0) << ended.errors;
    return ended.output.substr(0, ended.output.find('\n'));
}

std::string CliTest::succeeded_job(const std::string& result) {
    const std::string id = api.submit_id({{"priority", first_of_all}});
    expect_ok(api.report(api.claim_one(), {{"outcome", "succeeded"}, {"result", parse(result)}}));
    return id;
}

std::string CliTest::failed_job() {
    const std::string id = api.submit_id({{"max_attempts", 1}, {"priority", first_of_all}});
    expect_ok(api.report(
        api.claim_one(),
        {{"outcome", "failed"}, {"error_code", "E_DISK"}, {"error_message", "the disk is full"}}));
    return id;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace sluice::e2e
