// poet devices: the device profiles; with a name, every number of one and where it comes from.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apps/cli/command.h"
#include "apps/shared/called_as.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string rate(double bytes_per_second) {
  return format_bytes(Bytes(static_cast<std::int64_t>(bytes_per_second))) + "/s";
}

std::string flops(double flops_per_second) { return format_short(flops_per_second) + "FLOP/s"; }

std::string devices_text(const std::vector<DeviceProfile>& devices) {
  Table table({{"device", Align::left},
               {"RAM", Align::right},
               {"compute", Align::right},
               {"active", Align::right},
               {"idle", Align::right},
               {"page in", Align::right},
               {"page out", Align::right},
               {"description", Align::left}});
  for (const DeviceProfile& device : devices) {
    const std::optional<Storage>& storage = device.storage;
    table.add({device.name, format_ram(device.ram), flops(device.flops_per_second),
               format_watts(device.active, 3), format_watts(device.idle, 3),
               storage ? rate(storage->page_in.bytes_per_second) : "no storage",
               storage ? rate(storage->page_out.bytes_per_second) : "-", device.description});
  }
  return terminal_table(table) + "\n" +
         wrapped(fmt::format(
                     "Active power is above idle, while computing; idle power is drawn all the time. `{} "
                     "devices NAME` shows every number and where it comes from; a profile of your own is a "
                     "file: --platform FILE.json.",
                     called_as()),
                 prose_width(), 0) +
         "\n";
}

/// A number as people read it, by the unit in its field's name.
std::string with_unit(std::string_view field, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : json_text(value);
  const double number = value.get<double>();
  if (field == "flops_per_second") return flops(number);
  if (field.ends_with("bytes_per_second")) return rate(number);
  if (field == "ram_bytes") return format_ram(Bytes(value.get<std::int64_t>()));
  if (field.ends_with("bytes")) return format_bytes(Bytes(value.get<std::int64_t>()));
  if (field.ends_with("seconds")) return format_seconds(Seconds(number));
  if (field.ends_with("joules")) return format_joules(Joules(number));
  if (field.ends_with("watts")) return format_watts(Watts(number));
  return json_text(value);
}

/// The origin of the number at `pointer`: its own, or that of the nearest object around it that has one.
std::string origin_of(const DeviceProfile& device, std::string pointer) {
  while (!pointer.empty()) {
    const auto found = device.origins.find(pointer);
    if (found != device.origins.end()) return found->second;
    pointer.resize(pointer.rfind('/'));
  }
  return "not stated";
}

void add_numbers(Table& table, const DeviceProfile& device, const Json& json, const std::string& pointer,
                 const std::string& name) {
  for (const auto& member : json.items()) {
    if (pointer.empty() && (member.key() == "format" || member.key() == "name" ||
                            member.key() == "description" || member.key() == "origins")) {
      continue;
    }
    const std::string path = pointer + "/" + member.key();
    const std::string shown = name.empty() ? member.key() : name + " " + member.key();
    if (member.value().is_structured()) {
      add_numbers(table, device, member.value(), path, shown);
    } else {
      const std::string last = path.substr(path.rfind('/') + 1);
      table.add({shown, with_unit(last, member.value()), origin_of(device, path)});
    }
  }
}

std::string device_text(const DeviceProfile& device) {
  Table table({{"", Align::left}, {"", Align::right}, {"", Align::left}});
  add_numbers(table, device, to_json(device), "", "");
  std::string out = fmt::format("{}: {}\n\n", device.name, device.description);
  return out + terminal_table(table, 2);
}

DeviceProfile named(const std::string& name) {
  try {
    return find_device(name);
  } catch (const InputError& error) {
    if (!error.is_field()) throw;  // of a file
    throw InputError("DEVICE", std::string(error.rule()));
  }
}

class Devices final : public Command {
 public:
  explicit Devices(CommandLine& program)
      : Command(program.command("devices",
                                "list the device profiles, or show one with the origin of every number")) {
    parser_.option("DEVICE", name_, "device: a name or a profile (FILE.json)", "");
    parser_.flag("--json", json_, "print one JSON object instead of text");
  }

  int run() override {
    if (name_) {
      const DeviceProfile device = named(*name_);
      if (json_)
        print_answer(to_json(device));
      else
        print_text(device_text(device));
      return kAnswer;
    }
    const std::vector<DeviceProfile> devices = shipped_devices();
    if (json_) {
      Json json = Json::object();
      json["format"] = 1;
      json["devices"] = Json::array();
      for (const DeviceProfile& device : devices) json["devices"].push_back(to_json(device));
      print_answer(json);
    } else {
      print_text(devices_text(devices));
    }
    return kAnswer;
  }

 private:
  std::optional<std::string> name_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_devices(CommandLine& program) { return std::make_unique<Devices>(program); }

}  // namespace poet::cli
