// Dark or light: follows the system until the reader chooses.
type Theme = "light" | "dark";
const kKey = "linebounce-theme";

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // a file's page may have no storage
  }
}

let current = $state<Theme>("light");

export function theme(): Theme {
  return current;
}

function show(next: Theme): void {
  current = next;
  document.documentElement.dataset.theme = next;
}

export function startTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  show(stored() ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => {
    if (!stored()) show(dark.matches ? "dark" : "light");
  });
}

export function toggleTheme(): void {
  show(current === "dark" ? "light" : "dark");
  try {
    localStorage.setItem(kKey, current);
  } catch {
    // without storage, the choice lasts as long as the page
  }
}
