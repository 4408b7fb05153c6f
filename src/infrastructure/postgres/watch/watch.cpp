#include "infrastructure/postgres/watch/watch.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/statements/limit_reader.hpp"
#include "infrastructure/postgres/watch/tick.hpp"
#include "infrastructure/system/boot_clock.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration poll_period = 500ms;     // while claims wait and no node can wake them
constexpr Duration notify_period = 5ms;     // NOTIFY takes a lock that the whole database shares
constexpr Duration direct_period = 1min;    // between tries to get past a pooler
constexpr Duration shortest_pause = 200ms;  // between tries to connect
constexpr Duration longest_pause = 2s;
constexpr Duration silence_max = 15s;  // of a node that counts
constexpr int hinted_at_once = 100;    // jobs of a lane with jobs to claim, as a guess
constexpr Millis watch_patience = 5s;
// A moment later than this is found by the next look of the node with the duty.
constexpr Duration near = look_period + 1s;

constexpr Query notify_query{"notify", R"sql(
SELECT set_config('synchronous_commit', 'off', true), pg_notify(current_schema()::text, payload)
FROM unnest($1::text[]) payload)sql"};

constexpr std::string_view insufficient_privilege = "42501";

// The channel has the schema's name, so that engines that share a database do not wake each other.
// A lock that a tick waits for may be held by a node that fell silent: the next look ends its
// sessions.
std::string watch_settings(const SchemaName& schema) {
    return "LISTEN " + schema.quoted() + "; SET lock_timeout = '1s'";
}

}  // namespace

Watch::Watch(Cluster& cluster, Options options)
    : cluster_(cluster),
      urls_{.direct = std::move(options.listen_url),
            .common = cluster.database.url,
            .schema = cluster.database.schema,
            .node_mark = cluster.mark()},
      retention_(options.retention),
      on_duty_(std::move(options.on_duty)) {}

Watch::~Watch() {
    stop();
}

void Watch::start(OnHint on_hint) {
    on_hint_ = std::move(on_hint);
    cluster_.thinned_below = JobId{};  // until the housekeeper has looked at the windows
    housekeeper_ = std::make_unique<Housekeeper>(
        Housekeeper::Options{.urls = urls_, .retention = retention_, .on_duty = on_duty_},
        cluster_);
    running_ = true;
    thread_ = std::thread([this] { run(); });
}

void Watch::stop() {
    running_ = false;
    if (!thread_.joinable()) return;
    outbox_.wake();
    thread_.join();
    housekeeper_.reset();
    const std::lock_guard lock(hint_mutex_);  // a hint that is being passed on is done now
    on_hint_ = nullptr;
}

void Watch::announce(const Announcement& announcement) {
    const auto& [readied, due, rules_changed, waiting_claims] = announcement;
    if (waiting_claims) claims_wait_ = *waiting_claims > 0;
    LaneLimits::News limits = cluster_.limits.take_news();
    if (!running_) return;
    if (!readied.empty() || due != never) pass_on(readied, due);
    if (other_nodes_ == 0) return;
    const bool is_near = due != never && due < cluster_.time.now() + near;
    HintMessage message{.due = is_near ? due : never,
                        .readied = std::move(limits.refused),
                        .returned = std::move(limits.returned),
                        .rules_changed = rules_changed};
    for (const Readied& lane : readied) message.readied[lane_id(lane.lane)] += lane.count;
    if (message != HintMessage{}) outbox_.put(message);
}

void Watch::pass_on(const std::vector<Readied>& readied, Timestamp due) {
    const std::lock_guard lock(hint_mutex_);
    if (on_hint_) on_hint_(readied, due);
}

bool Watch::has_duty() const {
    return since_boot() < duty_until_.load();
}

void Watch::run() {
    while (running_) {
        try {
            connect();
            while (running_) turn();
        } catch (const std::runtime_error& failure) {
            lose_connection(failure.what());
        }
    }
    leave();
}

// Listens before it looks, so that no message is lost in between; and sends a message, so that the
// other nodes count this one before they see its seat.
void Watch::connect() {
    connection_ = connect_directly(urls_, "sluice watch", watch_patience);
    connected_at_ = since_boot();
    if (!connection_->is_pooled()) {
        connection_->execute(watch_settings(connection_->schema()));
        listening_ = true;
    } else if (!std::exchange(said_that_it_polls_, true)) {
        log::warn(
            "the database is behind a pooler that does not pass notifications on: claims that wait "
            "look for jobs twice a second; give a direct url to listen on");
    }
    is_new_ = true;
    run_due();
    notify({});
    pause_ = shortest_pause;
    if (std::exchange(said_that_it_is_lost_, false)) log::info("the watch is connected again");
}

