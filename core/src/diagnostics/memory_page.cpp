#include "diagnostics/memory_page.hpp"

namespace ferry::memory_page {

const std::string_view before_data = R"page(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>ferry: memory</title>
<style>
  body { font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1c2733; background: #fff; margin: 2em auto;
         max-width: 1160px; padding: 0 1.5em; }
  h1 { font-size: 1.5em; margin: 0 0 .2em; } h2 { font-size: 1.15em; margin: 1.8em 0 .3em; }
  p { margin: .3em 0 .8em; color: #46525e; } canvas { width: 100%; display: block; }
  table { border-collapse: collapse; } td, th { padding: .2em 1.2em .2em 0; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  td:first-child, th:first-child { text-align: left; white-space: normal; } th { border-bottom: 1px solid #b8c2cc; font-weight: 600; }
  .key { display: inline-block; margin-right: 1.4em; } .key i { display: inline-block; width: .9em; height: .9em; margin-right: .4em;
         vertical-align: -.08em; border: 1px solid #0003; }
  #tip { position: fixed; pointer-events: none; background: #1c2733; color: #fff; padding: .3em .6em; border-radius: 3px;
         font-size: 13px; display: none; white-space: pre; }
</style>
<h1>Memory</h1>
<div id="page"></div>
<div id="tip"></div>
<script type="application/json" id="data">)page";

const std::string_view after_data = R"page(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page"), tip = document.getElementById("tip");
const palette = ["#3b78b8", "#e08a2e", "#4a9e5c", "#c2504d", "#8663ab", "#8a6a50", "#d277a8", "#6d7780", "#a9a534", "#35a3b1"];
const plain = "#8fa5bb", kept = "#c9b98f", free = "#eef1f4";

function text_of(bytes) {
  for (const [unit, shift] of [["TiB", 40], ["GiB", 30], ["MiB", 20], ["KiB", 10]])
    if (bytes >= 2 ** shift) return (bytes / 2 ** shift).toPrecision(4) + " " + unit;
  return bytes + " bytes";
}
function add(parent, tag, text) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  return parent.appendChild(e);
}
function row(table, cells, tag) { const tr = add(table, "tr"); for (const c of cells) add(tr, tag, c); }
const colours = new Map();  // by label; names before tags, most bytes first
for (const l of data.usage.labels) if (!colours.has(l.label)) colours.set(l.label, palette[colours.size % palette.length]);
const label_of = (tag, name) => data.labels[name] || data.labels[tag] || "";
const colour_of = label => label ? colours.get(label) || plain : plain;

function canvas(height) {
  const c = add(page, "canvas"), width = page.clientWidth, scale = window.devicePixelRatio || 1;
  c.width = width * scale; c.height = height * scale; c.style.height = height + "px";
  const g = c.getContext("2d");
  g.scale(scale, scale); g.font = "13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
  return [c, g, width];
}
function show(c, find) {
  c.addEventListener("mousemove", e => {
    const box = c.getBoundingClientRect(), text = find(e.clientX - box.left, e.clientY - box.top);
    tip.style.display = text ? "block" : "none";
    tip.textContent = text || "";
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px"; tip.style.top = e.clientY + 14 + "px";
  });
  c.addEventListener("mouseleave", () => tip.style.display = "none");
}
// A step of 1, 2 or 5 times a power of the base, for about `count` of them in `most`.
function step_of(most, count, base) {
  let s = base === 2 ? 2 ** Math.floor(Math.log2(Math.max(most / count, 1))) : 10 ** Math.floor(Math.log10(most / count));
  for (let i = 0; most / s > count; ++i) s *= base === 10 && i % 3 === 1 ? 2.5 : 2;
  return s;
}

function devices() {
  const table = add(page, "table");
  row(table, ["Device", "Kind", "In use", "Arrays", "Kept", "Reserved", "At most", "Largest free"], "th");
  for (const d of data.usage.devices) for (const k of d.kinds)
    if (k.kind === "device" || k.total_arrays || k.reserved_bytes)
      row(table, [k.kind === "device" ? d.device + " (" + d.name + ", " + text_of(d.total_bytes) + ", " + text_of(d.free_bytes) + " free)" : "",
                  k.kind, text_of(k.current_bytes), k.arrays, text_of(k.retained_bytes), text_of(k.reserved_bytes), text_of(k.peak_bytes),
                  text_of(k.largest_free_bytes)], "td");
  if (!data.usage.labels.length) return;
  add(page, "h2", "Tags and names");
  const labels = add(page, "table");
  row(labels, ["", "In use", "Arrays", "At most"], "th");
  for (const l of data.usage.labels.slice(0, 20))
    row(labels, [(l.is_tag ? "tag " : "") + l.label, text_of(l.current_bytes), l.arrays, text_of(l.peak_bytes)], "td");
}

// Bytes in use, and bytes reserved, over the time of the recording.
function history(kind, device) {
  const events = data.history.filter(e => e[2] === kind && e[3] === device);
  if (!events.length) return;
  const before = data.before.find(b => b.kind === kind && b.device === device) || {allocated_bytes: 0, reserved_bytes: 0};
  let used = before.allocated_bytes, held = before.reserved_bytes;
  const points = [[data.history[0][0], used, held]];
  for (const [t, what, , , , bytes] of events) {
    if (what === "allocate") used += bytes; else if (what === "free") used -= bytes;
    else if (what === "reserve") held += bytes; else held -= bytes;
    points.push([t, used, held]);
  }
  points.push([data.history[data.history.length - 1][0], used, held]);
  add(page, "h2", "Over time: " + kind + " memory of device " + device);
  const keys = add(page, "p");
  for (const [colour, text] of [["#3b78b8", "in use by arrays"], ["#c9d6e3", "reserved by pools"]]) {
    const k = add(keys, "span"); k.className = "key"; add(k, "i").style.background = colour; k.append(text);
  }
  const [c, g, width] = canvas(260), left = 92, bottom = 228, top = 10, right = width - 12;
  const t0 = points[0][0], t1 = Math.max(points[points.length - 1][0], t0 + 1e-6);
  const most = Math.max(1, ...points.map(p => Math.max(p[1], p[2])));
  const x = t => left + (t - t0) / (t1 - t0) * (right - left), y = b => bottom - b / most * (bottom - top);
  function area(index, colour) {
    g.beginPath(); g.moveTo(left, bottom);
    let last = y(points[0][index]);
    g.lineTo(left, last);
    for (const p of points) { g.lineTo(x(p[0]), last); last = y(p[index]); g.lineTo(x(p[0]), last); }
    g.lineTo(right, last); g.lineTo(right, bottom); g.closePath(); g.fillStyle = colour; g.fill();
  }
  area(2, "#c9d6e3"); area(1, "#3b78b8");
  g.fillStyle = "#46525e"; g.strokeStyle = "#0002"; g.textAlign = "right"; g.textBaseline = "middle";
  for (let b = 0, s = step_of(most, 5, 2); b <= most; b += s) {
    g.fillText(text_of(b), left - 8, y(b)); g.beginPath(); g.moveTo(left, y(b)); g.lineTo(right, y(b)); g.stroke();
  }
  g.textAlign = "center"; g.textBaseline = "top";
  const unit = t1 - t0 >= 1 ? [1, "s"] : t1 - t0 >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  for (let t = 0, s = step_of(t1 - t0, 8, 10); t <= t1 - t0; t += s)
    g.fillText(+(t * unit[0]).toPrecision(3) + " " + unit[1], Math.min(x(t0 + t), right - 14), bottom + 8);
  show(c, px => {
    const t = t0 + (px - left) / (right - left) * (t1 - t0);
    if (px < left || px > right) return "";
    let p = points[0];
    for (const q of points) if (q[0] <= t) p = q;
    return "after " + ((p[0] - t0) * unit[0]).toFixed(3) + " " + unit[1] + "\nin use " + text_of(p[1]) + "\nreserved " + text_of(p[2]);
  });
}

// Each segment of the backend is a bar as long as its bytes; bars too long for a line go on in the next.
function blocks(pool) {
  const segments = [];
  for (const b of pool.blocks) { if (b[3] || !segments.length) segments.push([]); segments[segments.length - 1].push(b); }
  const sizes = segments.map(s => s.reduce((n, b) => n + b[1], 0));
  const sum = test => pool.blocks.reduce((n, b) => n + (test(b) ? b[1] : 0), 0);
  const total = sizes.reduce((a, b) => a + b, 0), used = sum(b => !b[2] && !b[6]), aside = sum(b => b[6]);
  const fill_of = b => b[2] ? free : b[6] ? kept : colour_of(label_of(b[4], b[5]));
  add(page, "h2", "Blocks: " + pool.kind + " memory of device " + pool.device);
  add(page, "p", segments.length + (segments.length === 1 ? " segment" : " segments") + " with " + text_of(total) + ", of which " + text_of(used) +
      " (" + (100 * used / total).toFixed(1) + " %) are in use" +
      (aside ? ", and " + text_of(aside) + " kept by workspaces or in quarantine" : "") + ". Each line is one segment, from low to high addresses.");
  const keys = add(page, "p"), seen = new Map();
  for (const b of pool.blocks) if (!b[2]) seen.set(label_of(b[4], b[5]), fill_of(b));
  for (const label of [...seen.keys()].sort().slice(0, 24)) {
    const k = add(keys, "span"); k.className = "key"; add(k, "i").style.background = seen.get(label);
    k.append(label || "without a label");
  }
  const k = add(keys, "span"); k.className = "key"; add(k, "i").style.background = free; k.append("free");
  const order = segments.map((s, i) => i).sort((a, b) => sizes[b] - sizes[a]).slice(0, 200);
  const line = 26, [c, g, width] = canvas(order.length * line + 4), left = 92, room = width - left - 4, boxes = [];
  const largest = Math.max(...sizes);
  order.forEach((i, n) => {
    const top = n * line + 2, height = line - 6, scale = Math.max(room * sizes[i] / largest, 24) / sizes[i];
    g.fillStyle = "#46525e"; g.textAlign = "right"; g.textBaseline = "middle"; g.fillText(text_of(sizes[i]), left - 8, top + height / 2);
    let at = left;
    for (const b of segments[i]) {
      const w = b[1] * scale, label = label_of(b[4], b[5]);
      g.fillStyle = fill_of(b); g.fillRect(at, top, Math.max(w, .5), height);
      if (w > 3) { g.strokeStyle = b[2] ? "#c4ccd4" : "#fff"; g.strokeRect(at + .5, top + .5, w - 1, height - 1); }
      g.fillStyle = b[2] ? "#7a8691" : b[6] ? "#1c2733" : "#fff"; g.textAlign = "left";
      const text = b[2] ? "" : label;
      if (text && g.measureText(text).width + 10 < w) g.fillText(text, at + 5, top + height / 2);
      boxes.push([at, top, w, height, b, label]);
      at += w;
    }
  });
  show(c, (px, py) => {
    for (const [x, y, w, h, b, label] of boxes) if (px >= x && px < x + w && py >= y && py < y + h)
      return (b[2] ? "free" : label || "without a label") + "\n" + text_of(b[1]) + " (" + b[1] + " bytes)\nat 0x" + b[0].toString(16);
    return "";
  });
}

const places = new Set(data.history.map(e => e[2] + "|" + e[3]));
function draw() {
  page.replaceChildren();
  if (data.history.length) add(page, "p", data.history.length + " events" +
      (data.forgotten_events ? ", after " + data.forgotten_events + " that were forgotten" : "") + ".");
  devices();
  for (const d of data.usage.devices) for (const kind of d.kinds.map(k => k.kind))
    if (places.has(kind + "|" + d.device)) history(kind, d.device);
  for (const p of data.pools) blocks(p);
}
draw();
let drawn = page.clientWidth;  // stretched pictures are hard to read
addEventListener("resize", () => { if (page.clientWidth !== drawn) { drawn = page.clientWidth; draw(); } });
</script>
</html>
)page";

}  // namespace ferry::memory_page
