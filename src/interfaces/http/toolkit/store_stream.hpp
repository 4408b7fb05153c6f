#pragma once

#include <memory>
#include <string>

#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

struct StreamChunk {
    std::string text{};
    bool ended = false;  // nothing will follow
    bool full = false;   // there may be more at once
};

// The source of a stream. read() is called on a reader's thread, one call at a time, and goes on
// where the last one ended. A refusal ends the stream; the client comes back with the id it has.
class StreamSource {
  public:
    virtual ~StreamSource() = default;
    virtual Result<StreamChunk> read(JobReader& reader) = 0;

    // Whether its events can change without a hint to the watchers of its subject. Then it is read
    // every second, too.
    virtual bool changes_unnoticed() const { return false; }
};

// Appends one Server-Sent Event. `data` is JSON; line breaks in it stand between tokens. Without an
// id the client keeps the one it has.
void append_stream_event(std::string& out, std::optional<std::int64_t> id, std::string_view type,
                         std::string data);

// The subject of a stream.
struct StreamSubject {
    JobId watched{};       // the id by which watchers know it
    std::string tenant{};  // to which it belongs
};

// Answers with Server-Sent Events until the source has ended or the client has gone. Whenever the
// watchers of the subject get a hint, the source reads on. It reads the store, never a message, so
// that nothing is lost when a hint is. It also ends when the caller's credential is not good any
// more. The streams of one tenant are limited, and those of one token if callers have tokens; more
// are refused with 429.
void stream_from_store(const Call& call, StreamSubject subject,
                       std::shared_ptr<StreamSource> source);

}  // namespace sluice::http
