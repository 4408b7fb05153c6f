#include "interfaces/http/server/server.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "domain/values/check.hpp"
#include "interfaces/http/server/connection.hpp"
#include "interfaces/http/server/eviction.hpp"
#include "interfaces/http/server/server_options.hpp"

// The server: accepts, counts, sweeps, and stops. All of it runs on the thread that calls run();
// the io_context keeps running as long as the acceptor, a connection, or one of the timers is
// active, and run() returns once stop() has ended the first and wind_up() the last.

namespace sluice::http {
namespace {

using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

constexpr std::chrono::milliseconds accept_pause{100};

constexpr int unsent_bytes_max = 64 * 1024;

// Peers over the limits are told so, but only as many at once as costs next to nothing.
constexpr std::size_t refusals_max = 64;

void report(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sluice: http connection failed: %s\n", error.what());
    }
}

}  // namespace

class Server::Core {
  public:
    Core(ServerOptions options, Handler handler, OnHead on_head, Observer observer);
    ~Core();

    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    std::uint16_t port() const { return port_; }
    std::size_t open_connections() const { return open_.load(std::memory_order_acquire); }
    void run();
    void post(std::function<void()> task) { asio::post(io_, std::move(task)); }
    void stop(std::chrono::milliseconds patience);
    void on_signals(std::vector<int> signals, std::function<void(int)> action);
    void on_each_signal(int signal, std::function<void()> action);
    void reload_tls() { context_.tls = TlsIdentity(tls_files_); }
    const std::optional<TlsIdentity>& tls_identity() const { return context_.tls; }
    void every(std::chrono::milliseconds period, std::function<void()> action);
    AnswerFigures answers() const { return context_.answers->figures(); }

  private:
    struct Repeated {
        Timer timer;
        std::chrono::milliseconds period;
        std::function<void()> action;
    };
    void repeat(Repeated& repeated);
    void await_signal(asio::signal_set& set, std::shared_ptr<std::function<void()>> action);
    void listen(const ServerOptions& options);
    void accept_next();
    void on_accepted(const error_code& error, Socket socket);
    void admit(Socket socket);
    bool can_admit(const asio::ip::address& address);
    bool evict_for_body(const Connection& asking);
    void let_waiting_go_on();
    void start(std::shared_ptr<Connection> connection);
    void on_closed(Connection& connection);
    void sweep_regularly();
    void wind_up();

    ServerContext context_;
    TlsFiles tls_files_;
    Connections connections_;  // each lives until on_closed() or the destructor
    std::unordered_map<std::string, std::size_t> admitted_by_address_;  // loopback left out
    std::size_t refusals_ = 0;
    bool waiting_go_on_ = false;  // soon
    std::atomic<std::size_t> open_ = 0;
    std::uint16_t port_ = 0;
    std::chrono::milliseconds sweep_period_;
    asio::io_context io_{1};
    Acceptor acceptor_{io_.get_executor()};
    Timer accept_timer_{io_.get_executor()};
    Timer sweep_timer_{io_.get_executor()};
    Timer patience_timer_{io_.get_executor(), Instant::max()};
    std::vector<std::unique_ptr<asio::signal_set>> signals_;
    std::vector<std::unique_ptr<Repeated>> repeated_;
};

Server::Core::Core(ServerOptions options, Handler handler, OnHead on_head, Observer observer)
    : tls_files_(options.tls), sweep_period_(sweep_period(options.limits)) {
    check(handler != nullptr, "the http server has a handler");
    context_.limits = options.limits;
    context_.rules = gate_rules(options);
    context_.handler = std::move(handler);
    context_.on_head = std::move(on_head);
    context_.observer = std::move(observer);
    if (tls_files_.is_given()) reload_tls();
    context_.evict_for_body = [this](const Connection& asking) { return evict_for_body(asking); };
    context_.answers.emplace(options.limits.answer_memory, [this] { let_waiting_go_on(); });
    context_.evict_for_answer = [this](const Connection& asking, std::size_t bytes) {
        evict_for_answer(connections_, *context_.answers, asking, bytes,
                         std::chrono::steady_clock::now());
    };
    context_.evict_for_waiting = [this] {
        const Instant now = std::chrono::steady_clock::now();
        evict_for_waiting(connections_, *context_.answers, now - context_.limits.spared_time, now);
    };
    context_.on_closed = [this](Connection& connection) { on_closed(connection); };
    listen(options);
    accept_next();
    sweep_regularly();
}

