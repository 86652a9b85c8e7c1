// Draws Vega-Lite charts in the page's colours. A chart off screen is drawn when the reader scrolls to it.

const ERRORS_ONLY = 1; // one of Vega's log levels

class Charts {
  // onDark: maps colours that are too dark on a dark background to their replacements.
  // drawable: the least and the largest absolute value of a number that can be drawn; undrawable: the words for others.
  constructor({ charts, on_dark: onDark, drawable, undrawable }) {
    this.specs = charts;
    this.drawable = drawable;
    this.undrawable = undrawable;
    this.onDark = Object.entries(onDark);
    this.wanted = new Map(); // figure -> what to draw
    this.drawn = new Map(); // figure -> Vega's view
    this.seen = new IntersectionObserver((entries) => this.onScroll(entries), { rootMargin: "400px 0px" });
    this.drawRest();
  }

  // Draws the remaining charts one by one while the browser is idle. Printing needs all of them, and drawing them takes too
  // long to start when the browser announces a print.
  drawRest() {
    const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
    later(async () => {
      const figure = [...this.wanted.keys()].find((each) => each.dataset.near !== "yes" && each.offsetParent);
      if (figure) {
        this.seen.unobserve(figure);
        figure.dataset.near = "yes";
        await this.draw(figure);
      }
      if (figure || !this.idle) this.drawRest();
      this.idle = !figure;
    });
  }

  // Fills the spec's table `table` with rows, replaces «placeholders» by words, and draws it. Without rows, hides the figure.
  // If a value can't be drawn, says so instead.
  // choose: called with the point of a row when its mark is clicked.
  show(figure, name, table, rows, words = {}, choose = null) {
    if (!figure) return;
    figure.hidden = rows.length === 0;
    if (!rows.length) {
      this.forget(figure);
      return;
    }
    if (!rows.every((row) => this.isDrawable(row))) {
      this.forget(figure);
      figure.append(element("p", { class: "caption" }, `${figure.dataset.describe ?? name}: this chart is left out, because ${this.undrawable}.`));
      figure.dataset.drawn = "yes";
      return;
    }
    this.wanted.set(figure, { name, table, rows, words, choose });
    if (figure.dataset.near === "yes") this.draw(figure);
    else this.seen.observe(figure);
  }

  // Vega would compute axes or ticks that overflow. As is_drawable() in charts/base.py.
  isDrawable(row) {
    const [least, most] = this.drawable;
    return Object.values(row).every((value) => typeof value !== "number" || value === 0 || (Math.abs(value) >= least && Math.abs(value) <= most));
  }

  forget(figure) {
    delete figure.dataset.turn; // a chart that is being drawn comes too late
    figure.style.minHeight = "";
    this.wanted.delete(figure);
    this.drawn.get(figure)?.finalize();
    this.drawn.delete(figure);
    figure.replaceChildren();
  }

