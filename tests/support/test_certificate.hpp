#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace sluice {

// A self-signed certificate for localhost and 127.0.0.1, and its key, as PEM files.
struct TestCertificate {
    std::string certificate{};
    std::string key{};
};

struct CertificateDates {
    std::chrono::hours begins{-1};  // from now
    std::chrono::hours ends{24 * 365};
};

// Writes NAME.pem and NAME.key into the folder, and replaces existing ones. `subject` is the name
// in the certificate, by which tests tell one from another.
TestCertificate make_certificate(const std::filesystem::path& folder, const std::string& name,
                                 const std::string& subject = "localhost",
                                 CertificateDates dates = {});

}  // namespace sluice
