/** Applies the theme, the density and the width of text that the user has chosen. */
import { preferences, subscribe } from "../ui/preferences";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const { theme, density, width } = preferences();
  const { dataset } = document.documentElement;
  dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  dataset.density = density;
  dataset.width = width;
}

export function followAppearance(): void {
  apply();
  subscribe(apply);
  dark.addEventListener("change", apply);
}
