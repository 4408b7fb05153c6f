#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tidy_sources.hpp"

// Rooms, the folders under src/, and the arrows between them: which room may include headers of
// which. tests/rooms.txt lists both, a room on each line: "name | what is in it | arrows".
namespace sluice::tidy {

inline constexpr const char* rooms_file = "tests/rooms.txt";
inline constexpr std::size_t room_files_max = 25;
inline const std::map<std::string, std::size_t> smaller_rooms{{"main", 12}};

struct Room {
    std::string name;
    std::string purpose;
    std::vector<std::string> arrows;
};

inline std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

inline std::vector<Room> read_rooms(const std::string& table) {
    std::vector<Room> rooms;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream cells(line);
        Room& room = rooms.emplace_back();
        std::string arrows;
        std::getline(cells, room.name, '|');
        std::getline(cells, room.purpose, '|');
        std::getline(cells, arrows);
        room.name = trimmed(room.name);
        room.purpose = trimmed(room.purpose);
        std::istringstream names(arrows);
        for (std::string name; names >> name;) room.arrows.push_back(name);
    }
    return rooms;
}

// The room of a path below src/, by its folder.
inline std::string room_of(std::string_view path) {
    if (path.starts_with("sluice/")) return "client/include/sluice";
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

// Walks the arrows from one room to the next, and reports the first way that comes back.
class CycleSearch {
  public:
    explicit CycleSearch(const std::vector<Room>& rooms) {
        for (const Room& room : rooms) arrows_[room.name] = room.arrows;
    }

    std::string find() {
        for (const auto& [room, arrows] : arrows_) {
            if (is_on_a_cycle(room)) return text();
        }
        return {};
    }

  private:
    bool is_on_a_cycle(const std::string& room) {
        if (const auto seen = std::find(way_.begin(), way_.end(), room); seen != way_.end()) {
            way_.erase(way_.begin(), seen);
            way_.push_back(room);
            return true;
        }
        if (!walked_.insert(room).second) return false;
        way_.push_back(room);
        for (const std::string& next : arrows_[room]) {
            if (is_on_a_cycle(next)) return true;
        }
        way_.pop_back();
        return false;
    }

    std::string text() const {
        std::string out;
        for (const std::string& room : way_) out += (out.empty() ? "" : " -> ") + room;
        return out;
    }

    std::map<std::string, std::vector<std::string>> arrows_;
    std::set<std::string> walked_;
    std::vector<std::string> way_;
};

inline void check_rooms(Findings& out, const std::string& table,
                        const std::vector<SourceFile>& files) {
    const std::vector<Room> rooms = read_rooms(table);
    const std::string place = std::string(rooms_file) + ": ";
    if (const std::string cycle = CycleSearch(rooms).find(); !cycle.empty()) {
        out.push_back(place + "a cycle: " + cycle);
    }
    std::map<std::string, std::size_t> sources;          // that are in a room
    std::set<std::pair<std::string, std::string>> used;  // arrows
    std::set<std::pair<std::string, std::string>> allowed;
    for (const Room& room : rooms) {
        sources[room.name] = 0;
        for (const std::string& arrow : room.arrows) allowed.emplace(room.name, arrow);
    }
    for (const SourceFile& file : files) {
        if (!file.is_in("src/") || file.is_test()) continue;
        const std::string room = room_of(std::string_view(file.path).substr(4));
        if (!sources.contains(room)) {
            report(out, file, 1, "is in no room of " + std::string(rooms_file));
            continue;
        }
        ++sources[room];
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::string name = included(file.lines[i]);
            if (!name.starts_with('"')) continue;
            const std::string other = room_of(name.substr(1));
            if (other == room || !sources.contains(other)) continue;
            used.emplace(room, other);
            if (allowed.contains({room, other})) continue;
            report(out, file, i + 1,
                   room + " has no arrow to " + other + " in " + std::string(rooms_file));
        }
    }
    for (const auto& [room, count] : sources) {
        const auto smaller = smaller_rooms.find(room);
        const std::size_t most = smaller == smaller_rooms.end() ? room_files_max : smaller->second;
        if (count == 0) out.push_back(place + "no source is in " + room);
        if (count <= most) continue;
        out.push_back("src/" + room + ": has " + std::to_string(count) + " sources, more than " +
                      std::to_string(most));
    }
    for (const auto& [room, other] : allowed) {
        if (used.contains({room, other}) || sources[room] == 0) continue;
        out.push_back(place + "nothing in " + room + " includes " + other);
    }
}

// The rooms as docs/architecture.md shows them: those of a layer together.
inline std::string rooms_in_markdown(const std::string& table) {
    std::string out, layer;
    for (const Room& room : read_rooms(table)) {
        const std::string of_room = room.name.substr(0, room.name.find('/'));
        if (of_room != layer) {
            layer = of_room;
            out += "\n**" + layer + "**\n\n";
        }
        out += "- `" + room.name + "`: " + room.purpose + "\n";
        std::string line = "  → ";
        for (const std::string& arrow : room.arrows) {
            if (line.size() + arrow.size() > 112) {
                out += line + ",\n";
                line = "    ";
            }
            line += (line.ends_with(' ') ? "`" : ", `") + arrow + "`";
        }
        if (!room.arrows.empty()) out += line + "\n";
    }
    return out;
}

// The pages of the documentation, and those beside the sources.
inline std::vector<std::filesystem::path> markdown_files(const std::filesystem::path& root) {
    namespace fs = std::filesystem;
    std::vector<fs::path> pages;
    const auto add = [&](const fs::directory_entry& entry) {
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    };
    for (const fs::directory_entry& entry : fs::directory_iterator(root)) add(entry);
    for (const char* folder : {"docs", "tests", "bench", "examples"}) {
        if (!fs::is_directory(root / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) add(entry);
    }
    return pages;
}

}  // namespace sluice::tidy
