"use strict";
// Zoom plots, rotate bodies, copy listings; the page can be read without it.
(() => {
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const numbers = text => text.trim().split(/\s+/).map(Number);
const fixed = (value, digits) => value.toFixed(digits).replace("-", "−");
function add(tag, parent, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

// Plots: linked panels share the range of time; each panel scales its height to the visible data.
class Panel {
  constructor(group, svg) {
    [this.left, this.top, this.width, this.height] = numbers(group.dataset.box);
    Object.assign(this, {group, svg, x: numbers(group.dataset.x), y: numbers(group.dataset.y), label: group.dataset.label});
    [this.data, this.grid, this.edge, this.name] = ["data", "grid", "edge", "name"].map(name => group.querySelector("." + name));
    this.texts = {across: all(".across", group), up: all(".up", group)};
    this.unzoomed = [this.data.getAttribute("transform"), this.grid.getAttribute("d"), this.edge.getAttribute("d")];
    this.cursor = group.appendChild(this.edge.cloneNode());
    this.cursor.setAttribute("d", "");
  }
  set(transform, grid, edge) {
    this.data.setAttribute("transform", transform);
    this.grid.setAttribute("d", grid);
    this.edge.setAttribute("d", edge);
  }
  get series() {  // points of the paths, in the units of the axes
    return this.cached ??= all(".series", this.data).map(path => {
      let px = 0, py = 0;
      const x = [], y = [], steps = (path.getAttribute("d").match(/-?\d+/g) ?? []).map(Number);
      for (let i = 0; i < steps.length; i += 2) {
        px += steps[i]; py += steps[i + 1];
        x.push(this.x[0] + (px / 1000 - this.left) / this.width * (this.x[1] - this.x[0]));
        y.push(this.y[1] - (py / 1000 - this.top) / this.height * (this.y[1] - this.y[0]));
      }
      return {name: path.dataset.name.split(",")[0], x, y};
    }).filter(series => series.x.length);
  }
  show(range) {
    const whole = range[0] <= this.x[0] && range[1] >= this.x[1];
    const height = whole ? this.y : this.dataRange(range);
    const a = (this.x[1] - this.x[0]) / (range[1] - range[0]), d = (this.y[1] - this.y[0]) / (height[1] - height[0]);
    const e = this.left * (1 - a) + (this.x[0] - range[0]) / (range[1] - range[0]) * this.width;
    const f = this.top * (1 - d) + (height[1] - this.y[1]) / (height[1] - height[0]) * this.height;
    const size = this.svg.clientWidth / this.svg.viewBox.baseVal.width;
    for (const path of this.data.children) {
      const wide = path.getAttribute("stroke-width") / 1000 * size;
      path.style.cssText = whole || !wide ? "" : `vector-effect:non-scaling-stroke;stroke-width:${wide}px;stroke-dasharray:none`;
    }
    for (const kind of ["across", "up"]) {
      all(".zoomed." + kind, this.group).forEach(text => text.remove());
      this.texts[kind].forEach(text => { text.style.display = whole ? "" : "none"; });
    }
    this.name?.style.removeProperty("display");
    if (whole) return this.set(...this.unzoomed);
    const bottom = this.top + this.height, right = this.left + this.width;
    let grid = "", edge = `M${this.left} ${this.top}V${bottom}H${right}`;
    for (const [value, text] of ticks(range, 6)) {
      const x = this.left + (value - range[0]) / (range[1] - range[0]) * this.width;
      grid += `M${x} ${this.top}v${this.height}`; edge += `M${x} ${bottom}v3`;
      this.write("across", text, "x", x);
    }
    const choices = [4, 3, 2].map(count => ticks(height, count)), longest = labels => Math.max(...labels.map(([, text]) => text.length));
    const maxChars = Math.max(...this.texts.up.map(text => text.textContent.length)), up = choices.find(labels => labels.length > 1 && longest(labels) <= maxChars) ?? choices[0];
    if (longest(up) > maxChars) this.name?.style.setProperty("display", "none");  // long numbers need its space
    for (const [value, text] of up) {
      const y = bottom - (value - height[0]) / (height[1] - height[0]) * this.height;
      grid += `M${this.left} ${y}h${this.width}`; edge += `M${this.left} ${y}h-3`;
      this.write("up", text, "y", y + 2.9);
    }
    this.set(`matrix(${a / 1000} 0 0 ${d / 1000} ${e} ${f})`, grid, edge);
  }
  dataRange([low, high]) {
    let bottom = Infinity, top = -Infinity;
    for (const {x, y} of this.series)
      for (let i = Math.max(0, lastIndex(x, low)); i < x.length && x[i] <= high; i++)
        [bottom, top] = [Math.min(bottom, y[i]), Math.max(top, y[i])];
    if (bottom > top) return this.y;
    const margin = 0.08 * (top - bottom) || 0.05 * Math.abs(top) || 1;
    return [bottom - margin, top + margin];
  }
  write(kind, text, attribute, position) {
    if (!this.texts[kind].length) return;
    const label = this.texts[kind][0].cloneNode();
    label.classList.add("zoomed");
    label.style.display = "";
    label.setAttribute(attribute, position);
    label.textContent = text;
    this.group.append(label);
  }
  point(at, range) {  // draw the cursor and return the values at it
    const x = this.left + (at - range[0]) / (range[1] - range[0]) * this.width;
    this.cursor.setAttribute("d", `M${x} ${this.top}v${this.height}`);
    const digits = Math.max(0, 3 - Math.floor(Math.log10(this.y[1] - this.y[0])));
    const values = this.series.map(({name, x, y}) => {
      const i = lastIndex(x, at), near = i + 1 < x.length && (i < 0 || x[i + 1] - at < at - x[i]) ? i + 1 : i;
      return `${name} ${fixed(y[near], Math.min(digits, 9))}`;
    });
    const [name, unit = ""] = this.label.replace("]", "").split(" [");
    return `${name}: ${values.join(", ")} ${unit}`;
  }
}
function lastIndex(x, at) {  // index of the last x <= at, or -1
  let low = -1, high = x.length;
  while (high - low > 1) { const middle = (low + high) >> 1; if (x[middle] <= at) low = middle; else high = middle; }
  return low;
}
function ticks([low, high], count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find(factor => factor * power >= raw * (1 - 1e-9));
  let digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits++;
  const labels = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) labels.push([k * step, fixed(k * step || 0, digits)]);
  return labels;
}

class Plots {  // all figures of one link
  constructor(name) {
    this.figures = all("svg[data-link]").filter(svg => svg.dataset.link === name);
    this.panels = this.figures.flatMap(svg => (svg.panels = all("g.panel", svg).map(group => new Panel(group, svg))));
    this.whole = [Math.min(...this.panels.map(p => p.x[0])), Math.max(...this.panels.map(p => p.x[1]))];
    this.range = this.whole;
    this.at = (this.whole[0] + this.whole[1]) / 2;
    this.figures.forEach(svg => this.listen(svg));
    for (const figure of new Set(this.figures.map(svg => svg.closest("figure")))) this.tools(figure);
  }
  tools(figure) {
    const bar = add("div", figure);
    bar.className = "tools";
    figure.prepend(bar);
    for (const [text, label, action] of [["+", "Zoom in", () => this.zoom(0.5)], ["−", "Zoom out", () => this.zoom(2)], ["All", "Show all", () => this.show(this.whole)]]) {
      const button = Object.assign(add("button", bar, text), {type: "button", onclick: action});
      button.setAttribute("aria-label", label);
    }
    add("span", bar, "Drag to zoom, with Shift to move; double-click for all. Keys: ← → + − 0");
  }
  show([low, high]) {
    const minimum = (this.whole[1] - this.whole[0]) * 1e-4, width = Math.min(Math.max(high - low, minimum), this.whole[1] - this.whole[0]);
    low = Math.min(Math.max(low, this.whole[0]), this.whole[1] - width);
    this.range = [low, low + width];
    this.panels.forEach(panel => panel.show(this.range));
    this.point(Math.min(Math.max(this.at, low), low + width), false);
  }
  zoom(factor, about = this.at) {
    this.show(this.range.map(edge => about + factor * (edge - about)));
  }
  point(at, announce = true) {
    this.at = at;
    for (const svg of this.figures) {
      const texts = svg.panels.map(panel => panel.point(at, this.range));
      if (announce) svg.output.textContent = `${fixed(at, 3)} s · ${texts.join(" · ")}`;
    }
  }
  listen(svg) {
    svg.tabIndex = 0;
    svg.setAttribute("aria-label", svg.getAttribute("aria-label") + ". Arrow keys read values, plus and minus zoom, 0 shows all.");
    svg.output = add("output", svg.parentNode);
    const panel = svg.panels[0];
    const timeAt = event => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      const share = Math.min(Math.max((at - panel.left) / panel.width, 0), 1);
      return this.range[0] + share * (this.range[1] - this.range[0]);
    };
    let from = null, moving = false;
    svg.onpointerdown = event => { from = timeAt(event); moving = event.shiftKey; svg.setPointerCapture(event.pointerId); };
    svg.onpointermove = event => from !== null && moving ? this.show(this.range.map(edge => edge + from - timeAt(event))) : this.point(timeAt(event));
    svg.onpointerup = event => {
      const to = timeAt(event), [low, high] = [Math.min(from, to), Math.max(from, to)];
      if (from !== null && !moving && high - low > 0.01 * (this.range[1] - this.range[0])) this.show([low, high]);
      from = null;
    };
    svg.onpointercancel = () => { from = null; };
    svg.ondblclick = () => this.show(this.whole);
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;  // else the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
    }, {passive: false});
    svg.onkeydown = event => {
      const width = this.range[1] - this.range[0], direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (direction && event.shiftKey) this.show(this.range.map(edge => edge + direction * width / 4));
      else if (direction) this.point(Math.min(Math.max(this.at + direction * width / 100, this.range[0]), this.range[1]));
      else if (event.key === "+" || event.key === "=") this.zoom(0.5);
      else if (event.key === "-") this.zoom(2);
      else if (event.key === "0" || event.key === "Escape") this.show(this.whole);
      else return;
      event.preventDefault();
    };
  }
}
for (const name of new Set(all("svg[data-link]").map(svg => svg.dataset.link))) new Plots(name);

