// Answers in pieces: how they are framed, when they are made, and how much memory they take.

#include <gtest/gtest.h>

#include <list>

#include "interfaces/http/server/server.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_pieces_test {

using namespace testing_support;

// Makes the pieces of answers, and counts how often. Used on the I/O thread.
class Maker {
  public:
    // An answer of `count` pieces of `bytes` each.
    AskPiece pieces(int count, std::size_t bytes, int number = 0) {
        return [this, count, bytes, number](const std::function<void(AnswerPiece)>& came) {
            ++made;
            AnswerPiece piece;
            piece.failed = number == fails_at;
            piece.response = text(std::string(bytes, static_cast<char>('a' + number % 26)));
            if (number + 1 < count) piece.rest = pieces(count, bytes, number + 1);
            came(std::move(piece));
        };
    }

    static std::string whole(int count, std::size_t bytes) {
        std::string body;
        for (int i = 0; i < count; ++i) body.append(bytes, static_cast<char>('a' + i % 26));
        return body;
    }

    std::atomic<int> made = 0;
    int fails_at = -1;
};

class Pieces : public testing::Test {
  protected:
    static constexpr std::size_t large = 1'000'000;

    // /COUNT/BYTES answers with pieces; any other path answers with so many bytes as a whole.
    void handle(const Request& request, Reply reply) {
        const std::string path(request.path.substr(1));
        const std::size_t slash = path.find('/');
        if (slash == std::string::npos) return reply.send(text(std::string(std::stoul(path), 'x')));
        reply.send_pieces(maker.pieces(std::stoi(path), std::stoul(path.substr(slash + 1))));
    }

    static Limits limits() {
        Limits made = patient();
        made.answer_memory = 3'500'000;
        return made;
    }

    AnswerFigures figures() {
        std::promise<AnswerFigures> told;
        server->post([&] { told.set_value(server->answers()); });
        return told.get_future().get();
    }

    // Waits until nothing changes any more.
    void settle() {
        for (int before = -1; before != maker.made;) {
            before = maker.made;
            std::this_thread::sleep_for(50ms);
            server.settle();
        }
    }

    Maker maker;
    RunningServer server{
        [this](const Request& request, Reply reply) { handle(request, std::move(reply)); },
        with_limits(limits())};
};

TEST_F(Pieces, OneIsAnOrdinaryAnswer) {
    RawClient client(server.port());
    client.send(get("/1/1000"));
    const Answer answer = client.read_answer();

    EXPECT_EQ(answer.header("Content-Length"), "1000");
    EXPECT_EQ(answer.header("Transfer-Encoding"), "");
    EXPECT_EQ(answer.body, Maker::whole(1, 1000));
    EXPECT_EQ(maker.made, 1);
}

