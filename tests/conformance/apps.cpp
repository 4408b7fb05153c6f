#include "conformance/apps.hpp"

#include <fstream>
#include <stdexcept>

namespace sluice::e2e {
namespace {

const std::string root = "/api/apps";

Json must_be(const Response& response, int status) {
    if (response.status == status) return parse(response.body);
    throw std::runtime_error("answered " + std::to_string(response.status) + ", not " +
                             std::to_string(status) + ": " + response.body);
}

Fields joined(Fields fields, const Fields& more) {
    for (const auto& [name, value] : more) fields[name] = value;
    return fields;
}

}  // namespace

AppsApi::AppsApi(std::uint16_t port, std::string user) : http_(port), user_(std::move(user)) {}

Headers AppsApi::headers() const {
    return user_.empty() ? Headers{} : Headers{{"X-Sluice-User", user_}};
}

Response AppsApi::get(const std::string& path) {
    return http_.get(root + path, headers());
}

Response AppsApi::post(const std::string& path, const Fields& body) {
    return http_.post(root + path, serialize(body), headers());
}

Response AppsApi::patch(const std::string& path, const Fields& body) {
    return http_.request("PATCH", root + path, serialize(body), headers());
}

Json AppsApi::read(const std::string& path) {
    return at(must_be(get(path), 200), "data");
}

Json AppsApi::create(const std::string& path, const Fields& body) {
    return at(must_be(post(path, body), 201), "data");
}

Json AppsApi::act(const std::string& path, const Fields& body) {
    return at(must_be(post(path, body), 200), "data");
}

Json AppsApi::list_answer(const std::string& path) {
    return must_be(get(path), 200);
}

List AppsApi::list_of(const std::string& path) {
    return list(list_answer(path), "data");
}

std::int64_t AppsApi::total(const std::string& path) {
    return number(at(list_answer(path), "pagination"), "total");
}

std::string expect_error(const Response& response, int status, std::string_view code) {
    EXPECT_EQ(response.status, status) << response.body;
    const Json error = at(parse(response.body), "error");
    EXPECT_EQ(error.as_object().size(), 3u) << response.body;
    EXPECT_EQ(text(error, "code"), code) << response.body;
    EXPECT_EQ(text(error, "request_id"), response.header("X-Request-Id"));
    EXPECT_FALSE(text(error, "message").empty());
    return text(error, "message");
}

std::vector<std::string> ids_of(const List& items) {
    std::vector<std::string> ids;
    for (const Json& item : items) ids.push_back(text(item, "id"));
    return ids;
}

std::unique_ptr<Engine> AppsTest::start(const std::string& config) {
    std::vector<std::string> flags;
    if (!config.empty()) {
        const std::string file = (folder.path() / "sluice.toml").string();
        std::ofstream(file) << config;
        flags = {"--config", file};
    }
    return std::make_unique<Engine>("sqlite:" + (folder.path() / "db").string(), flags);
}

AppsTest::AppsTest(const std::string& config)
    : engine(start(config)),
      operator_(engine->port()),
      author(engine->port(), "ada"),
      reviewer(engine->port(), "rex"),
      manager(engine->port(), "mia"),
      admin(engine->port(), "zoe"),
      stranger(engine->port(), "eve"),
      worker(engine->port(), "default") {
    app = text(operator_.create("", {{"name", "shop"}}), "id");
    operator_.create(path("/members"), {{"user", "ada"}, {"role", "user"}});
    operator_.create(path("/members"), {{"user", "rex"}, {"role", "reviewer"}});
    operator_.create(path("/members"), {{"user", "mia"}, {"role", "config_manager"}});
    operator_.create(path("/members"), {{"user", "zoe"}, {"role", "app_admin"}});
}

std::string AppsTest::changeset_path(const Json& changeset, const std::string& action) const {
    return path("/changesets/" + text(changeset, "id") + (action.empty() ? "" : "/" + action));
}

std::string AppsTest::release_path(const Json& release, const std::string& action) const {
    return path("/releases/" + text(release, "id") + (action.empty() ? "" : "/" + action));
}

std::string AppsTest::enqueue(const std::string& type, Fields fields) {
    fields["type"] = type;
    fields["project"] = app;
    return worker.submit_id(fields);
}

Json AppsTest::claim(const std::string& type) {
    return worker.claim_one({{"types", List{Json(type)}}, {"wait_ms", 5000}});
}

bool AppsTest::is_claimable(const std::string& type) {
    for (const Json& lease : worker.claim({{"types", List{Json(type)}}})) {
        expect_ok(worker.release(lease));
        return true;
    }
    return false;
}

std::string AppsTest::succeed(const std::string& type, const Fields& result) {
    const Json lease = claim(type);
    expect_ok(worker.report(lease, {{"outcome", "succeeded"}, {"result", result}}));
    return job_of(lease);
}

std::string AppsTest::fail(const std::string& type, bool retryable) {
    const Json lease = claim(type);
    expect_ok(worker.report(lease, {{"outcome", "failed"},
                                    {"error_message", type + " found a problem"},
                                    {"retryable", retryable}}));
    return job_of(lease);
}

Json AppsTest::draft(const Fields& fields) {
    return author.create(path("/changesets"),
                         joined({{"title", "a change"}, {"base_sha", "789012"}}, fields));
}

Json AppsTest::submitted(const std::string& head_sha) {
    return author.act(changeset_path(draft(), "submit"), {{"head_sha", head_sha}});
}

Json AppsTest::checked(const std::string& head_sha) {
    const Json changeset = submitted(head_sha);
    succeed("msuite_submit");
    return changeset;
}

Json AppsTest::approved(const std::string& head_sha) {
    return reviewer.act(changeset_path(checked(head_sha), "review"), {{"decision", "approve"}});
}

Json AppsTest::queued(const std::string& head_sha) {
    const Json changeset = manager.act(changeset_path(approved(head_sha), "queue"));
    succeed("msuite_merge");
    return changeset;
}

Json AppsTest::assembling() {
    const Json changeset = queued();
    const Json release = manager.create(
        path("/releases"), {{"name", "1.0"}, {"changeset_ids", List{at(changeset, "id")}}});
    return manager.act(release_path(release, "assemble"));
}

Json AppsTest::validated() {
    const Json release = assembling();
    succeed("release_assemble", {{"head_sha", "feed01"}});
    return operator_.read(release_path(release));
}

Json AppsTest::published() {
    const Json release = validated();
    while (is_claimable("msuite_merge")) succeed("msuite_merge");
    return manager.act(release_path(release, "publish"));
}

Json AppsTest::environment(const Fields& fields) {
    return manager.create(path("/environments"), joined({{"name", "production"}}, fields));
}

Json AppsTest::deploy(const Json& environment, const Json& release) {
    return manager.create(path("/environments/" + text(environment, "id") + "/deploy"),
                          {{"release_id", at(release, "id")}});
}

Json AppsTest::profile(const std::string& kind, const Fields& fields) {
    return manager.create(path("/runtime-profiles"),
                          joined({{"name", kind}, {"kind", kind}}, fields));
}

}  // namespace sluice::e2e
