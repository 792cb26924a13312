// What word-layout.test needs of <string_view>.
namespace std {
struct string_view {
  constexpr string_view(const char *) {}
  constexpr string_view substr(int, int) const { return *this; }
  constexpr bool operator==(string_view) const { return true; }
};
} // namespace std
