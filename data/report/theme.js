// Light or dark: as the reader chose last, else as the system is.

import { setDark } from "./axes.js";

/** What a browser keeps of an earlier choice; pages that are opened as files may not be allowed to ask. */
function kept() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // It holds as long as the page is open.
  }
}

export const isDark = () => document.documentElement.dataset.theme === "dark";

export function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  setDark(dark);
}

/** Sets the theme, and lets a button change it; `changed()`: what is drawn already has other colours now. */
export function listenToTheme(button, changed) {
  const show = (dark) => {
    setTheme(dark);
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    show(!isDark());
    keep(isDark() ? "dark" : "light");
    changed();
  });
  const theme = kept() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  show(theme === "dark");
}
