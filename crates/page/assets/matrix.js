// The links of a fabric without coordinates, gathered into the cells of a matrix.

class Matrix {
  /** `links` has the point's loads and draws again; `axes` is what rows and columns are. */
  constructor(links, axes) {
    this.links = links;
    this.axes = axes;
  }

  get width() {
    return this.axes.columns.length;
  }

  /** What a cell is, in words. */
  name(cell) {
    const column = cell % this.width;
    const { nouns: [down, across], rows, columns } = this.axes;
    return `${down} ${rows[(cell - column) / this.width]}, ${across} ${columns[column]}`;
  }

  draw() {
    const { axes: { nouns, rows, columns }, width, links } = this;
    const step = Math.max(6, Math.min(26, Math.floor(620 / Math.max(width, rows.length))));
    const margin = 22 + 7 * Math.max(nouns[0].length, ...rows.map((row) => row.length));
    const size = [margin + width * step + 4, 44 + rows.length * step];
    const cells = shape("g");
    for (let cell = 0; cell < rows.length * width; cell += 1) {
      const value = links.value(cell);
      if (value === null) continue;
      const column = cell % width;
      cells.append(shape("rect", {
        class: "link",
        style: `--heat: ${heat(value / links.most)}`,
        x: margin + column * step,
        y: 40 + ((cell - column) / width) * step,
        width: step - 1,
        height: step - 1,
        "data-cell": cell,
      }));
    }
    // So many labels that they don't touch.
    const each = (label) => Math.ceil((7 * Math.max(...label.map((text) => text.length)) + 3) / step);
    const tall = Math.ceil(13 / step);
    const labels = shape("g", { "font-size": 11, fill: "currentColor" },
      ...columns.map((text, at) => (at % each(columns) ? "" : shape("text", { x: margin + (at + 0.5) * step, y: 34, "text-anchor": "middle" }, text))),
      ...rows.map((text, at) => (at % tall ? "" : shape("text", { x: margin - 6, y: 40 + (at + 0.5) * step + 4, "text-anchor": "end" }, text))),
      shape("text", { x: margin + (width * step) / 2, y: 14, "text-anchor": "middle", "font-weight": 600 }, nouns[1]),
      shape("text", { x: margin - 6, y: 34, "text-anchor": "end", "font-weight": 600 }, nouns[0]));
    links.planes.replaceChildren(element("figure", {},
      shape("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "img", "aria-label": `Links ${nouns.join(" ")}` }, cells, labels)));
  }

  tip(cell, at) {
    const { links } = this;
    const lines = links.quantities.map(([quantity, name]) =>
      [name, links.worded(cell, Number(quantity)), Number(quantity) === links.quantity]);
    showTip(this.name(cell), lines, at, links.part === "most" ? "the fullest of its links" : "mean of its links");
    return lines;
  }

  /** Goes from cell to cell by the keyboard. */
  step(event) {
    const { links, width, axes: { rows } } = this;
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape") this.setCursor(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [dx, dy] = steps[event.key];
    let [x, y] = [0, 0];
    if (links.cursor !== null) {
      x = links.cursor % width;
      y = (links.cursor - x) / width;
    }
    const cells = rows.length * width;
    let [at, left] = [links.cursor ?? -1, cells];
    // Cells without links are passed over.
    do {
      if (at >= 0) [x, y] = [(x + dx + width) % width, (y + dy + rows.length) % rows.length];
      at = y * width + x;
      left -= 1;
    } while (links.value(at) === null && left > 0);
    if (links.value(at) !== null) this.setCursor(at);
  }

  setCursor(cell) {
    const { links } = this;
    links.cursor = cell;
    links.planes.querySelector(".cursor")?.classList.remove("cursor");
    if (cell === null) {
      hideTip();
      return;
    }
    const rect = links.planes.querySelector(`[data-cell="${cell}"]`);
    rect.classList.add("cursor");
    rect.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { right, top } = rect.getBoundingClientRect();
    const lines = this.tip(cell, { x: right, y: top });
    announce(`${this.name(cell)}: ${lines.map(([name, value]) => `${name} ${value}`).join(", ")}`);
  }
}
