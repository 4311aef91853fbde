#include "apps/cli/reproduce/html.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace poet::cli {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { margin-top: 2.2em; border-bottom: 1px solid #ccc; padding-bottom: .2em; }
table { border-collapse: collapse; margin: 1em 0; font-size: .9em; } caption { text-align: left; font-weight: 600; padding: .4em 0; }
th, td { border: 1px solid #d5d5d5; padding: .3em .6em; text-align: left; vertical-align: top; } th { background: #f3f3f3; }
figure { margin: 1.5em 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; } figcaption { color: #444; }
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    out += fmt::format("<p>{}</p>\n", escaped(text.substr(at, end - at)));
    at = end + 2;
  }
  return out;
}

std::string table_html(const NamedTable& table) {
  std::string out = fmt::format("<table><caption>{}</caption>\n<tr>", escaped(table.caption));
  for (const std::string& cell : table.heading) out += fmt::format("<th>{}</th>", escaped(cell));
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

/// The drawing without what comes before its element in a file of its own; ids of one figure must not be
/// those of another.
std::string inline_svg(const std::filesystem::path& file, const std::string& name) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  std::string svg = text.str();
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string::npos) return "<p>(not drawn: gnuplot is missing)</p>";
  svg.erase(0, begin);
  for (const std::string mark : {"gnuplot_plot_", "gpDot", "gpPt", "gnuplot_canvas", "PlotTitle"}) {
    const std::string own = name + "_" + mark;
    for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + own.size()))
      svg.replace(at, mark.size(), own);
  }
  return svg;
}

std::string section_html(const Section& section, const std::filesystem::path& folder) {
  std::string out = fmt::format("<h2>{}</h2>\n{}", escaped(section.title), paragraphs(section.text));
  if (!section.claims.empty()) {
    NamedTable claims{"Next to the paper", {"what", "paper", "here", "why"}, {}};
    for (const Claim& claim : section.claims)
      claims.rows.push_back({claim.what, claim.paper, claim.here, claim.why});
    out += table_html(claims);
  }
  for (const NamedFigure& figure : section.figures)
    out += fmt::format("<figure>{}<figcaption>{} ({}.svg)</figcaption></figure>\n",
                       inline_svg(folder / (figure.file + ".svg"), figure.file), escaped(figure.caption),
                       escaped(figure.file));
  for (const NamedTable& table : section.tables) out += table_html(table);
  return out;
}

}  // namespace

std::string report_html(const ReportHead& head, const std::vector<Section>& sections,
                        const std::filesystem::path& folder) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}",
      escaped(head.title), kStyle, paragraphs(head.method));
  for (const Section& section : sections) out += section_html(section, folder);
  return out + "</body></html>\n";
}

}  // namespace poet::cli
