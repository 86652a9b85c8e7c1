// The machine's parameters; the page contains them as a plain table.

class ConfigurationSection {
  constructor(view) {
    const rows = view.article.querySelectorAll('[data-plain-table="parameters"] tbody tr');
    view.onFilter("parameters", () => {
      for (const row of rows) row.hidden = !matches(row.textContent, view.filter("parameters"));
    });
  }

  show() {}
}