void Watch::turn() {
    if (until_next_look() <= Duration{0}) run_due();
    tell_others();
    Duration patience = until_next_look();
    if (!outbox_.is_empty()) {
        patience = std::min(patience, last_notification_ + notify_period - since_boot());
    }
    const Millis rounded = std::chrono::ceil<Millis>(std::max(patience, Duration{0}));
    hear(connection_->wait_for_notifications(rounded, outbox_.wake_fd()));
    outbox_.forget_wakes();
    const bool is_detour = !listening_ && urls_.direct != urls_.common;
    if (is_detour && since_boot() > connected_at_ + direct_period) connect();
}

// Without notifications the watch wakes up more often, and asks only while claims wait.
Duration Watch::until_next_look() const {
    const bool polls = !listening_ && claims_wait_;
    const Duration left = last_look_ + (polls ? poll_period : look_period) - since_boot();
    return listening_ ? left : std::min(left, poll_period);
}

void Watch::run_due() {
    last_look_ = since_boot();
    look_at_clock();
    look_at_others();
    const Tick seen = tick(*connection_, {.owner = cluster_.owner,
                                          .now = cluster_.time.now(),
                                          .is_settled = cluster_.time.is_settled(),
                                          .agrees = cluster_.time.agrees(),
                                          .with_lanes = claims_wait_});
    duty_until_ = seen.has_duty ? last_look_ + duty_term : Duration{};
    seated_nodes_ = seen.other_nodes;
    count_nodes();
    if (seen.lanes != cluster_.lanes.size()) {
        cluster_.lanes.load(*connection_);
        connection_->sync();
    }
    const bool is_busy = std::exchange(commits_, seen.commits) != seen.commits;
    if (seen.has_duty) {
        housekeeper_->run_due(is_busy);
    } else {
        cluster_.thinned_below = JobId{};  // the other node's housekeeper has looked at them
    }
    cluster_.timed_due.lower(seen.timed_due);
    cluster_.lease_due.lower(seen.lease_due);
    const Timestamp due = std::min(seen.timed_due, seen.lease_due);
    std::map<LaneId, int> ready;
    const Timestamp now = cluster_.time.now();
    Timestamp limits_due = never;
    if (is_busy || is_new_) look_at_limits(ready, limits_due);
    is_new_ = false;
    for (const LaneId lane : seen.ready) {
        if (!is_held_back(lane, now)) ready[lane] = hinted_at_once;
    }
    HintMessage all{.due = std::min(due < now + near ? due : never, limits_due)};
    if (seen.rules > cluster_.limits.rules()->version()) look_at_rules(all);
    hint(ready, all.due);
}

void Watch::look_at_clock(bool is_last) {
    const std::optional<Duration> jump = keep_time(*connection_, cluster_.time, is_last);
    if (!jump) return;
    const double seconds = std::chrono::duration<double>(*jump).count();
    log::warn("the database's clock was set: nodes go on by the time that they had",
              fmt::format(R"("seconds":{:.3f})", seconds));
}

// Before the tick, which may have to wait for locks of silent nodes.
void Watch::look_at_others() {
    const Timestamp now = cluster_.time.now();
    try {
        std::vector<SilentNode> ended;
        if (cluster_.time.is_settled() && looks_.counts(now)) {
            ended = end_silent_nodes(*connection_, cluster_.owner, now, looks_.is_first());
        }
        looks_.add(now);
        for (const SilentNode& node : ended) {
            log::warn(
                "a node fell silent: its sessions in the database were ended",
                fmt::format(R"("sessions":{},{})", node.sessions, log::field("node", node.name)));
        }
        said_that_it_may_not_end_ = false;
    } catch (const Refused& refused) {
        if (refused.sqlstate() != insufficient_privilege) throw;
        if (std::exchange(said_that_it_may_not_end_, true)) return;
        log::warn(
            "a node fell silent, and its sessions in the database cannot be ended: have all nodes "
            "use one role, or grant pg_signal_backend",
            log::field("error", refused.what()));
    }
}

void Watch::hear(const std::vector<Connection::Notification>& notifications) {
    HintMessage all;
    for (const Connection::Notification& notification : notifications) {
        const std::optional<HintMessage> message = parse_payload(notification.payload);
        if (!message || message->owner == cluster_.owner) continue;
        heard_[message->owner] = since_boot();
        const Timestamp now = cluster_.time.now();
        for (const auto& [lane, count] : cluster_.limits.returned(message->returned, now)) {
            all.readied[lane] += count;
        }
        for (const auto& [lane, count] : message->readied) {
            if (!is_held_back(lane, now)) all.readied[lane] += count;
        }
        all.due = std::min(all.due, message->due);
        if (message->rules_changed) look_at_rules(all);
    }
    if (notifications.empty()) return;
    count_nodes();
    cluster_.timed_due.lower(all.due);
    cluster_.lease_due.lower(all.due);
    hint(all.readied, all.due);
}

