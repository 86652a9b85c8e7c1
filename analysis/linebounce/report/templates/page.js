// Builds the page once its data is unpacked.

let pageLabels = {};
let pagePartLabels = {};

function wireTheme(charts) {
  const root = document.documentElement;
  const follow = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    charts.drawAll();
  });
  follow.addEventListener("change", () => charts.drawAll());
}

function wireRuns(show) {
  const select = document.getElementById("run-choice");
  select?.addEventListener("change", () => {
    for (const article of document.querySelectorAll("article.run")) article.hidden = article.dataset.run !== select.value;
    show(Number(select.value));
  });
}

function wireCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentElement.querySelector("code"));
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
}

// Highlights the section being read in the table of contents: the last one whose top is above the upper third of the window.
function wireContents() {
  const mark = () => {
    const sections = [...document.querySelectorAll("section[id]")].filter((section) => section.offsetParent);
    const read = sections.findLast((section) => section.getBoundingClientRect().top < innerHeight / 3) ?? sections[0];
    for (const link of document.querySelectorAll(".contents a")) {
      if (link.hash === `#${read?.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  mark();
}

async function start() {
  const data = await unpackData();
  pageLabels = data.labels;
  pagePartLabels = data.part_labels;
  const charts = new Charts(data);
  const views = new Map();
  const show = (number) => {
    if (views.has(number)) return;
    const article = document.querySelector(`article[data-run="${number}"]`);
    views.set(number, new RunView(article, data.runs[number], { charts }));
  };
  show(0);
  wireTheme(charts);
  wireRuns(show);
  wireCopying();
  wireContents();
  addEventListener("beforeprint", () => charts.drawAll(true));
  document.documentElement.dataset.ready = "yes";
}

start();
