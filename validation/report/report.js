// Draws report.json: cards, tables and charts. Everything is text or canvas made here; nothing is fetched.
"use strict";
(() => {  // a scope of its own: window has names like `top`
const report = JSON.parse(document.getElementById("report").textContent);
const main = document.getElementById("main");

// ---- small builders
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children.flat()) node.append(child instanceof Node ? child : String(child ?? ""));
  return node;
}
const number = (x, digits = 3) => typeof x !== "number" ? (x ?? "–") :
  x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(2) : Number(x.toPrecision(digits + 1)).toString();
const percent = x => typeof x === "number" ? (100 * x).toFixed(2) + " %" : "–";
const kind = { E0: "good", E1: "good", E2: "good", E3: "note", E4: "note", E5: "bad", U: "bad", pass: "good", fail: "bad", undecided: "note" };
// Names break behind '/' and '_' only.
const breakable = s => String(s ?? "").replace(/([\/_])/g, "$1\u200b");
const name = s => el("code", {}, breakable(s));
// Plain words for a value of the report that has no table of its own.
const prose = v => Array.isArray(v) ? v.map(prose).join(", ") :
  v && typeof v === "object" ? Object.entries(v).map(([k, x]) => `${k.replaceAll("_", " ")} ${prose(x)}`).join(", ") :
  typeof v === "number" ? number(v) : String(v ?? "–").replaceAll("-before-", " before ");
const badge = v => el("span", { class: "badge " + (kind[v] || "") }, v);
const card = (label, value, note) => el("div", { class: "card" }, el("span", { class: "soft" }, label), el("b", {}, value), el("span", { class: "soft" }, note || ""));
const section = (title, note) => main.append(el("h2", {}, title), ...(note ? [el("p", { class: "soft" }, note)] : []));

/// columns: [heading, row -> cell, numeric?]
function table(rows, columns, limit = 400) {
  if (!rows.length) { main.append(el("p", { class: "soft" }, "None.")); return; }
  const head = el("tr", {}, columns.map(([title, , n]) => el("th", n ? { class: "n" } : {}, title)));
  const body = rows.slice(0, limit).map(row => el("tr", {}, columns.map(([, cell, n]) => el("td", n ? { class: "n" } : {}, cell(row)))));
  main.append(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, body))));
  if (rows.length > limit) main.append(el("p", { class: "soft" }, `${rows.length - limit} more rows are in report.json.`));
}

let charts;
function chart(title, config) {
  if (!charts) { charts = el("div", { class: "charts" }); main.append(charts); }
  const canvas = el("canvas", { role: "img", "aria-label": title });
  charts.append(el("div", { class: "chart" }, el("h3", {}, title), el("div", {}, canvas)));
  config.options = Object.assign({ responsive: true, maintainAspectRatio: false, animation: false }, config.options);
  new Chart(canvas, config);
}
const colors = ["#2563a8", "#c2570c", "#1a7f4b", "#7c3aed", "#b42318", "#0f766e", "#8a6100", "#64748b"];
const short = s => s.length > 26 ? "…" + s.slice(-25) : s;

// ---- head
const q = report.quantization || {}, accuracy = report.accuracy || {}, performance = report.performance || {};
main.append(el("h1", {}, "Assay report: ", (report.model || {}).file || ""),
  el("p", {}, "Verdict ", badge((report.verdict || {}).status), " ", (report.verdict || {}).summary || ""),
  el("p", { class: "soft" }, `assay ${(report.tool || {}).version || ""} · data: ${(report.data || {}).source || ""}` +
    ((report.data || {}).synthetic ? " (synthetic: no claim about task accuracy)" : "") +
    ` · ${(report.machine || {}).cpu || ""}, ${(report.machine || {}).isa || ""}, ${(report.machine || {}).threads || "?"} threads`));

