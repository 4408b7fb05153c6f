#include "interfaces/worker/ansible/ansible_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "domain/values/ascii.hpp"
#include "domain/values/json_text.hpp"
#include "interfaces/worker/executors/payload.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

// Names that Ansible sets itself. Those with the prefix ansible_ say how to reach a host, and some
// of them name programs to run here.
constexpr auto names_of_ansible = std::to_array<std::string_view>(
    {"group_names", "groups", "hostvars", "inventory_dir", "inventory_file", "inventory_hostname",
     "inventory_hostname_short", "omit", "play_hosts", "playbook_dir", "role_name", "role_names",
     "role_path", "vars"});

bool is_name_of_ansible(std::string_view name) {
    return name.starts_with("ansible_") ||
           std::find(names_of_ansible.begin(), names_of_ansible.end(), name) !=
               names_of_ansible.end();
}

bool has_template(std::string_view text) {
    for (const std::string_view mark : {"{{", "{%", "{#"}) {
        if (text.find(mark) != std::string_view::npos) return true;
    }
    return false;
}

// Whether a string, as it stands in JSON, could hold a template, alone or joined with others: a
// brace, a header that names other marks, or an escape that may stand for either.
bool may_hold_template(std::string_view quoted) {
    return quoted.find('{') != std::string_view::npos || quoted.starts_with("\"#") ||
           quoted.find("\\u00") != std::string_view::npos;
}

// Copies a value of the payload to the variables.
class PayloadCopy {
  public:
    PayloadCopy(JsonReader& reader, std::string& out) : reader_(reader), out_(out) {}

    void value() {
        switch (reader_.kind()) {
            case JsonReader::Kind::object: return object();
            case JsonReader::Kind::array: return array();
            case JsonReader::Kind::string: return string();
            default: out_ += reader_.raw();
        }
    }

  private:
    void object() {
        out_ += '{';
        bool is_first = true;
        reader_.object([&](std::string_view key) {
            if (key.starts_with("__ansible_")) return reader_.fail("is a name that Ansible uses");
            if (has_template(key)) return reader_.fail("has a name that Ansible would evaluate");
            if (!std::exchange(is_first, false)) out_ += ',';
            append_json_string(out_, key);
            out_ += ':';
            value();
        });
        out_ += '}';
    }

    void array() {
        out_ += '[';
        reader_.array([&](std::size_t index) {
            if (index > 0) out_ += ',';
            value();
        });
        out_ += ']';
    }

    void string() {
        const std::string_view quoted = reader_.raw();
        if (!may_hold_template(quoted)) {
            out_ += quoted;
            return;
        }
        out_ += R"({"__ansible_unsafe":)";
        out_ += quoted;
        out_ += '}';
    }

    JsonReader& reader_;
    std::string& out_;
};

using Ids = std::array<std::pair<std::string_view, std::string_view>, 8>;

Ids ids_of(const client::Job& job) {
    return {{{"job_id", job.id},
             {"job_type", job.type},
             {"site_id", job.site_id},
             {"node_id", job.node_id},
             {"entity_type", job.entity_type},
             {"entity_id", job.entity_id},
             {"project", job.project},
             {"correlation_id", job.correlation_id}}};
}

bool is_id(const Ids& ids, std::string_view name) {
    return name == "attempt" ||
           std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return id.first == name; });
}

}  // namespace

std::string ansible_host_name(const std::string& node_id) {
    std::string name = node_id;
    const auto is_plain_letter = [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
    };
    std::replace_if(
        name.begin(), name.end(), [&](char c) { return !is_plain_letter(c); }, '_');
    return name;
}

std::string ansible_inventory(const std::string& host_name, const AnsibleNode& node) {
    std::string out = R"({"all":{"hosts":{)";
    append_json_string(out, host_name);
    out += ':';
    JsonWriter json(out);
    json.begin_object();
    json.field("ansible_host", node.hostname);
    if (node.connection != "local") json.field("ansible_port", node.port);
    if (!node.user.empty()) json.field("ansible_user", node.user);
    if (!node.key_file.empty()) json.field("ansible_ssh_private_key_file", node.key_file);
    if (!node.connection.empty()) json.field("ansible_connection", node.connection);
    json.end_object();
    return out + "}}}\n";
}

Result<std::string> ansible_variables(const client::Job& job) {
    const Ids ids = ids_of(job);
    std::string out = "{\"attempt\":" + std::to_string(job.attempt);
    for (const auto& [name, id] : ids) {
        if (id.empty()) continue;
        out.append(",\"").append(name).append("\":");
        std::string quoted;
        append_json_string(quoted, id);
        JsonReader reader(quoted);
        PayloadCopy(reader, out).value();
    }

    JsonReader reader(payload_text(job));
    if (!reader.null()) {
        PayloadCopy copy(reader, out);
        reader.object([&](std::string_view key) {
            if (is_id(ids, key)) return;
            if (is_name_of_ansible(key) || key.starts_with("__ansible_")) {
                return reader.fail("is a name that Ansible uses");
            }
            if (has_template(key)) return reader.fail("has a name that Ansible would evaluate");
            out += ',';
            append_json_string(out, key);
            out += ':';
            copy.value();
        });
    }
    if (const auto done = reader.finish(); !done) return done.error();
    return out + "}\n";
}

}  // namespace sluice::worker