Server::Core::~Core() {
    // A Reply may outlive the server, and a connection with it; neither may touch the io_context.
    for (Connection* connection : connections_) connection->abandon();
}

void Server::Core::listen(const ServerOptions& options) {
    const asio::ip::tcp::endpoint endpoint(listening_address(options.host), options.port);
    try {
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(asio::socket_base::reuse_address(true));
        acceptor_.bind(endpoint);
        acceptor_.listen();
        port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error("cannot listen on " + options.host + " port " +
                                 std::to_string(options.port) + ": " + error.code().message() +
                                 remedy_for(error.code()));
    }
}

void Server::Core::run() {
    io_.run();
}

void Server::Core::accept_next() {
    acceptor_.async_accept(
        [this](const error_code& error, Socket socket) { on_accepted(error, std::move(socket)); });
}

void Server::Core::on_accepted(const error_code& error, Socket socket) {
    if (context_.stopping) return;
    if (!error) admit(std::move(socket));
    if (!error || error == asio::error::connection_aborted) return accept_next();

    // Out of descriptors or memory: the peers wait in the backlog until some are free again.
    std::fprintf(stderr, "sluice: cannot accept a connection: %s\n", error.message().c_str());
    accept_timer_.expires_after(accept_pause);
    accept_timer_.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept_next();
    });
}

void Server::Core::admit(Socket socket) {
    error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return;  // gone already
    socket.set_option(asio::ip::tcp::no_delay(true), error);
    socket.non_blocking(true, error);
    if (error) return;
    // A peer that does not read fills a buffer of ours, which is counted, and not the kernel's.
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max,
                 sizeof(unsent_bytes_max));

    const asio::ip::address address = plain_address(endpoint.address());
    const bool is_admitted = can_admit(address);
    if (!is_admitted && refusals_ == refusals_max) return;
    auto connection =
        std::make_shared<Connection>(context_, std::move(socket), address.to_string());
    connection->is_admitted = is_admitted;
    connection->is_counted_by_address = is_admitted && !address.is_loopback();
    if (connection->is_counted_by_address) ++admitted_by_address_[connection->remote_address()];
    if (!is_admitted) ++refusals_;
    start(std::move(connection));
}

bool Server::Core::can_admit(const asio::ip::address& address) {
    const Limits& limits = context_.limits;
    if (!address.is_loopback()) {
        const auto found = admitted_by_address_.find(address.to_string());
        const bool has_many =
            found != admitted_by_address_.end() && found->second >= limits.connections_per_address;
        if (has_many) return false;
    }
    return connections_.size() - refusals_ < limits.connections ||
           evict_for_connection(connections_,
                                std::chrono::steady_clock::now() - limits.spared_time);
}

bool Server::Core::evict_for_body(const Connection& asking) {
    const Instant now = std::chrono::steady_clock::now();
    while (context_.body_bytes_held > context_.limits.body_memory) {
        if (!evict_slowest_body(connections_, asking, now - context_.limits.spared_time, now)) {
            return false;
        }
    }
    return true;
}

// Later, since a connection is in the middle of something when it gives memory back.
void Server::Core::let_waiting_go_on() {
    if (std::exchange(waiting_go_on_, true)) return;
    post([this] {
        waiting_go_on_ = false;
        Connection* first = context_.answers->first_waiting();
        while (first != nullptr && first->go_on_with_memory()) {
            first = context_.answers->first_waiting();
        }
    });
}

void Server::Core::start(std::shared_ptr<Connection> connection) {
    connection->position = connections_.size();
    connections_.push_back(connection.get());
    open_.store(connections_.size(), std::memory_order_release);

    // The completion handler owns the connection while its coroutine runs. An exception of a body
    // stream ends its connection only.
    Task task = connection->is_admitted ? connection->serve() : connection->refuse();
    asio::co_spawn(io_.get_executor(), std::move(task),
                   [connection = std::move(connection)](std::exception_ptr failure) {
                       if (failure) report(failure);
                       connection->finish();
                   });
}

void Server::Core::on_closed(Connection& connection) {
    if (connection.is_counted_by_address) {
        const auto found = admitted_by_address_.find(connection.remote_address());
        if (--found->second == 0) admitted_by_address_.erase(found);
    }
    if (!connection.is_admitted) --refusals_;
    connections_[connection.position] = connections_.back();
    connections_[connection.position]->position = connection.position;
    connections_.pop_back();
    open_.store(connections_.size(), std::memory_order_release);
    if (context_.stopping && connections_.empty()) wind_up();
}

