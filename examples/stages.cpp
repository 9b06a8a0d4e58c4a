// A pipeline: blocks of a text come one after the other, are compressed side by side, and are put together in their
// order.
#include <weir/weir.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

// Runs of a character become the character and their length.
std::string compressed(std::string_view text) {
  std::string result;
  for (std::size_t i = 0, end; i < text.size(); i = end) {
    for (end = i; end < text.size() && text[end] == text[i]; end++) {}
    result += text[i] + std::to_string(end - i);
  }
  return result;
}

int main() {
  std::string text;
  for (int line = 0; line < 20000; line++) text += std::string(1 + line % 70, static_cast<char>('a' + line % 26)) + '\n';

  weir::runtime rt;
  std::string result;
  std::string_view rest = text;
  weir::parallel_pipeline(
      rt,
      [&]() -> std::optional<std::string_view> {
        if (rest.empty()) return {};
        std::size_t end = rest.find('\n', 8192);  // whole lines
        end = end == rest.npos ? rest.size() : end + 1;
        const std::string_view block = rest.substr(0, end);
        rest.remove_prefix(end);
        return block;
      },
      weir::parallel_stage([](std::string_view block) { return compressed(block); }),
      weir::serial_stage([&](std::string block) { result += block; }));

  std::printf("%zu characters, compressed %zu\n", text.size(), result.size());
  return result == compressed(text) ? 0 : 1;
}
