#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace sluice {

// At most one value of each type. Its holder need not know the types: code that knows a type puts
// and finds its value.
class ByType {
  public:
    template <class T>
    void put(T value) {
        values_[typeid(T)] = std::make_shared<const T>(std::move(value));
    }

    // The value of this type; when there is none, a default one.
    template <class T>
    const T& get() const {
        const auto found = values_.find(typeid(T));
        if (found != values_.end()) return *static_cast<const T*>(found->second.get());
        static const T defaults{};
        return defaults;
    }

  private:
    std::map<std::type_index, std::shared_ptr<const void>> values_;
};

}  // namespace sluice