// Bodies: every mark has its points in space, which are projected again when the view turns.
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
for (const svg of all("svg.body")) {
  const [x0, y0, scale] = numbers(svg.dataset.frame);
  const triples = flat => flat.flatMap((_, i) => i % 3 ? [] : [flat.slice(i, i + 3)]);
  const marks = all("[data-p]", svg).map(mark => [mark, triples(numbers(mark.dataset.p))]);
  let view = triples(numbers(svg.dataset.view));
  const draw = () => {
    const project = p => [x0 + scale * dot(view[0], p), y0 - scale * dot(view[1], p)];
    const labels = marks.filter(([mark]) => mark.tagName === "circle").map(([, [p]]) => [project(p)[0], project(p)[1] + 4, 1]);
    for (const [mark, points] of marks) {
      const projected = points.map(project);
      const names = {path: [], circle: ["cx", "cy"], text: ["x", "y"]}[mark.tagName];
      if (mark.tagName === "text") {  // names of frames below their origins, all apart from others and from dots
        const [at] = projected, size = mark.textContent.length, from = at[1] + (size > 1 ? 12 : 0);
        const hidden = y => labels.some(([u, v, n]) => Math.abs(at[0] - u) < 3.2 * (size + n) && Math.abs(y - v) < 12);
        at[1] = [0, 1, -1, 2, -2, 3, -3, 4, -4].map(k => from + 12 * k).find(y => !hidden(y)) ?? from;
        labels.push([...at, size]);
      }
      names.forEach((name, k) => mark.setAttribute(name, projected[0][k].toFixed(1)));
      if (!names.length) mark.setAttribute("d", "M" + projected.map(p => p.map(v => v.toFixed(1)).join(" ")).join("L"));
    }
  };
  const turn = (right, up) => {  // about the vertical axis of the page, then about its horizontal axis
    const c = Math.cos(right), s = Math.sin(right), C = Math.cos(up), S = Math.sin(up), [a, b, n] = view;
    const across = a.map((v, k) => c * v + s * n[k]), towards = n.map((v, k) => c * v - s * a[k]);
    view = [across, b.map((v, k) => C * v - S * towards[k]), towards.map((v, k) => C * v + S * b[k])];
    draw();
  };
  svg.tabIndex = 0;
  svg.setAttribute("aria-label", svg.getAttribute("aria-label") + ". Arrow keys turn it.");
  svg.onpointerdown = event => svg.setPointerCapture(event.pointerId);
  svg.onpointermove = event => { if (event.buttons) turn(-0.01 * event.movementX, -0.01 * event.movementY); };
  svg.onkeydown = event => {
    const angles = {ArrowLeft: [0.15, 0], ArrowRight: [-0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15]}[event.key];
    if (angles) { turn(...angles); event.preventDefault(); }
  };
}

for (const listing of all("details.copied")) {
  const text = listing.querySelector("pre"), button = Object.assign(add("button", listing, "Copy"), {type: "button"});
  listing.insertBefore(button, text);
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {  // an old browser, or no permission
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = all("details:not([open])");
  folded.forEach(details => { details.open = true; });
});
addEventListener("afterprint", () => folded.forEach(details => { details.open = false; }));
})();