void Server::Core::sweep_regularly() {
    sweep_timer_.expires_after(sweep_period_);
    sweep_timer_.async_wait([this](const error_code& cancelled) {
        if (cancelled || (context_.stopping && connections_.empty())) return;
        const Instant now = std::chrono::steady_clock::now();
        for (Connection* connection : connections_) connection->sweep(now);
        context_.evict_for_waiting();
        sweep_regularly();
    });
}

void Server::Core::stop(std::chrono::milliseconds patience) {
    const Instant end = std::chrono::steady_clock::now() + patience;
    post([this, end] {
        const bool is_first = !std::exchange(context_.stopping, true);
        if (is_first) {
            error_code ignored;
            acceptor_.close(ignored);
            accept_timer_.cancel();
            for (Connection* connection : connections_) connection->stop();
        }
        if (connections_.empty()) return wind_up();
        if (end >= patience_timer_.expiry()) return;
        patience_timer_.expires_at(end);
        patience_timer_.async_wait([this](const error_code& cancelled) {
            if (cancelled) return;
            for (Connection* connection : connections_) connection->cut();
        });
    });
}

// Nothing is left to serve: ends what would keep run() from returning.
void Server::Core::wind_up() {
    sweep_timer_.cancel();
    patience_timer_.cancel();
    for (const auto& signals : signals_) {
        error_code ignored;
        signals->cancel(ignored);
    }
    for (const auto& repeated : repeated_) repeated->timer.cancel();
}

void Server::Core::every(std::chrono::milliseconds period, std::function<void()> action) {
    repeated_.push_back(
        std::make_unique<Repeated>(Repeated{Timer(io_.get_executor()), period, std::move(action)}));
    repeat(*repeated_.back());
}

void Server::Core::repeat(Repeated& repeated) {
    repeated.timer.expires_after(repeated.period);
    repeated.timer.async_wait([this, &repeated](const error_code& cancelled) {
        if (cancelled || (context_.stopping && connections_.empty())) return;
        repeated.action();
        repeat(repeated);
    });
}

void Server::Core::on_signals(std::vector<int> signals, std::function<void(int)> action) {
    auto set = std::make_unique<asio::signal_set>(io_);
    for (const int signal : signals) set->add(signal);
    set->async_wait(
        [set = set.get(), action = std::move(action)](const error_code& cancelled, int signal) {
            if (cancelled) return;
            // From now on the signals have their usual effect: a second Ctrl-C ends the process.
            error_code ignored;
            set->clear(ignored);
            action(signal);
        });
    signals_.push_back(std::move(set));
}

void Server::Core::on_each_signal(int signal, std::function<void()> action) {
    auto set = std::make_unique<asio::signal_set>(io_, signal);
    await_signal(*set, std::make_shared<std::function<void()>>(std::move(action)));
    signals_.push_back(std::move(set));
}

void Server::Core::await_signal(asio::signal_set& set,
                                std::shared_ptr<std::function<void()>> action) {
    set.async_wait([this, &set, action = std::move(action)](const error_code& cancelled, int) {
        if (cancelled || (context_.stopping && connections_.empty())) return;
        (*action)();
        await_signal(set, action);
    });
}

Server::Server(ServerOptions options, Handler handler, OnHead on_head, Observer observer)
    : core_(std::make_unique<Core>(std::move(options), std::move(handler), std::move(on_head),
                                   std::move(observer))) {}

Server::~Server() = default;

std::uint16_t Server::port() const {
    return core_->port();
}
void Server::run() {
    core_->run();
}
void Server::post(std::function<void()> task) {
    core_->post(std::move(task));
}
void Server::stop(std::chrono::milliseconds patience) {
    core_->stop(patience);
}
AnswerFigures Server::answers() const {
    return core_->answers();
}

std::size_t Server::open_connections() const {
    return core_->open_connections();
}

void Server::on_signals(std::vector<int> signals, std::function<void(int)> action) {
    core_->on_signals(std::move(signals), std::move(action));
}

void Server::on_each_signal(int signal, std::function<void()> action) {
    core_->on_each_signal(signal, std::move(action));
}

void Server::reload_tls() {
    core_->reload_tls();
}

std::optional<TlsIdentity> Server::tls_identity() const {
    return core_->tls_identity();
}

void Server::every(std::chrono::milliseconds period, std::function<void()> action) {
    core_->every(period, std::move(action));
}

}  // namespace sluice::http
