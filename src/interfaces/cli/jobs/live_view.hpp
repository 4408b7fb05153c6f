#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "interfaces/cli/framework/session.hpp"
#include "interfaces/cli/jobs/job_watcher.hpp"

namespace sluice::cli {

// A log line as people read it: its time, its level unless it is info, and its text.
std::string log_text(const Screen& screen, const client::LogLine& line);

// A text whose line breaks are kept, each further line indented, and everything else printable.
std::string printable_lines(std::string_view text);

// Shows the events of a job on standard error. On a terminal the last line is drawn again and
// again: what the job waits for, or how far it is. Elsewhere it is printed when it changes.
class LiveView {
  public:
    LiveView(const Session& session, const client::Job& job);
    ~LiveView();
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    void show(const client::Update& update);
    void tick();   // to be called several times a second
    void close();  // takes the last line away; nothing is drawn after that

  private:
    void show_status(const client::Update::Status& status);
    void print(const std::string& line);
    void erase_live_line();
    void draw_live_line(std::string line);
    void note_change();
    std::string live_text(const JobWatcher::Seen& seen) const;
    std::string queued_text(const JobWatcher::Seen& seen) const;
    std::string running_text(const JobWatcher::Seen& seen) const;

    const Session& session_;
    const Screen& screen_;
    const std::string id_;
    client::State state_ = client::State::queued;
    int attempt_ = 0;
    int max_attempts_ = 0;
    client::Time since_;
    bool is_drawn_ = false;
    bool is_closed_ = false;
    int frame_ = 0;
    std::chrono::steady_clock::time_point last_frame_{};
    std::string last_change_;
    JobWatcher watcher_;
};

}  // namespace sluice::cli
