"use strict";
const scene = JSON.parse(document.getElementById("scene").textContent);
const canvas = document.getElementById("picture"), pen = canvas.getContext("2d");
const slider = document.getElementById("slider"), play = document.getElementById("play");
const speed = document.getElementById("speed"), clock = document.getElementById("clock");
const count = scene.time.length, duration = scene.time[count - 1] - scene.time[0];
slider.max = count - 1;
let view = scene.view, playing = true, frame = 0, lastTime = null;

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const apply = (M, v) => [dot(M[0], v), dot(M[1], v), dot(M[2], v)];
const columns = M => [0, 1, 2].map(j => [M[0][j], M[1][j], M[2][j]]);
const product = (A, B) => { const c = columns(B); return A.map(row => c.map(col => dot(row, col))); };

function line(points, color, width, alpha) {
  pen.strokeStyle = color; pen.lineWidth = width; pen.globalAlpha = alpha;
  pen.beginPath();
  let drawing = false;
  for (const p of points) {
    if (p === null) { drawing = false; continue; }
    if (drawing) pen.lineTo(p[0], p[1]); else pen.moveTo(p[0], p[1]);
    drawing = true;
  }
  pen.stroke(); pen.globalAlpha = 1;
}

function draw(index) {
  const size = canvas.width, scale = size / 2.45, centre = [size / 2, size / 2 - 0.25 * scale * scene.distance];
  const projected = v => [centre[0] + scale * dot(view[0], v), centre[1] - scale * dot(view[1], v)];
  const thin = size / 700, d = -scene.distance, half = 1.1;
  pen.clearRect(0, 0, size, size);
  const below = view[2][2] < 0;  // view from under the floor, which then covers the body
  const floor = () => {
    pen.fillStyle = "#f4f6f8"; pen.globalAlpha = below ? 0.6 : 1; pen.beginPath();
    for (const [x, y] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) pen.lineTo(...projected([half * x, half * y, d]));
    pen.fill(); pen.globalAlpha = 1;
    for (let k = -4; k <= 4; k++) {
      const x = half * k / 4;
      line([projected([x, -half, d]), projected([x, half, d])], "#e3e8ee", thin, 1);
      line([projected([-half, x, d]), projected([half, x, d])], "#e3e8ee", thin, 1);
    }
    const count = scene.drawn[index], trail = scene.trail.slice(0, count);
    if (count < scene.trail.length) trail.push(scene.contact[index]);
    line(trail.map(projected), "#d1530a", 2 * thin, 1);
  };
  if (!below) floor();
  const r = scene.rotations[index], R = [r.slice(0, 3), r.slice(3, 6), r.slice(6, 9)];
  const body = product(view, R), I = scene.inertia;
  const bodyProjected = v => [centre[0] + scale * dot(body[0], v), centre[1] - scale * dot(body[1], v)];
  // The outline is the ellipse of S I^-1 S^T; its Cholesky factor turns a circle into it.
  const c = (a, b) => body[a][0] * body[b][0] / I[0] + body[a][1] * body[b][1] / I[1] + body[a][2] * body[b][2] / I[2];
  const l11 = Math.sqrt(c(0, 0)), l21 = c(1, 0) / l11, l22 = Math.sqrt(Math.max(c(1, 1) - l21 * l21, 0));
  const outline = [];
  for (let k = 0; k <= 120; k++) {
    const x = Math.cos(k * Math.PI / 60), y = Math.sin(k * Math.PI / 60);
    outline.push([centre[0] + scale * l11 * x, centre[1] - scale * (l21 * x + l22 * y)]);
  }
  pen.fillStyle = "#d6e6f5"; pen.globalAlpha = 0.7; pen.beginPath();
  outline.forEach(p => pen.lineTo(p[0], p[1])); pen.fill(); pen.globalAlpha = 1;
  const facesViewer = v => v[0] * I[0] * body[2][0] + v[1] * I[1] * body[2][1] + v[2] * I[2] * body[2][2] >= 0;
  const curve = (points, color, width) => {
    const front = points.map(facesViewer), projections = points.map(bodyProjected);
    line(projections.map((p, k) => !front[k] || (k > 0 && !front[k - 1]) ? p : null), color, 0.8 * width, 0.25);
    line(projections.map((p, k) => front[k] || (k > 0 && front[k - 1]) ? p : null), color, width, 1);
  };
  scene.curves.forEach(points => curve(points, "#9aa5b1", thin));
  scene.separatrix.forEach(points => curve(points, "#1f2933", 1.3 * thin));
  curve(scene.polhode, "#d1530a", 2.6 * thin);
  line(outline, "#66727f", 1.3 * thin, 1);
  if (below) floor();
  const contact = projected(scene.contact[index]);
  line([projected([0, 0, 0]), contact], "#d1530a", 1.6 * thin, 1);
  pen.fillStyle = "#d1530a"; pen.beginPath(); pen.arc(contact[0], contact[1], 5 * thin, 0, 7); pen.fill();
  clock.textContent = scene.time[index].toFixed(2) + " s";
}

function resize() {
  const width = Math.round(canvas.clientWidth * (window.devicePixelRatio || 1));
  if (canvas.width !== width) { canvas.width = width; canvas.height = width; }
  draw(Math.round(frame));
}

function step(time) {
  if (playing && lastTime !== null) {
    // Real time, but at least ten seconds for the whole motion.
    const rate = (count - 1) / Math.max(duration, 10);
    frame = (frame + Number(speed.value) * rate * (time - lastTime) / 1000) % (count - 1);
    slider.value = Math.round(frame);
    draw(Math.round(frame));
  }
  lastTime = time;
  requestAnimationFrame(step);
}

play.onclick = () => { playing = !playing; play.textContent = playing ? "Pause" : "Play"; };
slider.oninput = () => { frame = Number(slider.value); draw(frame); };
canvas.onpointerdown = e => canvas.setPointerCapture(e.pointerId);
canvas.onpointermove = e => {
  if (!e.buttons) return;
  const a = -0.008 * e.movementX, b = 0.008 * e.movementY, ca = Math.cos(a), sa = Math.sin(a), cb = Math.cos(b), sb = Math.sin(b);
  view = product(view, [[ca, sa, 0], [-sa, ca, 0], [0, 0, 1]]);
  view = product([[1, 0, 0], [0, cb, -sb], [0, sb, cb]], view);
  draw(Math.round(frame));
};
window.onresize = resize;
if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) play.onclick();
resize();
requestAnimationFrame(step);
