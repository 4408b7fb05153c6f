// Clients that ask for large answers and read slowly, or not at all: the memory that the engine
// takes for them is bounded, and others are served meanwhile.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <list>
#include <set>
#include <thread>

#include "e2e/api.hpp"
#include "support/sanitizers.hpp"

namespace sluice::e2e {
namespace slow_readers_test {

using namespace std::chrono_literals;

constexpr std::int64_t answer_memory_kilobytes = 32 * 1024;

// Memory of the engine beside the answers themselves: texts and jobs of readers, the shares of
// connections, caches, and what the allocator keeps.
constexpr std::int64_t besides_kilobytes = 64 * 1024;

// Pages of large jobs are planned one after the other: a busy machine takes a while for hundreds.
constexpr Millis turn_comes{90'000};

// A client with small buffers that sends a request and reads only as much as the test wants.
class SlowReader {
  public:
    SlowReader(std::uint16_t port, const std::string& path)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int few = 4096;
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        const std::string request = request_text("GET", path, "");
        ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
    }
    ~SlowReader() { ::close(socket_); }
    SlowReader(const SlowReader&) = delete;
    SlowReader& operator=(const SlowReader&) = delete;

    // False: nothing came, since there was nothing, or the connection is over.
    bool read(std::size_t bytes) {
        std::string some(bytes, ' ');
        const ssize_t count = ::recv(socket_, some.data(), bytes, MSG_DONTWAIT);
        is_over_ = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
        if (count > 0) read_.append(some, 0, static_cast<std::size_t>(count));
        return count > 0;
    }

    bool is_over() const { return is_over_; }
    const std::string& all() const { return read_; }

  private:
    int socket_;
    bool is_over_ = false;
    std::string read_;
};

// The body of a complete answer in chunks; nothing otherwise.
std::optional<std::string> whole_body(std::string_view answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    if (head == std::string_view::npos) return std::nullopt;
    answer.remove_prefix(head + 4);
    std::string body;
    for (;;) {
        const std::size_t line = answer.find("\r\n");
        if (line == std::string_view::npos) return std::nullopt;
        const std::size_t size = std::stoul(std::string(answer.substr(0, line)), nullptr, 16);
        if (size == 0) return body;
        if (answer.size() < line + size + 4) return std::nullopt;
        body += answer.substr(line + 2, size);
        answer.remove_prefix(line + 2 + size + 2);
    }
}

class SlowReaders : public testing::Test {
  protected:
    explicit SlowReaders(std::int64_t answer_memory = answer_memory_kilobytes)
        : engine("sqlite:" + (folder.path() / "slow.db").string(), options(folder, answer_memory)) {
    }

    static std::vector<std::string> options(const TempFolder& folder, std::int64_t kilobytes) {
        const std::string path = (folder.path() / "sluice.toml").string();
        std::ofstream(path) << "[limits]\nanswer_memory = " << kilobytes * 1024
                            << "\nstreams_per_tenant = 2\n";
        return {"--config", path};
    }

    static std::string text_of(std::size_t bytes) { return std::string(bytes, 'x'); }

