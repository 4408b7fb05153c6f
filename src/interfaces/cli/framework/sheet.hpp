#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "interfaces/cli/terminal/screen.hpp"
#include "sluice/job.hpp"

namespace sluice::cli {

// A sheet of names and values, for one object on a terminal; those without a value are left out.
class Sheet {
  public:
    explicit Sheet(const Screen& screen) : screen_(screen) {}

    void title(const std::string& text) { out_ += text + "\n"; }
    void line(std::string_view name, const std::string& value);
    void time(std::string_view name, const std::optional<client::Time>& at,
              const std::string& remark = {});

    // JSON on one line when it fits, else indented below its name.
    void json(std::string_view name, const std::string& text);

    const std::string& text() const { return out_; }

  private:
    const Screen& screen_;
    std::string out_;
};

}  // namespace sluice::cli
