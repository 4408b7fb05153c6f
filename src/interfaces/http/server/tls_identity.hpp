#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

struct ssl_ctx_st;

namespace sluice::http {

// The files of a server's certificate and its private key, as PEM. Both empty: no TLS.
struct TlsFiles {
    std::string certificate{};  // the server's own first, then those that lead to its authority
    std::string key{};

    bool is_given() const { return !certificate.empty() || !key.empty(); }
};

// The identity of the server: a certificate and its key, and the rules by which it speaks TLS.
// Copies share them. Connections that were made with it may outlive it.
class TlsIdentity {
  public:
    // Reads both files. Throws std::runtime_error, which names the file and its problem.
    explicit TlsIdentity(const TlsFiles& files);

    // Why peers will refuse the certificate though it can be used, or soon will. Nothing: they
    // will not, as far as its dates tell.
    std::optional<std::string> complaint(std::chrono::system_clock::time_point now) const;

    ssl_ctx_st* context() const { return context_.get(); }

  private:
    std::shared_ptr<ssl_ctx_st> context_;  // shared: reloads replace it while others copy it
    std::string certificate_file_;
    std::chrono::system_clock::time_point valid_from_;
    std::chrono::system_clock::time_point valid_until_;
};

}  // namespace sluice::http
