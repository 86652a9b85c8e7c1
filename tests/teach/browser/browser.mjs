// Opens the page in a real browser, as a reader does: from a file. The same code drives Chromium and a stock Firefox (by
// WebDriver BiDi, because Playwright's Firefox is a build of its own). It keeps what the page writes to the console, and what
// it requests from the network.
import puppeteer from "puppeteer-core";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const kPrograms = {
  chromium: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};
export const kSizes = { phone: [390, 844], tablet: [820, 1180], desktop: [1440, 900] };

export async function launch(name, { theme = "light", calm = true, preferences = {} } = {}) {
  const executablePath = kPrograms[name].find(existsSync);
  if (!executablePath) throw new Error(`${name} is not installed: looked for ${kPrograms[name].join(", ")}`);
  const chromium = name === "chromium";
  const browser = await puppeteer.launch({
    browser: chromium ? "chrome" : "firefox",
    executablePath,
    headless: true,
    protocolTimeout: 120_000,
    args: chromium ? ["--no-sandbox", "--disable-dev-shm-usage", ...(calm ? ["--force-prefers-reduced-motion"] : []),
      ...(theme === "dark" ? ["--blink-settings=preferredColorScheme=0"] : [])] : [],
    extraPrefsFirefox: {
      "layout.css.prefers-color-scheme.content-override": theme === "dark" ? 0 : 1,
      "ui.prefersReducedMotion": calm ? 1 : 0,
      ...preferences,
    },
  });
  return browser;
}

/** Opens the page in build/teach; `hash` is the part of the URL after #. */
export async function open(browser, folder, { hash = "", size = "desktop" } = {}) {
  const page = await browser.newPage();
  const problems = [];
  const requests = [];
  const base = pathToFileURL(folder).href;
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !/^(data|blob|about):/.test(url)) requests.push(url);
  });
  const [width, height] = kSizes[size];
  await page.setViewport({ width, height });
  await page.goto(`${base}/index.html${hash ? `#${hash}` : ""}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", { timeout: 60_000 });
  return { page, problems, requests };
}

/** Checks that the page wrote nothing to the console and requested nothing from the network. */
export function clean({ problems, requests }) {
  if (problems.length > 0) throw new Error(`the console says: ${problems.join("\n")}`);
  if (requests.length > 0) throw new Error(`the page asks the network for ${requests.join(", ")}`);
}

export function check(true_, what) {
  if (!true_) throw new Error(what);
}
export function equal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a.slice(0, 400)} instead of ${b.slice(0, 400)}`);
}

/** Waits until `test` (run in the page) is true. If it never is, fails with the message `what`. */
export async function until(page, what, test, ...args) {
  try {
    return await page.waitForFunction(test, { timeout: 90_000, polling: 50 }, ...args);
  } catch (error) {
    const shown = await page.evaluate(() => document.body.innerText.slice(0, 600)).catch(() => "");
    throw new Error(`${what}: it never came (${error.message})\n${shown}`);
  }
}

/** Presses a button by its selector, as a mouse click would. */
export async function press(page, selector) {
  await page.waitForSelector(selector, { timeout: 30_000 });
  await page.$eval(selector, (element) => {
    element.scrollIntoView({ block: "center" });
    element.click();
  });
}
