#include "apps/cli/reproduce/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "apps/cli/reproduce/curve_data.h"
#include "poet/cost/json_reader.h"
#include "poet/report/packed.h"
#include "poet/report/page_template.h"

namespace poet::cli {
namespace {

/// In words and with a mark of its own, for whoever sees no colours.
struct FindingWords {
  const char* name;  // also of its style
  const char* words;
};
FindingWords words_of(Finding finding) {
  switch (finding) {
    case Finding::holds:
      return {"holds", "\u2713 holds"};
    case Finding::partly:
      return {"partly", "\u25D0 in part"};
    case Finding::fails:
      return {"fails", "\u2717 not here"};
    case Finding::undecided:
      return {"undecided", "? undecided"};
    case Finding::beyond:
      return {"beyond", "beyond the paper"};
  }
  return {"", ""};
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    out += fmt::format("<p>{}</p>\n", html_escaped(text.substr(at, end - at)));
    at = end + 2;
  }
  return out;
}

/// The table without columns that are empty in every row.
NamedTable without_empty_columns(const NamedTable& table) {
  NamedTable kept{table.caption, {}, std::vector<std::vector<std::string>>(table.rows.size())};
  for (std::size_t column = 0; column < table.heading.size(); ++column) {
    const auto is_empty = [&](const std::vector<std::string>& row) { return row[column].empty(); };
    if (std::all_of(table.rows.begin(), table.rows.end(), is_empty)) continue;
    kept.heading.push_back(table.heading[column]);
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      kept.rows[row].push_back(table.rows[row][column]);
  }
  return kept;
}

std::string table_html(const NamedTable& whole) {
  const NamedTable table = without_empty_columns(whole);
  std::string out = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption>\n<tr>",
                                html_escaped(table.caption));
  for (const std::string& cell : table.heading)
    out += fmt::format("<th scope=\"col\">{}</th>", html_escaped(cell));
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", html_escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string finding_html(Finding finding) {
  const FindingWords words = words_of(finding);
  return fmt::format("<td class=\"{}\">{}</td>", words.name, words.words);
}

std::string claims_html(const std::vector<Claim>& claims) {
  if (claims.empty()) return "";
  std::string out =
      "<div class=\"scroll\" tabindex=\"0\"><table><caption>Next to the paper</caption>\n<tr><th "
      "scope=\"col\">what</th><th scope=\"col\">paper</th><th scope=\"col\">where</th><th "
      "scope=\"col\">here</th><th "
      "scope=\"col\">verdict</th><th scope=\"col\">why</th></tr>\n";
  for (const Claim& claim : claims)
    for (std::size_t i = 0; i < claim.trials.size(); ++i) {
      const Trial& trial = claim.trials[i];
      const std::string rows = fmt::format(" rowspan=\"{}\"", claim.trials.size());
      out += "<tr>";
      if (i == 0)
        out += fmt::format("<td{0}>{1}</td><td{0}>{2}</td>", rows, html_escaped(claim.what),
                           html_escaped(claim.paper));
      out += fmt::format("<td>{}</td><td>{}</td>{}", html_escaped(trial.where), html_escaped(trial.here),
                         finding_html(trial.finding));
      if (i == 0) out += fmt::format("<td{}>{}</td>", rows, html_escaped(claim.why));
      out += "</tr>\n";
    }
  return out + "</table></div>\n";
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
    std::string own = name;
    own.append("_").append(mark);
    for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + own.size()))
      svg.replace(at, mark.size(), own);
  }
  return svg;
}

/// Where the figure's data and drawings lie, beside the page.
std::string links_html(const NamedFigure& figure, const std::filesystem::path& folder) {
  std::string out;
  for (const char* kind : {"csv", "svg", "png"}) {
    const std::string name = fmt::format("{}.{}", figure.file, kind);
    if (std::filesystem::exists(folder / name))
      out += fmt::format(" <a href=\"{0}\">{0}</a>", html_escaped(name));
  }
  return out;
}

std::string figure_html(const NamedFigure& figure, const std::filesystem::path& folder) {
  const std::string links = links_html(figure, folder);
  if (!has_web_libraries())
    return fmt::format("<figure>{}<figcaption>{}:{}</figcaption></figure>\n",
                       inline_svg(folder / (figure.file + ".svg"), figure.file), html_escaped(figure.caption),
                       links);
  return fmt::format(
      "<section class=\"figure\"><h3>{}</h3><p class=\"soft\">{}. Data and drawings:{}</p>"
      "<div class=\"panels\" data-figure=\"{}\"></div></section>\n",
      html_escaped(figure.caption), html_escaped(figure.panels.title), links, html_escaped(figure.file));
}

