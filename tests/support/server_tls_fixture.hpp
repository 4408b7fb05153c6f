#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "interfaces/http/server/server.hpp"
#include "support/test_certificate.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http::testing_support {

class Folder {
  public:
    Folder() {
        char name[] = "/tmp/sluice_tls_XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path path;
};

class ServerTls : public testing::Test {
  protected:
    ServerTls() : certificate(make_certificate(folder.path, "server", "first")) {}

    ServerOptions options(const Limits& limits = patient()) const {
        ServerOptions made = with_limits(limits);
        made.tls = {.certificate = certificate.certificate, .key = certificate.key};
        return made;
    }

    std::string reason_of_failure(const TlsFiles& files) const {
        try {
            const TlsIdentity identity(files);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    Folder folder;
    TestCertificate certificate;
};

}  // namespace sluice::http::testing_support
