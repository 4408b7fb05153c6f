// The files of SQLite: which commands make them, which may open them, and the messages when they
// are missing or something else.
#include <gtest/gtest.h>

#include <fstream>

#include "e2e/change_store.hpp"
#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace sqlite_commands_test {

class SqliteCommands : public testing::Test {
  protected:
    const TempFolder folder;
    const std::string path = (folder.path() / "store.db").string();
    const std::string store = "sqlite:" + path;

    void put_something_else_there() const { std::ofstream(path) << std::string(10'000, 'x'); }

    static Ended serve(const std::string& store) {
        return run_sluice({"serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", store});
    }
};

TEST_F(SqliteCommands, ServeSaysWhetherItMadeTheFile) {
    for (const bool is_new : {true, false}) {
        Process engine(
            sluice_command({"serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", store}));
        const auto line = engine.read_line(Millis(10'000));
        ASSERT_TRUE(line);
        EXPECT_EQ(flag(parse(*line), "new_store"), is_new);
    }
}

TEST_F(SqliteCommands, ServeMakesTheFolderOfTheFile) {
    Engine engine("sqlite:" + (folder.path() / "a" / "b" / "db").string());

    EXPECT_EQ(Client(engine.port()).get("/readyz").status, 200);
}

TEST_F(SqliteCommands, ServeRefusesAFileThatIsNoStore) {
    put_something_else_there();

    const Ended ended = serve(store);

    EXPECT_EQ(ended.code, 1) << "no disk has failed";
    EXPECT_TRUE(has(ended.errors, path)) << ended.errors;
}

TEST_F(SqliteCommands, NobodyTakesTheDatabaseOfAnotherProgram) {
    change_store(store, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    const auto bytes = [&] {
        std::ifstream file(path, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    const std::string before = bytes();

    for (const Ended& ended : {serve(store), run_sluice({"migrate", "up", "--store", store}),
                               run_sluice({"audit", "verify", "--store", store}),
                               run_sluice({"token", "create", "a", "--store", store})}) {
        EXPECT_EQ(ended.code, 1);
        EXPECT_TRUE(has(ended.errors, path + " is no store: it is a database of another program"))
            << ended.errors;
    }
    EXPECT_EQ(bytes(), before);
}

TEST_F(SqliteCommands, ServeTakesAnEmptyFile) {
    std::ofstream(path).flush();

    Engine engine(store);

    EXPECT_EQ(Client(engine.port()).get("/readyz").status, 200);
}

TEST_F(SqliteCommands, ServeRefusesAFileThatAnEngineUses) {
    Engine engine(store);

    const Ended second = serve(store);

    EXPECT_EQ(second.code, 1);
    EXPECT_TRUE(has(second.errors, "in use by another process")) << second.errors;
    EXPECT_TRUE(has(second.errors, "use that engine (--server), stop it")) << second.errors;
    EXPECT_EQ(Client(engine.port()).get("/readyz").status, 200);
}

TEST_F(SqliteCommands, MigrateAFileThatNobodyUses) {
    EXPECT_EQ(run_sluice({"migrate", "status", "--store", store}).code, 1) << "there is none yet";
    EXPECT_EQ(run_sluice({"migrate", "up", "--store", store}).code, 0);
    const Ended status = run_sluice({"migrate", "status", "--store", store});
    EXPECT_EQ(status.code, 0);
    EXPECT_TRUE(has(status.output, "0001_jobs")) << status.output;
    EXPECT_TRUE(has(status.output, "applied"));
    EXPECT_EQ(run_sluice({"migrate", "up", "--store", store}).code, 0);

    Engine engine(store);
    const Ended busy = run_sluice({"migrate", "up", "--store", store});
    EXPECT_EQ(busy.code, 1) << "an engine owns it";
    EXPECT_TRUE(has(busy.errors, "store.db")) << busy.errors;
}

TEST_F(SqliteCommands, DoctorLooksAtTheFile) {
    const Words quiet{"doctor", "--listen", "127.0.0.1:1", "--store", store};
    const Ended good = run_sluice(quiet);
    EXPECT_EQ(good.code, 0) << good.output;
    EXPECT_TRUE(has(good.output, "will be made at the first start")) << good.output;

    put_something_else_there();
    EXPECT_EQ(run_sluice(quiet).code, 1) << "that is no store";
    EXPECT_EQ(run_sluice({"doctor", "--store", store + "/y.db"}).code, 1) << "that is no folder";
    EXPECT_EQ(run_sluice({"doctor", "--production", "--store", "sqlite:/tmp/x.db"}).code, 1);
}

TEST_F(SqliteCommands, AuditSaysWhenThereIsNoFile) {
    for (const char* url : {"memory:", "sqlite:", "sqlite:/nowhere/db"}) {
        for (const char* verb : {"verify", "export"}) {
            const Ended ended = run_sluice({"audit", verb, "--store", url});
            EXPECT_EQ(ended.code, 1) << verb << url;
            EXPECT_TRUE(has(ended.errors, "sluice: ")) << ended.errors;
        }
    }
}

}  // namespace sqlite_commands_test
}  // namespace sluice::e2e
