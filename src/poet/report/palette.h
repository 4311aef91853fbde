#pragma once

// Okabe and Ito's colours, which are safe for colour-blind readers.

namespace poet {

inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kOrange = "#e69f00";
inline constexpr const char* kPurple = "#cc79a7";
inline constexpr const char* kGreen = "#009e73";
inline constexpr const char* kSky = "#56b4e9";
inline constexpr const char* kVermilion = "#d55e00";
inline constexpr const char* kYellow = "#f0e442";
inline constexpr const char* kGrey = "#808080";
// Not theirs: transfers of parameters, and those in RAM.
inline constexpr const char* kOlive = "#7a9a01";
inline constexpr const char* kBrown = "#8c564b";
inline constexpr const char* kLavender = "#b8a6d9";

}  // namespace poet