std::string section_html(const Section& section, std::size_t number, const std::filesystem::path& folder) {
  std::string out = fmt::format("<h2 id=\"section-{}\">{}</h2>\n{}", number, html_escaped(section.title),
                                paragraphs(section.text));
  out += claims_html(section.claims);
  for (const NamedFigure& figure : section.figures) out += figure_html(figure, folder);
  for (const NamedTable& table : section.tables) out += table_html(table);
  return out;
}

/// "published instances: 9%; corrected networks: 3%".
std::string trials_text(const Claim& claim) {
  std::string out;
  for (const Trial& trial : claim.trials)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ". ", trial.where, trial.here);
  return out;
}

/// Which claims hold, and by how much: what the page begins with.
std::string verdict_html(const std::vector<Section>& sections) {
  ClaimCounts counts;
  std::string rows;
  for (std::size_t i = 0; i < sections.size(); ++i)
    for (const Claim& claim : sections[i].claims) {
      count_claim(claim, counts);
      const Finding finding = finding_of(claim);
      if (finding == Finding::beyond) continue;
      rows += fmt::format(
          "<tr>{}<td><a href=\"#section-{}\">{}</a>: {}</td><td>{}</td><td>{}</td></tr>\n",
          finding_html(finding), i, html_escaped(sections[i].title.substr(0, sections[i].title.find(':'))),
          html_escaped(claim.what), html_escaped(claim.paper), html_escaped(trials_text(claim)));
    }
  return fmt::format(
      "<div class=\"verdict{}\"><strong>{}</strong> A statement of the paper counts once, in however many "
      "settings it was tried: on published instances by the paper's rules, and on corrected networks. It "
      "holds "
      "if it does in every setting. In part: in some of them, or the direction is the paper's and the amount "
      "is smaller, or one half of it holds.</div>\n<div class=\"scroll\" tabindex=\"0\"><table "
      "class=\"claims\"><caption>The paper's claims and what came of them</caption>\n<tr><th "
      "scope=\"col\">verdict</th><th scope=\"col\">claim</th><th scope=\"col\">paper</th><th "
      "scope=\"col\">here</th></tr>\n{}</table></div>\n",
      counts.holds == counts.all() ? "" : " mixed", html_escaped(counts_text(counts)), rows);
}

std::string contents_html(const std::vector<Section>& sections) {
  std::string out = "<nav class=\"contents\" aria-label=\"Sections\">";
  for (std::size_t i = 0; i < sections.size(); ++i)
    out += fmt::format("<a href=\"#section-{}\">{}</a> ", i,
                       html_escaped(sections[i].title.substr(0, sections[i].title.find(':'))));
  return out + "</nav>\n";
}

std::string body_html(const ReportHead& head, const std::vector<Section>& sections,
                      const std::filesystem::path& folder) {
  std::string out = fmt::format(
      "<h1>{}</h1>\n{}<p>{}</p>\n<p class=\"made\">{} All points: <a "
      "href=\"results.csv\">results.csv</a>, <a href=\"results.sqlite\">results.sqlite</a>.</p>\n{}{}",
      html_escaped(head.title), verdict_html(sections), html_escaped(head.points), html_escaped(head.made),
      contents_html(sections), paragraphs(head.method));
  for (std::size_t i = 0; i < sections.size(); ++i) out += section_html(sections[i], i, folder);
  return out;
}

}  // namespace

std::string report_html(const ReportHead& head, const std::vector<Section>& sections,
                        const std::filesystem::path& folder) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  for (const Section& section : sections)
    for (const NamedFigure& figure : section.figures) figures[figure.file] = curves_json(figure.panels);
  const char* page = has_web_libraries() ? "reproduction.html" : "reproduction_still.html";
  return filled_page(page, [&](const std::string& name) -> std::optional<std::string> {
    if (name == "title") return html_escaped(head.title);
    if (name == "body") return body_html(head, sections, folder);
    if (name == "figures") return script_json({{"figures", packed(json_text(figures))}});
    return std::nullopt;
  });
}

}  // namespace poet::cli
