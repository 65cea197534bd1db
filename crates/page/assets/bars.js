// Finite exchanges and lone loads: a bar each.

class Bars {
  constructor(quantities) {
    this.quantity = quantities[0];
    this.bars = element("div", { class: "bars" });
    const options = quantities.map((name) => [name, columnOf.get(name).title]);
    this.place = element("div", {}, element("div", { class: "controls" }, chooser("quantity", options, this.quantity, (name) => {
      this.quantity = name;
      this.draw();
    })), this.bars);
    watch((what) => {
      if (what === "chosen") this.draw();
    });
    this.draw();
  }

  draw() {
    const column = columnOf.get(this.quantity);
    const all = singles.flatMap((curve) => curve.points).filter((at) => at.value(this.quantity) !== null);
    const most = Math.max(...all.map((at) => at.value(this.quantity)), 0) || 1;
    this.bars.replaceChildren(...all.flatMap((at) => {
      const value = at.value(this.quantity);
      const half = at.half(this.quantity);
      const text = worded(value, column, half);
      const bar = element("button", {
        type: "button",
        class: "bar",
        "data-point": at.key,
        "aria-pressed": String(at.points.some((one) => one.key === view.chosen)),
        click: () => choose(at.key),
        pointermove: (event) => showTip(at.curve.fullName, factsOf(at, this.quantity), { x: event.clientX, y: event.clientY }, hint(at)),
        pointerleave: hideTip,
      }, element("span", { class: "length", style: `width: calc(${(value / most) * 78}%); --colour: var(--series-${at.points[0].result % 7})` }), text);
      return [element("div", { class: "name" }, at.curve.fullName), bar];
    }));
  }
}
