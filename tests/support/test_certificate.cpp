#include "support/test_certificate.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace sluice {
namespace {

void must(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("no test certificate: ") + what);
}

void add_extension(X509* certificate, int kind, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_nconf_nid(nullptr, &context, kind, value), X509_EXTENSION_free);
    must(extension != nullptr, value);
    X509_add_ext(certificate, extension.get(), -1);
}

template <class Write>
void write_file(const std::string& path, Write write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(path.c_str(), "w"), BIO_free);
    must(file != nullptr && write(file.get()) == 1, path.c_str());
}

}  // namespace

TestCertificate make_certificate(const std::filesystem::path& folder, const std::string& name,
                                 const std::string& subject, CertificateDates dates) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    must(key != nullptr && certificate != nullptr, "key");

    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    const auto seconds = [](std::chrono::hours time) {
        return static_cast<long>(std::chrono::seconds(time).count());
    };
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), seconds(dates.begins));
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds(dates.ends));
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* names = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(names, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), names);
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    must(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "signature");

    const TestCertificate made{.certificate = (folder / (name + ".pem")).string(),
                               .key = (folder / (name + ".key")).string()};
    write_file(made.certificate,
               [&](BIO* file) { return PEM_write_bio_X509(file, certificate.get()); });
    write_file(made.key, [&](BIO* file) {
        return PEM_write_bio_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return made;
}

}  // namespace sluice