const verdicts = {};
for (const f of report.fusions || []) verdicts[f.verdict] = (verdicts[f.verdict] || 0) + 1;
const cards = el("div", { class: "cards" });
const top = accuracy.top1 || {};
for (const [form, label] of [["original", "Top-1 original"], ["fused", "Top-1 fused"], ["int8", "Top-1 INT8"], ["onednn_int8", "Top-1 INT8 on oneDNN"]])
  if (typeof top[form] === "number") cards.append(card(label, percent(top[form]), form === "original" ? `${accuracy.samples} samples` : ""));
cards.append(card("Fusions judged", (report.fusions || []).length, Object.entries(verdicts).sort().map(([v, n]) => `${n} × ${v}`).join(", ")));
if (q.coverage) cards.append(card("MACs in INT8", percent(q.coverage.macs_int8), q.scheme || ""));
const layers = q.layers || [];
const db = x => typeof x === "number" ? x : x === "exact" ? 160 : null;
const worst = layers.filter(l => l.sqnr_db && typeof l.sqnr_db.cumulative === "number").sort((a, b) => a.sqnr_db.cumulative - b.sqnr_db.cumulative)[0];
if (worst) cards.append(card("Worst INT8 layer", number(worst.sqnr_db.cumulative) + " dB", worst.node || worst.output));
main.append(cards);

// ---- accuracy
if ((accuracy.metrics || []).length || accuracy.agreement) {
  section("Accuracy", accuracy.note);
  const forms = ["original", "fused", "int8", "onednn_unfused", "onednn_fused", "onednn_int8"];
  table(accuracy.metrics || [], [["metric", m => m.name], ...forms.map(f => [f.replace("_", " "), m => m.unit === "share" ? percent((m.values || {})[f]) : number((m.values || {})[f], 5), true]),
    ["drop int8", m => percent((m.drop || {}).int8), true],
    ["95 % interval of the drop", m => m.ci95_paired && m.ci95_paired.int8 ? m.ci95_paired.int8.map(percent).join(" to ") : "–", true]]);
  if (accuracy.agreement) table(Object.entries(accuracy.agreement), [["agreement with the original", r => r[0].replace("_", " ")], ["same answer", r => percent(r[1]), true]]);
}

// ---- fusions
section("Fusions", "One verdict per fused instance, judged on the original's own tensors.");
table(report.fusions || [], [["verdict", f => badge(f.verdict)], ["rule", f => breakable(f.rule)], ["output", f => name(f.output)],
  ["nodes", f => name((f.nodes || []).join(", "))], ["proof", f => breakable(f.proof && typeof f.proof === "object" ? Object.entries(f.proof).map(([k, v]) => `${k}: ${prose(v)}`).join("; ") : prose(f.proof))],
  ["constants: budget used", f => number((f.constants || {}).budget_use), true], ["max ULP", f => number((f.rounding || {}).max_ulp), true],
  ["bound used", f => percent((f.rounding || {}).bound_usage), true], ["oneDNN: bound used", f => percent((f.onednn || {}).bound_usage), true]]);
const folds = (report.fusions || []).flatMap(f => ((f.constants || {}).resolution || []).map(r => ({ ...r, recipe: f.constants.recipe })));
if (folds.length) {
  section("What the constants cannot reveal", "Per folded batch normalization: which arithmetic made its constants, and which errors would leave all of them inside their budget.");
  table(folds, [["normalization", r => name(r.node)], ["recipe", r => r.recipe || "–"], ["epsilon off by", r => number(r.d_epsilon), true],
    ["gamma off by (relative)", r => number(r.d_gamma_relative), true], ["mean off by", r => number(r.d_mean), true], ["", r => r.note]]);
}
const bisection = report.bisection || {};
for (const run of bisection.runs || []) {
  section(`Bisection: which instance moves the result (${run.evaluation})`, run.note || bisection.note);
  if (run.note) continue;
  main.append(el("p", {}, `All instances fused: max abs ${number(run.whole.max_abs)}, max ULP ${number(run.whole.max_ulp)}, ${run.whole.different} of ${run.elements} outputs differ.`));
  table(run.instances, [["share", i => percent(i.share), true], ["verdict", i => badge(i.verdict)], ["rule", i => breakable(i.rule)], ["output", i => name(i.output)],
    ["one-only: max abs", i => number(i.one_only.max_abs), true], ["one-only: max ULP", i => number(i.one_only.max_ulp), true],
    ["all but this: max abs", i => number(i.leave_one_out.max_abs), true], ["all but this: max ULP", i => number(i.leave_one_out.max_ulp), true]]);
}
if ((report.declined || []).length) {
  section("Why not", "Near-matches that were refused, with the failed condition and the smallest edit that would make it pass.");
  table(report.declined, [["rule", d => breakable(d.rule)], ["node", d => name(d.node)], ["reason", d => d.reason], ["edit", d => d.edit || ""]]);
}