TEST_F(Pieces, SeveralAreChunksAndTheConnectionGoesOn) {
    RawClient client(server.port());
    client.send(get("/30/70000") + get("/2/10") + get("/5"));
    const Answer first = client.read_answer();

    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.header("Transfer-Encoding"), "chunked");
    EXPECT_EQ(first.header("Content-Length"), "");
    EXPECT_EQ(first.header("Content-Type"), "text/plain");
    EXPECT_EQ(first.body, Maker::whole(30, 70'000));
    EXPECT_EQ(client.read_answer().body, Maker::whole(2, 10));
    EXPECT_EQ(client.read_answer().body, "xxxxx");
}

TEST_F(Pieces, MayBeEmptyWithoutEndingTheAnswer) {
    RawClient client(server.port());
    client.send(get("/3/0") + get("/5"));

    EXPECT_EQ(client.read_answer().body, "");
    EXPECT_EQ(client.read_answer().body, "xxxxx");
}

TEST_F(Pieces, EndWithTheConnectionForAnOlderClient) {
    RawClient client(server.port());
    client.send("GET /3/70000 HTTP/1.0\r\nHost: here\r\n\r\n");
    const Answer head = client.read_answer();

    EXPECT_EQ(head.header("Transfer-Encoding"), "");
    EXPECT_EQ(head.header("Connection"), "close");
    EXPECT_EQ(client.read_to_end(), Maker::whole(3, 70'000));
}

TEST_F(Pieces, AreNotMadeForAHead) {
    RawClient client(server.port());
    client.send("HEAD /3/70000 HTTP/1.1\r\nHost: here\r\n\r\n" + get("/5"));

    EXPECT_EQ(client.read_answer(false).status, 200);
    EXPECT_EQ(client.read_answer().body, "xxxxx");
    EXPECT_EQ(maker.made, 1);
}

TEST_F(Pieces, ThatCannotBeMadeEndTheConnectionHalfWay) {
    maker.fails_at = 2;
    RawClient client(server.port());
    client.send(get("/5/1000"));
    const std::string said = client.read_to_end();

    EXPECT_NE(said.find(std::string(1000, 'b')), std::string::npos);
    EXPECT_EQ(said.find(std::string(1000, 'c')), std::string::npos);
    EXPECT_FALSE(said.ends_with("0\r\n\r\n"));
}

TEST_F(Pieces, AreMadeAsThePeerTakesThem) {
    RawClient client(server.port(), 4096);
    client.send(get("/100/100000"));
    ASSERT_TRUE(client.read_until("aaa"));
    settle();

    EXPECT_LT(maker.made, 50);
    EXPECT_LT(figures().bytes, 110'000u);
    EXPECT_EQ(client.read_answer().body, Maker::whole(100, 100'000));
    EXPECT_EQ(maker.made, 100);
    EXPECT_EQ(figures().bytes, 0u);
}

TEST_F(Pieces, OfAPeerThatLeavesAreMadeNoMore) {
    {
        RawClient client(server.port(), 4096);
        client.send(get("/100/100000"));
        ASSERT_TRUE(client.read_until("aaa"));
    }
    server.wait_for_connections(0);

    EXPECT_LT(maker.made, 50);
    EXPECT_EQ(figures().bytes, 0u);
}

TEST_F(Pieces, WaitForRoomAndAreMadeAgainWhenThereIsSome) {
    std::list<RawClient> clients;
    for (int i = 0; i < 3; ++i) {
        clients.emplace_back(server.port(), 4096).send(get("/2/" + std::to_string(large)));
        ASSERT_TRUE(clients.back().read_until("aaa"));
    }
    RawClient fourth(server.port(), 4096);
    fourth.send(get("/2/" + std::to_string(large)));
    settle();

    EXPECT_EQ(maker.made, 4);
    EXPECT_LE(figures().bytes, 3'500'000u);
    EXPECT_EQ(clients.front().read_answer().body, Maker::whole(2, large));
    EXPECT_EQ(fourth.read_answer().body, Maker::whole(2, large));
    EXPECT_GE(maker.made, 4 + 1 + 2);
}

// None of the clients reads, and each wants more than its share: the count never exceeds the limit,
// and the clients that wait are served when the slowest are cut.
TEST_F(Pieces, StayWithinTheLimitHoweverManyDoNotRead) {
    std::list<RawClient> clients;
    for (int i = 0; i < 40; ++i) {
        clients.emplace_back(server.port(), 4096).send(get("/4/" + std::to_string(large)));
    }
    const auto end = std::chrono::steady_clock::now() + 3s;
    std::size_t most = 0;
    while (std::chrono::steady_clock::now() < end) {
        most = std::max(most, figures().bytes);
        RawClient small(server.port());
        small.send(get("/10000"));
        ASSERT_EQ(small.read_answer().body.size(), 10'000u) << "what is small gets through";
    }

    EXPECT_LE(most, 3'500'000u);
    EXPECT_GT(most, 2'000'000u);
    EXPECT_GT(figures().cut, 2u);
    RawClient reader(server.port());
    reader.send(get("/4/" + std::to_string(large)));
    const Answer answer = reader.read_answer();
    EXPECT_TRUE(answer.status == 503 || answer.body == Maker::whole(4, large)) << answer.status;
}

TEST_F(Pieces, LeaveThePeerThatReadsSlowlyAloneAndCutTheOneThatDoesNotRead) {
    RawClient slow(server.port(), 4096);
    slow.send(get("/3/" + std::to_string(large)));
    std::list<RawClient> others;
    for (int i = 0; i < 2; ++i) {
        others.emplace_back(server.port(), 4096).send(get("/4/" + std::to_string(large)));
        ASSERT_TRUE(others.back().read_until("aaa"));
    }
    for (int i = 0; i < 15; ++i) {
        ASSERT_TRUE(slow.read_some(100'000));
        std::this_thread::sleep_for(100ms);
    }
    RawClient wants_memory(server.port());
    wants_memory.send(get("/1/" + std::to_string(large)));

    EXPECT_EQ(wants_memory.read_answer().body.size(), large);
    EXPECT_EQ(slow.read_answer().body, Maker::whole(3, large));
}

TEST_F(Pieces, ThatCouldNeverFitAreRefused) {
    RawClient client(server.port());
    client.send(get("/2/4000000") + get("/5"));
    const Answer refusal = client.read_answer();

    EXPECT_EQ(refusal.status, 503);
    EXPECT_EQ(refusal.header("Retry-After"), "1");
    EXPECT_NE(refusal.body.find("\"busy\""), std::string::npos);
    EXPECT_EQ(client.read_answer().body, "xxxxx");
    EXPECT_EQ(figures().refused, 1u);
}

TEST_F(Pieces, AreRefusedWhenThereIsNoRoomInTime) {
    Limits impatient = limits();
    impatient.answer_wait = 100ms;
    impatient.spared_time = 60s;  // none of the readers is cut for the late one
    RunningServer other(
        [this](const Request& request, Reply reply) { handle(request, std::move(reply)); },
        with_limits(impatient));
    std::list<RawClient> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back(other.port(), 4096).send(get("/2/" + std::to_string(large)));
        ASSERT_TRUE(readers.back().read_until("aaa"));
    }
    RawClient late(other.port());
    late.send(get("/2/" + std::to_string(large)) + get("/5"));

    EXPECT_EQ(late.read_answer().status, 503);
    EXPECT_EQ(late.read_answer().body, "xxxxx");
    for (RawClient& reader : readers) {
        EXPECT_EQ(reader.read_answer().body, Maker::whole(2, large));
    }
}

// An answer that cannot be made again is not refused: it takes its memory from the slowest readers.
TEST_F(Pieces, GiveWayToAnAnswerThatIsThere) {
    std::list<RawClient> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back(server.port(), 4096).send(get("/2/" + std::to_string(large)));
        ASSERT_TRUE(readers.back().read_until("aaa"));
    }
    RawClient client(server.port());
    client.send(get("/" + std::to_string(large)));

    EXPECT_EQ(client.read_answer().body.size(), large);
    EXPECT_GE(figures().cut, 1u);
}

// Small answers to requests that were sent all at once add up, too.
TEST_F(Pieces, OfPipelinedAnswersAreBoundedForEachConnection) {
    RawClient client(server.port(), 4096);
    std::string requests;
    for (int i = 0; i < 2000; ++i) requests += get("/10000");
    client.send(requests);
    ASSERT_TRUE(client.read_until("xxx"));
    settle();

    EXPECT_LT(figures().bytes, 100'000u);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(client.read_answer().body.size(), 10'000u) << i;
}

}  // namespace server_pieces_test
}  // namespace sluice::http