// The next session reads the rules.
void Watch::look_at_rules(HintMessage& hint) {
    cluster_.limits.may_be_old();
    hint.due = std::min(hint.due, cluster_.time.now());
}

// Whether rules hold back the jobs of this lane, so that no claim need look at them.
bool Watch::is_held_back(LaneId id, Timestamp now) {
    const std::optional<Lane> lane = cluster_.lanes.find(id);
    return lane && cluster_.limits.holds_back(id, *lane, now);
}

// A message about a permit may have been lost, and claims that do not wait hear of none: so the
// meters for which lanes wait are read again.
void Watch::look_at_limits(std::map<LaneId, int>& ready, Timestamp& due) {
    const std::vector<ClosedMeters::Waiting> waiting = cluster_.limits.waiting_for_permits();
    if (!waiting.empty()) {
        std::vector<MeterId> ids;
        for (const ClosedMeters::Waiting& closed : waiting) ids.push_back(closed.permit.meter);
        const std::vector<MeterState> meters = read_meters(*connection_, ids);
        connection_->sync();
        const Timestamp now = cluster_.time.now();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Room room = room_of(*waiting[i].permit.rule, meters[i], now);
            if (room.count > 0) {
                cluster_.limits.open(ids[i]);
            } else if (room.look_again != never) {
                cluster_.limits.look_by(ids[i], room.look_again);
                due = std::min(due, room.look_again);
            }
        }
    }
    for (const auto& [lane, count] : cluster_.limits.take_opened()) ready[lane] += count;
}

void Watch::count_nodes() {
    std::erase_if(
        heard_, [now = since_boot()](const auto& node) { return node.second + silence_max < now; });
    other_nodes_ = std::max(seated_nodes_, static_cast<int>(heard_.size()));
}

// This process may not know the lanes of other nodes yet.
void Watch::hint(const std::map<LaneId, int>& readied, Timestamp due) {
    if (readied.empty() && due == never) return;
    const bool all_known = std::all_of(readied.begin(), readied.end(), [&](const auto& entry) {
        return cluster_.lanes.knows(entry.first);
    });
    if (!all_known) {
        cluster_.lanes.load(*connection_);
        connection_->sync();
    }
    std::vector<Readied> lanes;
    for (const auto& [id, count] : readied) {
        if (std::optional<Lane> lane = cluster_.lanes.find(id)) {
            lanes.push_back({.lane = std::move(*lane), .count = count});
        }
    }
    pass_on(lanes, due);
}

void Watch::tell_others() {
    if (outbox_.is_empty() || since_boot() < last_notification_ + notify_period) return;
    last_notification_ = since_boot();
    notify(outbox_.take());
}

void Watch::notify(const HintMessage& message) {
    HintMessage signed_message = message;
    signed_message.owner = cluster_.owner;
    connection_->send(notify_query, Params(to_payloads(signed_message)));
    connection_->sync();
}

void Watch::lose_connection(const std::string& why) {
    listening_ = false;
    connection_.reset();
    if (!std::exchange(said_that_it_is_lost_, true)) {
        log::warn("the watch has lost the database; it tries again", log::field("error", why));
    }
    pause_ = std::clamp(pause_, shortest_pause, longest_pause);
    rest(pause_);
    pause_ *= 2;
}

void Watch::rest(Duration pause) {
    const Duration end = since_boot() + pause;
    for (Duration left = pause; running_ && left > Duration{0}; left = end - since_boot()) {
        pollfd wake{.fd = outbox_.wake_fd(), .events = POLLIN, .revents = 0};
        poll(&wake, 1, static_cast<int>(std::chrono::ceil<Millis>(left).count()));
        outbox_.forget_wakes();
    }
}

// When the clock was set a moment ago, and this was the only node, the next node to start could not
// tell: so this one corrects the row before it leaves.
void Watch::leave() {
    listening_ = false;
    const bool had_duty = has_duty();
    duty_until_ = Duration{};
    if (!connection_) return;
    try {
        look_at_clock(true);
        if (had_duty) leave_duty(*connection_, cluster_.owner, cluster_.time.now());
    } catch (const std::runtime_error& failure) {
        log::warn("the duty could not be given up; others take it in a moment",
                  log::field("error", failure.what()));
    }
}

}  // namespace sluice::postgres