    // 64 jobs of 250 kB: a page of 4 MiB ends after 16 of them.
    void submit_large_jobs() {
        for (int i = 0; i < 64; ++i) api.submit({{"payload", text_of(250'000)}});
    }

    // A job with 5 MB of log lines.
    std::string submit_with_logs() {
        const std::string id = api.submit_id();
        const Json lease = api.claim_one();
        for (int i = 0; i < 8; ++i) {
            List lines;
            for (int j = 0; j < 10; ++j) lines.push_back(Fields{{"message", text_of(60'000)}});
            expect_ok(api.log(lease, lines));
        }
        return id;
    }

    // 64 sites with 200 kB of attributes.
    void create_large_sites() {
        for (int i = 0; i < 64; ++i) {
            const Json site = Fields{{"id", "s" + std::to_string(i)},
                                     {"attributes", Fields{{"notes", text_of(200'000)}}}};
            expect_ok(api.http.post("/api/v1/sites", serialize(site)), 201);
        }
    }

    // Asks as often as it can for so long, and returns how long an answer took at most.
    Millis longest_answer(Millis time) {
        Client client(engine.port());
        Millis longest{0};
        const auto start = std::chrono::steady_clock::now();
        while (since(start) < time) {
            const auto asked = std::chrono::steady_clock::now();
            EXPECT_EQ(client.get("/api/v1/jobs?limit=1&queue=none").status, 200);
            longest = std::max(longest, since(asked));
            std::this_thread::sleep_for(5ms);
        }
        return longest;
    }

    void expect_bounded(const std::string& path, int count,
                        std::int64_t kilobytes = answer_memory_kilobytes) {
        Client(engine.port()).get(path);  // caches are filled, and threads have their arenas
        const std::int64_t before = engine.resident_kilobytes();
        std::list<SlowReader> readers;
        for (int i = 0; i < count; ++i) readers.emplace_back(engine.port(), path);
        const Millis longest = longest_answer(4s);

        EXPECT_LT(longest, 4s);
        const std::int64_t grown = engine.most_resident_kilobytes() - before;
        RecordProperty("grown_kilobytes", std::to_string(grown));
        RecordProperty("longest_answer_ms", std::to_string(longest.count()));
        EXPECT_TRUE(is_sanitized || grown < kilobytes + besides_kilobytes) << grown;

        const Response whole = Client(engine.port()).request("GET", path, "", {}, turn_comes);
        EXPECT_TRUE(whole.status == 200 || whole.status == 503) << whole.status;
    }

    TempFolder folder;
    Engine engine;
    Api api{engine.port(), "slow"};
};

TEST_F(SlowReaders, OfAListOfLargeJobsTakeNoMoreThanTheLimit) {
    submit_large_jobs();
    expect_bounded("/api/v1/jobs?limit=200", 250);
}

// With the usual limit there is memory for all of them, and each has one job at a time.
class SlowReadersWithRoom : public SlowReaders {
  protected:
    SlowReadersWithRoom() : SlowReaders(256 * 1024) {}
};

TEST_F(SlowReadersWithRoom, OfAListOfLargeJobsHoldOnePieceEach) {
    submit_large_jobs();
    expect_bounded("/api/v1/jobs?limit=200", 250, 250 * 270);
}

TEST_F(SlowReaders, OfALogPageTakeNoMoreThanTheLimit) {
    const std::string id = submit_with_logs();
    expect_bounded("/api/v1/jobs/" + id + "/logs?limit=1000", 300);
}

TEST_F(SlowReaders, OfSingleLargeJobsTakeNoMoreThanTheLimit) {
    submit_large_jobs();
    const Json page = api.get("/api/v1/jobs?limit=1");
    expect_bounded("/api/v1/jobs/" + text(list(page, "jobs").at(0), "id"), 300);
}

TEST_F(SlowReaders, OfAListOfLargeEntitiesTakeNoMoreThanTheLimit) {
    create_large_sites();
    expect_bounded("/api/v1/sites?limit=200", 250);

    std::set<std::string> seen;
    std::string cursor;
    for (int pages = 0; pages < 9; ++pages) {
        const Response page =
            Client(engine.port())
                .request("GET",
                         "/api/v1/sites?limit=200" + (cursor.empty() ? "" : "&cursor=" + cursor),
                         "", {}, turn_comes);
        ASSERT_EQ(page.status, 200) << page.body;
        EXPECT_LT(page.body.size(), 4u * 1024 * 1024);
        for (const Json& site : list(parse(page.body), "sites")) seen.insert(text(site, "id"));
        if (is_null(parse(page.body), "next_cursor")) break;
        cursor = text(parse(page.body), "next_cursor");
    }
    EXPECT_EQ(seen.size(), 64u) << "pages that end early leave none out";
}

TEST_F(SlowReaders, ThatGoOnReadingGetTheirWholePage) {
    submit_large_jobs();
    SlowReader slow(engine.port(), "/api/v1/jobs?limit=200");
    std::list<SlowReader> others;
    for (int i = 0; i < 60; ++i) others.emplace_back(engine.port(), "/api/v1/jobs?limit=200");

    ASSERT_TRUE(eventually(
        [&] {
            slow.read(40'000);  // about 1 MB/s at the most
            return slow.is_over() || whole_body(slow.all());
        },
        60s));
    const auto body = whole_body(slow.all());
    ASSERT_TRUE(body) << "cut after " << slow.all().size() << " bytes";
    const Json page = parse(*body);
    EXPECT_EQ(list(page, "jobs").size(), 16u);
    EXPECT_FALSE(is_null(page, "next_cursor"));
}

TEST_F(SlowReaders, StreamsOfATenantAreLimitedWithoutTokensToo) {
    const std::string ours = "/api/v1/jobs/" + api.submit_id() + "/stream";
    const std::string theirs = "/api/v1/jobs/" + api.submit_id({{"tenant", "acme"}}) + "/stream";
    EventStream first(engine.port(), ours);
    EventStream second(engine.port(), ours);

    const EventStream third(engine.port(), ours);
    EXPECT_EQ(third.head().status, 429);
    EXPECT_EQ(text(parse(third.head().body), "code"), "too_many_streams");
    EXPECT_EQ(EventStream(engine.port(), theirs).head().status, 200);
}

}  // namespace slow_readers_test
}  // namespace sluice::e2e