  onScroll(entries) {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      this.seen.unobserve(entry.target);
      entry.target.dataset.near = "yes";
      if (this.wanted.has(entry.target)) this.draw(entry.target);
    }
  }

  // Redraws the charts drawn so far, for another colour theme. alsoUnseen: also draws those not yet scrolled to, for
  // printing.
  drawAll(alsoUnseen = false) {
    for (const figure of this.wanted.keys()) {
      if (alsoUnseen) figure.dataset.near = "yes";
      if (figure.dataset.near === "yes") this.draw(figure);
    }
  }

  async draw(figure) {
    const { name, table, rows, words, choose } = this.wanted.get(figure);
    let text = JSON.stringify(this.specs[name]);
    for (const [word, value] of Object.entries(words)) text = text.replaceAll(`«${word}»`, JSON.stringify(value).slice(1, -1));
    if (isDark()) for (const [light, dark] of this.onDark) text = text.replaceAll(light, dark);
    const spec = { ...JSON.parse(text), datasets: { [table]: rows } };
    fitToRows(spec, rows, figure.clientWidth);
    // ast: Vega interprets expressions, because the page's policy forbids eval().
    const options = { ast: true, actions: false, renderer: "svg", logLevel: ERRORS_ONLY, config: chartConfig(), tooltip: { theme: isDark() ? "dark" : "light" } };
    figure.style.minHeight = figure.offsetHeight ? `${figure.offsetHeight}px` : "";
    delete figure.dataset.drawn;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    figure.dataset.turn = turn;
    const place = element("div", { class: "chart" });
    figure.append(place); // must be in the page, where Vega can measure it, but below what is visible
    place.style.position = "absolute";
    place.style.visibility = "hidden";
    const result = await vegaEmbed(place, spec, options);
    if (figure.dataset.turn !== String(turn)) {
      result.finalize(); // the reader has made another choice while this chart was drawn
      place.remove();
      return;
    }
    this.drawn.get(figure)?.finalize();
    this.drawn.set(figure, result);
    place.removeAttribute("style");
    if (choose) {
      place.classList.add("choosable");
      result.view.addEventListener("click", (event, item) => {
        const point = item?.datum?.point ?? item?.datum?.datum?.point;
        if (point !== undefined) choose(point);
      });
    }
    figure.replaceChildren(place);
    figure.style.minHeight = "";
    figure.dataset.drawn = "yes";
    const svg = place.querySelector("svg");
    // Presents the chart to screen readers as one named picture, not as thousands of unnamed marks. The page's tables have
    // the numbers.
    for (const part of svg.children) part.setAttribute("aria-hidden", "true");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${figure.dataset.describe}: ${numberText(rows.length)} values`);
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const NARROW_LINE = 22; // letters in each line of a label
const NARROW_TITLE = 42; // letters in each line of a title
const TITLE_BESIDE_NAMES = 26;
const LABEL_HEIGHT = 14; // pixels per line

// Breaks a name between words, into lines of about `letters` letters.
function linesOf(name, letters) {
  const lines = [""];
  for (const part of String(name).split(/(?<=[._/=: -])(?=\S)/)) {
    if (lines.at(-1) && lines.at(-1).length + part.trimEnd().length > letters) lines.push("");
    lines.push(lines.pop() + part);
  }
  return lines.map((line) => line.trim());
}

// On a phone, breaks long names and titles over several lines.
function fitToPhone(spec, { x, y }, names, hasNames) {
  if (x?.title) x.title = linesOf(x.title, hasNames ? TITLE_BESIDE_NAMES : NARROW_TITLE);
  if (y?.title) y.title = linesOf(y.title, NARROW_TITLE);
  if (y?.type !== "nominal") return;
  const lines = Object.fromEntries(names.map((name) => [name, linesOf(name, NARROW_LINE)]));
  y.axis = { ...y.axis, labelLimit: 180, labelLineHeight: LABEL_HEIGHT - 2, labelExpr: `${JSON.stringify(lines)}[datum.label]` };
  const most = Math.max(...Object.values(lines).map((each) => each.length));
  if (spec.height?.step) spec.height = { step: Math.max(spec.height.step, LABEL_HEIGHT * most) };
}

// Legends list only values that occur, in as many columns as fit. The axis of a swept number has ticks at the values that
// were run.
function fitToRows(spec, rows, width) {
  const distinctOf = (channel) => [...new Set(rows.map((row) => row[channel?.field]))];
  const parts = [spec, ...(spec.layer ?? [])];
  const hasNames = parts.some((part) => part.encoding?.y?.type === "nominal");
  for (const part of parts) {
    const { x, y, yOffset, color, strokeDash, shape } = part.encoding ?? {};
    if (width < 480) fitToPhone(spec, part.encoding ?? {}, distinctOf(y), hasNames);
    if (x?.field === "x") x.axis = { ...x.axis, values: distinctOf(x) };
    if (spec.height?.step && y) spec.height = Math.max(40, spec.height.step * distinctOf(y).length * (yOffset ? distinctOf(yOffset).length : 1));
    for (const channel of [color, strokeDash, shape]) {
      if (!channel?.legend || channel.type !== "nominal") continue;
      const present = distinctOf(channel);
      // The layers must share a domain, or Vega draws a legend for each.
      channel.scale.domain ??= present;
      const named = channel.scale.domain.filter((value) => present.includes(value));
      const columns = Math.floor((width - (hasNames ? 150 : 40)) / 155);
      if (present.length === 1 && present[0] === "") {
        channel.legend = null; // the chart has one series without a name
        continue;
      }
      channel.legend = { ...channel.legend, values: named, columns: Math.max(1, Math.min(named.length, columns)) };
    }
  }
}

function chartConfig() {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const soft = style.getPropertyValue("--soft").trim();
  const grid = style.getPropertyValue("--rule").trim();
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      labelColor: soft,
      titleColor: soft,
      gridColor: grid,
      domainColor: grid,
      tickColor: grid,
      labelFontSize: 11.5,
      titleFontSize: 12,
      titleFontWeight: 500,
      titlePadding: 8,
    },
    legend: { labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, symbolSize: 90, symbolOpacity: 1, labelLimit: 260 },
    text: { color: ink },
    errorbar: { rule: { color: soft }, ticks: { color: soft } },
  };
}
