#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/cli/framework/common_flags.hpp"
#include "interfaces/cli/terminal/screen.hpp"
#include "sluice/client.hpp"

namespace sluice::cli {

// One run of a command: the engine that it calls, and its output. Data goes to standard output,
// messages to standard error.
class Session {
  public:
    explicit Session(const CommonFlags& flags);

    // Gives up at once when no engine answers. With --curl it shows requests instead of sending
    // them, by throwing RequestShown.
    client::Client& client() { return *client_; }

    // For waits: the same, but it repeats calls while the engine is away for a while.
    client::Client& patient_client();

    // Fails at once when there is no engine or no such job, before a patient wait for it begins.
    void check_job(const std::string& id);

    // For questions beside what was asked for, such as which job a short id stands for. Never
    // shown.
    client::Client& asking();

    const Screen& out() const { return out_; }
    const Screen& err() const { return err_; }

    // Never `automatic`.
    OutputFormat format() const { return format_; }
    bool prints_json() const {
        return format_ == OutputFormat::json || format_ == OutputFormat::jsonl;
    }
    bool was_asked_for_a_format() const { return was_asked_for_a_format_; }

    bool is_quiet() const { return quiet_; }
    bool shows_curl() const { return show_curl_; }
    const client::Options& options() const { return options_; }

    // The fields that --fields names, or `usual` when it was not given. Throws when one is not in
    // `known`.
    std::vector<std::string> fields_or(const std::vector<std::string>& usual,
                                       const std::vector<std::string>& known) const;
    bool has_fields() const { return !fields_.empty(); }

    void put(std::string_view text) const { write_to(out_, text); }  // data
    void put_line(std::string_view text) const;                      // data, and a line's end
    void put_json(std::string_view json) const;  // as it is; harmless where it is a terminal
    void say(std::string_view text) const;       // a message, unless --quiet
    void complain(std::string_view text) const;  // a message, in any case

  private:
    client::Options options_;
    OutputFormat format_;
    bool was_asked_for_a_format_;
    std::vector<std::string> fields_;
    bool quiet_;
    bool show_curl_;
    Screen out_;
    Screen err_;
    std::unique_ptr<client::Client> client_;
    std::unique_ptr<client::Client> patient_client_;
    std::unique_ptr<client::Client> asking_;
};

// The text as one word of a line for a shell.
std::string shell_word(std::string_view text);

// The request as a line for a shell; the token stays in its variable.
std::string curl_command(const client::Request& request);

}  // namespace sluice::cli