// ---- quantization
if (layers.length) {
  section("INT8, layer by layer", q.note);
  charts = null;
  const labels = layers.map(l => short(l.output));
  chart("SQNR per layer (dB, higher is better; exact drawn at 160)", { type: "line", data: { labels, datasets: [
    { label: "cumulative (as run)", data: layers.map(l => db((l.sqnr_db || {}).cumulative)), borderColor: colors[0], backgroundColor: colors[0], tension: 0, spanGaps: true },
    { label: "isolated (golden inputs)", data: layers.map(l => db((l.sqnr_db || {}).isolated)), borderColor: colors[1], backgroundColor: colors[1], tension: 0, spanGaps: true }] },
    options: { scales: { x: { ticks: { minRotation: 40, maxRotation: 60, autoSkip: true, font: { size: 10 } } }, y: { title: { display: true, text: "dB" } } } } });
  const names = [...new Set(layers.flatMap(l => Object.keys(l.causes || {})))];
  if (names.length) chart("Loss split by cause (share of each layer's error energy)", { type: "bar", data: { labels, datasets: names.map((n, i) => ({
    label: n.replaceAll("_", " "), data: layers.map(l => (l.causes || {})[n] ?? 0), backgroundColor: colors[i % colors.length] })) },
    options: { scales: { x: { stacked: true, ticks: { minRotation: 40, maxRotation: 60, font: { size: 10 } } }, y: { stacked: true } } } });
  table(layers, [["node", l => name(l.node)], ["output", l => name(l.output)], ["SQNR isolated", l => number((l.sqnr_db || {}).isolated), true],
    ["SQNR cumulative", l => number((l.sqnr_db || {}).cumulative), true], ["cosine", l => number(l.cosine, 6), true], ["max error", l => number(l.max_abs), true],
    ["max LSB", l => number(l.max_lsb), true], ["clipped", l => percent(l.clip_rate), true], ["oneDNN codes equal", l => l.onednn ? `${l.onednn.mismatches} of ${l.onednn.compared} differ` : "–"]]);
  section("Left in float", "Operators that are not quantized, with the reason.");
  table((q.coverage || {}).left_in_float || [], [["node", o => name(o.node)], ["operator", o => o.op], ["reason", o => o.reason]]);
}

// ---- error histogram
const histograms = report.histograms || {};
if (Object.keys(histograms).length) {
  section("Error of the network's outputs", "Counts of |form − original| by power of two; the first bar is exact equality.");
  charts = null;
  const first = Object.values(histograms)[0];
  chart("Error histogram", { type: "bar", data: { labels: first.bins, datasets: Object.entries(histograms).map(([form, h], i) => ({ label: form.replaceAll("_", " "), data: h.counts, backgroundColor: colors[i % colors.length] })) },
    options: { scales: { x: { ticks: { autoSkip: true, maxRotation: 60, font: { size: 10 } } }, y: { type: "logarithmic", title: { display: true, text: "elements" } } } } });
}

