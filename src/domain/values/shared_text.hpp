#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

// A text that never changes and that its copies share, on any thread.
class SharedText {
  public:
    SharedText() = default;  // empty
    SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
    SharedText(std::string_view text) : SharedText(std::string(text)) {}
    SharedText(const char* text) : SharedText(std::string(text)) {}

    const std::string& operator*() const { return text_ ? *text_ : none(); }
    operator const std::string&() const { return **this; }
    operator std::string_view() const { return **this; }

    std::size_t size() const { return text_ ? text_->size() : 0; }
    bool empty() const { return size() == 0; }

    bool operator==(const SharedText& other) const {
        return text_ == other.text_ || **this == *other;
    }

  private:
    static const std::string& none() {
        static const std::string empty;
        return empty;
    }

    std::shared_ptr<const std::string> text_;
};

}  // namespace sluice
