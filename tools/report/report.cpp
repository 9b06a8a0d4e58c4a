// The page is written whole or not at all.
#include "report.hpp"

#include "assets.hpp"
#include "results.hpp"
#include "timeline.hpp"

#include <bench/common/kernel.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/stat.h>

namespace weir::tools {
namespace {

using bench::input_error;

struct report_options {
  std::vector<std::string> files;
  std::string output = "report.html", title = "weir report";
  bool json = false;
};

std::string html_text(const std::string& text) {
  std::string html;
  for (const char c : text) {
    if (c == '<') html += "&lt;";
    else if (c == '>') html += "&gt;";
    else if (c == '&') html += "&amp;";
    else html += c;
  }
  return html;
}

// For <script>: no "</script>" can be in it.
std::string script_text(const nlohmann::ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  return safe;
}

// The template with every @NAME@ that is known replaced, in one pass: what is put in is not looked at.
std::string filled(std::string_view page, const std::map<std::string_view, std::string_view>& parts) {
  std::string text;
  while (!page.empty()) {
    const std::size_t at = page.find('@'), end = at == page.npos ? page.npos : page.find('@', at + 1);
    const auto part = end == page.npos ? parts.end() : parts.find(page.substr(at + 1, end - at - 1));
    if (part == parts.end()) {
      const std::size_t plain = at == page.npos ? page.size() : at + 1;
      text += page.substr(0, plain);
      page.remove_prefix(plain);
      continue;
    }
    text += page.substr(0, at);
    text += part->second;
    page.remove_prefix(end + 1);
  }
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  struct stat before{};
  const bool in_place = ::stat(path.c_str(), &before) == 0 && !S_ISREG(before.st_mode);
  const std::string target = in_place ? path : fmt::format("{}.{}.part", path, ::getpid());
  std::ofstream out(target, std::ios::binary);
  out << text;
  out.close();
  const int error = errno;
  if (out && (in_place || std::rename(target.c_str(), path.c_str()) == 0)) return;
  if (!in_place) ::unlink(target.c_str());
  throw input_error(path + ": cannot be written: " + std::strerror(error));
}

}  // namespace

std::string cannot_report() {
  return built_in_assets().library.empty() ? "this weir was built without the plotting library (Apache ECharts), so it cannot write reports; ./dev setup fetches it with npm, then build again" : "";
}

void write_report(const std::vector<std::string>& files, const std::string& output, const std::string& heading) {
  if (const std::string reason = cannot_report(); !reason.empty()) throw input_error(reason);
  const report_assets assets = built_in_assets();
  result_reader results;
  nlohmann::ordered_json data = {{"groups", nlohmann::ordered_json::array()}, {"traces", nlohmann::ordered_json::array()}};
  for (const std::string& file : files) {
    if (looks_like_trace(file)) data["traces"].push_back(trace_data(file));
    else results.add_file(file);
  }
  for (const chart_section& s : results.sections()) data["groups"].push_back(to_json(s));
  const std::string title = html_text(heading), json = script_text(data), script = std::string(assets.script) + std::string(assets.timeline);
  write_file(output, filled(assets.page, {{"TITLE", title}, {"STYLE", assets.style}, {"VERSION", WEIR_VERSION}, {"DATA", json}, {"LIBRARY", assets.library}, {"SCRIPT", script}}));
}

// The charts alone, for programs. A trace makes none.
static void print_charts(const std::vector<std::string>& files) {
  result_reader results;
  for (const std::string& file : files) {
    if (looks_like_trace(file))
      throw input_error(file + ": a trace; expected results, of which --json prints the charts");
    results.add_file(file);
  }
  auto all = nlohmann::ordered_json::array();
  for (const chart_section& s : results.sections()) all.push_back(to_json(s));
  fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void add_report_command(CLI::App& app) {
  auto o = std::make_shared<report_options>();
  CLI::App* report = app.add_subcommand("report", "Results and traces as one page for a browser, which needs no network");
  report->add_option("files", o->files,
                     "lines that weir bench --json, weir bench overhead --json or weir eval wrote, and traces")
      ->type_name("FILE")
      ->required();
  report->add_option("-o,--output", o->output, "The page")->type_name("FILE")->capture_default_str();
  report->add_option("--title", o->title, "Its heading")->type_name("TEXT")->capture_default_str();
  report->add_flag("--json", o->json, "Print the charts as JSON, and write no page");
  report->callback([o] {
    if (o->json) return print_charts(o->files);
    write_report(o->files, o->output, o->title);
    fmt::print("written: {}\n", o->output);
  });
}

}  // namespace weir::tools
