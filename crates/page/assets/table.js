// Tables that sort by a click on a column's title.

/**
 * A table. Columns have `title`, `unit`, `value(row)` to sort by, `cell(row)` to show (a text or a node), and
 * `number`; the first column names the row. `dress(line, row)` may add to a row's element.
 */
class Table {
  constructor({ caption, columns, rows, dress = () => {}, most = 500, tall = true, sorts = true }) {
    this.columns = columns;
    this.rows = rows;
    this.dress = dress;
    this.most = most;
    this.sorts = sorts;
    this.order = { column: null, descending: false };
    this.head = element("tr");
    this.body = element("tbody");
    this.more = element("button", { type: "button", click: () => this.showAll() });
    this.table = element("table", { class: "rows" },
      caption ? element("caption", {}, caption) : null, element("thead", {}, this.head), this.body);
    this.place = element("div", {}, element("div", { class: tall ? "scroll tall" : "scroll" }, this.table), this.more);
    this.setColumns(columns);
  }

  setColumns(columns) {
    this.columns = columns;
    if (!columns.includes(this.order.column)) this.order = { column: null, descending: false };
    this.head.replaceChildren(...columns.map((column) => {
      const sort = this.sorts
        ? element("button", { type: "button", click: () => this.sortBy(column) }, column.title) : column.title;
      const unit = column.unit ? element("span", { class: "unit" }, ` (${column.unit})`) : null;
      return element("th", { scope: "col", class: column.number ? "number" : null, "data-column": column.name },
        sort, unit);
    }));
    this.draw();
  }

  setRows(rows) {
    this.rows = rows;
    this.draw();
  }

  /** Ascending, then descending, then as given. */
  sortBy(column) {
    const { order } = this;
    if (order.column !== column) this.order = { column, descending: false };
    else if (!order.descending) order.descending = true;
    else this.order = { column: null, descending: false };
    this.draw();
  }

  showAll() {
    this.most = Infinity;
    this.draw();
  }

  sorted() {
    const { column, descending } = this.order;
    if (!column) return this.rows;
    const missing = (value) => value === null || value === undefined || value === "";
    const compare = (a, b) => {
      const [one, other] = [column.value(a), column.value(b)];
      // What is missing comes last either way.
      if (missing(one) || missing(other)) return missing(one) - missing(other);
      const way = typeof one === "number" && typeof other === "number"
        ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
      return descending ? -way : way;
    };
    return [...this.rows].sort(compare);
  }

  draw() {
    [...this.head.children].forEach((cell, at) => {
      const sorted = this.columns[at] === this.order.column;
      if (this.sorts) cell.setAttribute("aria-sort", sorted ? (this.order.descending ? "descending" : "ascending") : "none");
    });
    const rows = this.sorted();
    this.body.replaceChildren(...rows.slice(0, this.most).map((row) => {
      const line = element("tr");
      this.columns.forEach((column, at) => {
        const attributes = { class: [column.number ? "number" : "", column.mood?.(row) ?? ""].join(" ").trim() || null };
        if (at === 0) attributes.scope = "row";
        line.append(element(at === 0 ? "th" : "td", attributes, column.cell(row)));
      });
      this.dress(line, row);
      return line;
    }));
    this.more.hidden = rows.length <= this.most;
    this.more.textContent = `show all ${grouped(rows.length)} rows`;
  }
}

/** A column of plain values. */
const plain = (title, value, { unit = "", number = true, text = (it) => it, mood } = {}) => ({
  title,
  unit,
  number,
  value,
  mood,
  cell: (row) => {
    const it = value(row);
    return it === null || it === undefined ? "" : text(it);
  },
});
