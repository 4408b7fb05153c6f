#include "conformance/sites.hpp"

#include <sys/stat.h>

#include <fstream>

namespace sluice::e2e {

void SitesTest::serve(const std::string& config) {
    std::vector<std::string> flags;
    if (!config.empty()) flags = {"--config", file("sluice.toml", config)};
    engine_ = std::make_unique<Engine>("sqlite:" + (folder_.path() / "sluice.db").string(), flags);
    api_ = std::make_unique<Api>(engine_->port(), "default");
}

std::string SitesTest::file(const std::string& name, const std::string& content, bool runs) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << content;
    if (runs) ::chmod(path.c_str(), 0700);
    return path;
}

Fields SitesTest::on_site(const std::string& type, const std::string& site, const Fields& more) {
    Fields fields{{"type", type}, {"site_id", site}, {"node_id", "node-of-" + site}};
    for (const auto& field : more) fields[field.key()] = field.value();
    return fields;
}

Json SitesTest::entity(const std::string& kind, const std::string& id) {
    return api().get("/api/v1/entities/" + kind + "/" + id);
}

Json SitesTest::start(const std::string& type, const std::string& site, const Fields& more) {
    const std::string id = api().submit_id(on_site(type, site, more));
    const Json lease = api().claim_one({{"types", List{Json(type)}}});
    EXPECT_EQ(job_of(lease), id);
    return lease;
}

void SitesTest::fail_for_good(const std::string& site) {
    expect_ok(api().report(start("env_deploy", site), failure(false)));
    EXPECT_EQ(site_state(site), "failed");
}

Response SitesTest::post(const std::string& path, const Fields& body, const Headers& headers) {
    return api().http.post(path, boost::json::serialize(body), headers);
}

const std::vector<SiteType>& site_types() {
    static const std::vector<SiteType> types{{"site_create", "deploying"},
                                             {"site_import", "deploying"},
                                             {"env_create", "cloning"},
                                             {"env_deploy", "deploying"},
                                             {"env_update", "deploying"},
                                             {"env_promote", "deploying"},
                                             {"release_rollback", "deploying"},
                                             {"domain_add", "deploying"},
                                             {"domain_remove", "deploying"},
                                             {"cache_purge", "deploying"},
                                             {"env_cache_toggle", "deploying"},
                                             {"env_restore", "restoring"},
                                             {"backup_create", ""},
                                             {"backup_cleanup", ""},
                                             {"drift_check", ""},
                                             {"health_check", ""}};
    return types;
}

}  // namespace sluice::e2e
