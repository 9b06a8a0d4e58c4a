// Files put into the program by the assembler, which takes no time; a megabyte as a C++ array takes a compiler minutes.
#include "assets.hpp"

// WEIR_REPORT_PAGES: the folder page/. WEIR_REPORT_LIBRARY: the plotting library with its licences, if it is there.
#define WEIR_EMBED(name, file)                                                                                         \
  asm(".pushsection .rodata\n.global weir_asset_" #name "\n.global weir_asset_" #name "_end\nweir_asset_" #name ":\n"  \
      ".incbin \"" file "\"\nweir_asset_" #name "_end:\n.byte 0\n.popsection\n");                                       \
  extern "C" const char weir_asset_##name[], weir_asset_##name##_end[]

WEIR_EMBED(page, WEIR_REPORT_PAGES "/page.html");
WEIR_EMBED(style, WEIR_REPORT_PAGES "/page.css");
WEIR_EMBED(script, WEIR_REPORT_PAGES "/page.js");
WEIR_EMBED(timeline, WEIR_REPORT_PAGES "/timeline.js");
#ifdef WEIR_REPORT_LIBRARY
WEIR_EMBED(library, WEIR_REPORT_LIBRARY);
#endif

namespace weir::tools {

report_assets built_in_assets() {
  report_assets a;
  a.page = {weir_asset_page, weir_asset_page_end};
  a.style = {weir_asset_style, weir_asset_style_end};
  a.script = {weir_asset_script, weir_asset_script_end};
  a.timeline = {weir_asset_timeline, weir_asset_timeline_end};
#ifdef WEIR_REPORT_LIBRARY
  a.library = {weir_asset_library, weir_asset_library_end};
#endif
  return a;
}

}  // namespace weir::tools
