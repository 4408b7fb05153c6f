#include "infrastructure/postgres/connection/schema_name.hpp"

#include <gtest/gtest.h>

namespace sluice::postgres {
namespace schema_name_test {

std::string resolved(std::string_view given) {
    const auto schema = SchemaName::resolve(given);
    return schema ? schema->text() : "refused";
}

TEST(SchemaName, IsTheDefaultWhenNoneIsGiven) {
    EXPECT_EQ(SchemaName().text(), default_schema);
    EXPECT_EQ(resolved(""), default_schema);
    EXPECT_EQ(resolved(" \t"), default_schema);
}

TEST(SchemaName, IsReadAsSqlReadsAName) {
    EXPECT_EQ(resolved(" Team_B2 "), "team_b2");
    EXPECT_EQ(resolved("_x"), "_x");
    EXPECT_EQ(resolved("select"), "select") << "quoted wherever it is used";
    EXPECT_EQ(resolved(std::string(63, 'a')), std::string(63, 'a'));
}

TEST(SchemaName, IsRefusedWhenPostgresWouldRefuseOrCutItOrAnotherSchemaHasIt) {
    for (const std::string& name :
         {std::string(64, 'a'), std::string("1st"), std::string("a b"), std::string("a-b"),
          std::string("a\"b"), std::string("a;b"), std::string("größe"), std::string("pg_jobs"),
          std::string("PG_JOBS"), std::string("public"), std::string("packs"),
          std::string("information_schema"), std::string("a.b"), std::string("a\0b", 3)}) {
        EXPECT_EQ(resolved(name), "refused") << name;
    }
}

TEST(SchemaName, StandsFirstInTheSearchPath) {
    EXPECT_EQ(SchemaName::resolve("select")->search_path(), "\"select\", packs, public");
}

}  // namespace schema_name_test
}  // namespace sluice::postgres
