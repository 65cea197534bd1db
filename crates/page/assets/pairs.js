// Latencies by the nodes that send and receive, of points that have them.

/** Nodes of a picture of pairs. */
const MOST_DRAWN = 96;

class Pairs {
  constructor() {
    this.all = data.results.flatMap((result, number) =>
      result.pairs.map((pairs) => ({ ...pairs, point: points[number][pairs.row] })));
    this.controls = element("div", { class: "controls" });
    this.picture = element("div", { class: "planes", pointermove: (event) => this.move(event), pointerleave: hideTip });
    this.key = element("div", { class: "key" });
    const time = (value) => significant(value, 4);
    const sums = (name, of) => [
      plain(`${name}: mean (ns)`, (row) => of(row)?.mean ?? null, { text: time }),
      plain("longest (ns)", (row) => of(row)?.most ?? null, { text: time }),
      plain("packets", (row) => of(row)?.packets ?? null, { text: grouped }),
    ];
    this.nodes = new Table({
      caption: "Latency of packets by node",
      columns: [plain("node", (row) => row.name, { number: false }), ...sums("sent", (row) => row.sent), ...sums("received", (row) => row.received)],
      rows: [],
    });
    this.pairs = new Table({
      caption: "Latency of packets by pair, the highest means first",
      columns: [
        plain("from", (row) => row.from, { number: false }), plain("to", (row) => row.to, { number: false }),
        ...sums("packets of the pair", (row) => row),
      ],
      rows: [],
    });
    this.place = element("div", {}, this.controls, this.key, this.picture,
      element("div", { class: "side" }, this.nodes.place, this.pairs.place));
    watch((what) => {
      const chosen = this.all.find(({ point: at }) => at.key === view.chosen);
      if (what === "chosen" && chosen) this.show(chosen);
    });
    this.show(this.all[0]);
  }

  nameOf({ point: at }) {
    const load = at.value(offered);
    const alike = this.all.filter(({ point: other }) =>
      other.result === at.result && other.series === at.series && other.value(offered) === load);
    return named(several ? data.results[at.result].label : "", at.series,
      load === null ? `point ${at.value("point")}` : `load ${significant(load)}`, alike.length > 1 ? `seed ${at.value("seed")}` : "");
  }

  show(shown_) {
    this.now = shown_;
    if (this.all.length > 1) {
      const options = this.all.map((it, at) => [String(at), this.nameOf(it)]);
      this.controls.replaceChildren(chooser("point", options, String(this.all.indexOf(shown_)), (at) => this.show(this.all[Number(at)])));
    }
    const { names, sums } = shown_;
    const of = ([source, destination, packets, mean, most]) => ({ source, destination, packets, mean, most });
    const rows = sums.map(of);
    const found = (wanted) => rows.find(wanted);
    this.nodes.setRows(names.map((name, at) => ({
      name,
      sent: found((row) => row.source === at && row.destination < 0),
      received: found((row) => row.destination === at && row.source < 0),
    })));
    this.cells = rows.filter(({ source, destination }) => source >= 0 && destination >= 0);
    this.pairs.place.hidden = this.cells.length === 0;
    this.pairs.setRows([...this.cells].sort((a, b) => b.mean - a.mean)
      .map((row) => ({ ...row, from: names[row.source], to: names[row.destination] })));
    this.draw();
  }

  draw() {
    const { names } = this.now;
    const drawn = this.cells.length > 0 && names.length <= MOST_DRAWN;
    this.picture.hidden = !drawn;
    this.key.hidden = !drawn;
    if (!drawn) return;
    const most = Math.max(...this.cells.map(({ mean }) => mean));
    const step = Math.max(6, Math.min(22, Math.floor(620 / names.length)));
    const margin = 22 + 7 * Math.max(...names.map((name) => name.length));
    const cells = this.cells.map(({ source, destination, mean }, at) => shape("rect", {
      class: "link", style: `--heat: ${heat(mean / most)}`, x: margin + destination * step, y: 24 + source * step,
      width: step - 1, height: step - 1, "data-pair": at,
    }));
    const tall = Math.ceil(13 / step);
    const rows = names.map((name, at) => (at % tall ? "" : shape("text", {
      x: margin - 6, y: 24 + (at + 0.5) * step + 4, "text-anchor": "end",
    }, name)));
    const size = [margin + names.length * step + 4, 28 + names.length * step];
    this.picture.replaceChildren(element("figure", {}, shape("svg", {
      width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "img", "aria-label": "Mean latency from node to node",
    }, shape("g", {}, ...cells), shape("g", { "font-size": 11, fill: "currentColor" }, ...rows,
      shape("text", { x: margin, y: 14 }, "to, in the same order")))));
    this.key.replaceChildren(
      element("span", { class: "scale" }, "0", element("i"), `${significant(most, 4)} ns`),
      element("span", { class: "soft" }, "mean latency of packets from the node of the row to that of the column"));
  }

  move(event) {
    const target = event.target.closest("[data-pair]");
    if (!target) {
      hideTip();
      return;
    }
    const { names } = this.now;
    const { source, destination, packets, mean, most } = this.cells[Number(target.dataset.pair)];
    showTip(`${names[source]} to ${names[destination]}`, [
      ["mean latency", `${significant(mean, 4)} ns`, true], ["longest", `${significant(most, 4)} ns`], ["packets", grouped(packets)],
    ], { x: event.clientX, y: event.clientY });
  }
}

function drawPairs() {
  if (!data.results.some((result) => result.pairs.length)) return;
  const section = byId("pairs");
  section.hidden = false;
  section.append(new Pairs().place);
}
