#include "poet/report/drawing.h"

#include <string_view>

#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/report/gnuplot.h"

namespace poet {
namespace {

/// The same figure is to have the same bytes, and cairo writes the time into a pdf: here the beginning of
/// Unix time, in as many digits.
void set_date(std::string& pdf) {
  const std::string_view key = "/CreationDate (D:";
  const std::string_view date = "19700101000000";
  const std::size_t at = pdf.rfind(key);
  if (at == std::string::npos || at + key.size() + date.size() > pdf.size()) return;
  pdf.replace(at + key.size(), date.size(), date);
}

}  // namespace

bool is_figure(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".svg" || extension == ".png" || extension == ".pdf" || extension == ".gp";
}

void write_drawing(const std::filesystem::path& file, const ScriptOf& script_of) {
  ensure(is_figure(file), "a figure's name ends in .svg, .png, .pdf or .gp");
  const std::string extension = file.extension().string();
  if (extension == ".gp") {
    const std::string drawn = file.stem().string() + ".svg";
    write_file(file, "# For gnuplot. Terminal and output may be changed, the data follow.\n" +
                         script_of(FigureFormat::svg, drawn));
    return;
  }
  const FigureFormat format = extension == ".svg"   ? FigureFormat::svg
                              : extension == ".png" ? FigureFormat::png
                                                    : FigureFormat::pdf;
  std::string bytes = run_gnuplot(script_of(format, "figure"));
  if (format == FigureFormat::pdf) set_date(bytes);
  write_file(file, bytes);
}

}  // namespace poet