// ---- performance
if ((performance.runs || []).length) {
  section("Performance", performance.note);
  charts = null;
  chart("Median latency (ms per batch)", { type: "bar", data: { labels: performance.runs.map(r => `${r.form} · ${r.backend}`.replaceAll("_", " ")), datasets: [{ label: "ms", data: performance.runs.map(r => r.median_ms), backgroundColor: colors[0] }] },
    options: { indexAxis: "y", plugins: { legend: { display: false } }, scales: { x: { type: "logarithmic" } } } });
  table(performance.runs, [["form", r => r.form], ["back end", r => r.backend], ["median ms", r => number(r.median_ms), true], ["P90 ms", r => number(r.p90_ms), true], ["runs", r => r.samples, true]]);
}

// ---- kernels: the roofline, layer by layer, and what each fusion saves
const steps = performance.layers || [], roof = performance.roofline;
const intensity = l => 2 * l.macs / l.bytes;
function roofLine(peak) {
  const ridge = peak / roof.gbytes_per_s;
  return [0.1, ridge, Math.max(1000, 2 * ridge)].map(x => ({ x, y: Math.min(peak, x * roof.gbytes_per_s) }));
}
function roofPoints(form) {
  return steps.filter(l => l.form === form && l.gflops && l.bytes > 0).map(l => ({ x: intensity(l), y: l.gflops, node: l.node || l.value }));
}
if (roof && steps.length) {
  section("Roofline of oneDNN's kernels", `Measured here: ${number(roof.f32_gflops)} GFLOP/s float32, ${number(roof.int8_gops)} GOP/s INT8, ${number(roof.gbytes_per_s)} GB/s. ` +
    "A layer to the left of the bend is limited by memory, to the right by arithmetic; small layers stay in the caches and may lie above the slope.");
  charts = null;
  const line = (label, peak, color) => ({ label, data: roofLine(peak), borderColor: color, showLine: true, pointRadius: 0, borderDash: [6, 4], tension: 0 });
  const dots = (label, form, color) => ({ label, data: roofPoints(form), backgroundColor: color, pointRadius: 4 });
  chart("Layers against the measured roofline", { type: "scatter", data: { datasets: [
    dots("float32 layers", "fused", colors[0]), dots("INT8 layers", "int8", colors[1]),
    line("float32 roof", roof.f32_gflops, colors[0]), line("INT8 roof", roof.int8_gops, colors[1])] },
    options: { plugins: { tooltip: { callbacks: { label: t => `${t.raw.node || t.dataset.label}: ${number(t.raw.x)} operations per byte, ${number(t.raw.y)} G/s` } } },
      scales: { x: { type: "logarithmic", title: { display: true, text: "operations per byte" } }, y: { type: "logarithmic", title: { display: true, text: "10⁹ operations per second" } } } } });
  table([...steps].sort((a, b) => b.ms - a.ms), [["form", l => l.form], ["layer", l => name(l.node || l.value)], ["operator", l => breakable(l.op)], ["kernel", l => breakable(l.kernel)],
    ["ms", l => number(l.ms), true], ["G operations/s", l => number(l.gflops), true], ["share of the roof", l => percent(l.roofline_share), true]], 40);
}
if ((performance.fusions || []).length) {
  section("What each fusion saves", "Calls, bytes read and written, and median time of the steps it replaces, unfused and fused program run in turn.");
  table(performance.fusions, [["rule", f => breakable(f.rule)], ["output", f => name(f.output)], ["calls saved", f => number(f.calls_saved), true],
    ["bytes saved", f => number(f.bytes_saved), true], ["before, ms", f => number(f.before_ms), true], ["after, ms", f => number(f.after_ms), true]], 60);
}

// ---- gates and coverage
section("Gates");
table(report.gates || [], [["result", g => badge(g.result)], ["gate", g => el("code", {}, g.id)], ["value", g => g.shown ?? number(g.value), true], ["wanted", g => `${g.op} ${g.limit}`], ["note", g => g.note || ""]]);
section("Coverage", "What was compared, aligned, undecided and skipped.");
table(Object.entries(report.coverage || {}), [["what", r => r[0].replaceAll("_", " ")], ["", r => prose(r[1])]]);
if ((report.verdict || {}).reproducer) main.append(el("p", {}, "Reproduce with ", el("code", {}, report.verdict.reproducer)));
})();
