// The page: figures from the data in it. Nothing is fetched.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page"), contents = document.getElementById("contents");
const figures = [];                      // {id, chart, option(), resize?}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- small things

function element(kind, attributes = {}, ...children) {
  const e = document.createElement(kind);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}
const escaped = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const short = text => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");   // of an axis: 1.50 is 1.5, 0 has no unit
const on_axis = how => x => x === 0 ? "0" : short(how(x));
// Steps of 1, 2 or 4 times a power of two: an axis of bytes then has round numbers of KiB, MiB or GiB.
function byte_axis(most) {
  const step = 2 ** Math.ceil(Math.log2(Math.max(most, 1) / 6));
  return {interval: step, max: step * Math.max(1, Math.ceil(most / step))};
}
const digits = (x, n = 3) => x === 0 ? "0" : Math.abs(x) >= 10 ** (n - 1) ? x.toFixed(0) : x.toPrecision(n);
function scaled(x, units) {              // units: [[factor, name], ...] ascending
  let best = units[0];
  for (const unit of units) if (Math.abs(x) >= unit[0]) best = unit;
  return digits(x / best[0]) + " " + best[1];
}
const time = ns => scaled(ns, [[1, "ns"], [1e3, "\u00b5s"], [1e6, "ms"], [1e9, "s"]]);
const bytes = n => scaled(n, [[1, "B"], [1024, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]]);
const percent = x => (100 * x).toFixed(1) + " %";
const format = {
  ns: time, bytes, share: percent, ratio: x => digits(x) + "\u00d7", count: x => Math.round(x).toLocaleString("en").replace(/,/g, "\u202f"),
};
const rows = list => "<table>" + list.map(([name, value]) => `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`).join("") + "</table>";

function table(head, body) {
  const t = element("table"), row = (cells, kind) => element("tr", {}, ...cells.map(c => element(kind, {}, c)));
  t.append(element("thead", {}, row(head, "th")), element("tbody", {}, ...body.map(r => row(r, "td"))));
  return element("div", {class: "scroll"}, t);
}
const numbers = (head, body) => element("details", {}, element("summary", {}, "The numbers"), table(head, body));

let sections = 0;
function section(title, note) {
  const id = "section-" + sections++;
  contents.append(element("a", {href: "#" + id}, title));
  const s = element("section", {}, element("h2", {id}, title));
  if (note) s.append(element("p", {class: "soft"}, note));
  page.append(s);
  return s;
}

// A chart in a figure; option() is asked again when the scheme changes.
function figure(into, {id, title, note, height, label, option}) {
  const box = element("div", {class: "chart", id, role: "img", "aria-label": label || title});
  box.style.height = height + "px";
  const f = element("figure", {}, ...(title ? [element("h3", {}, title)] : []), ...(note ? [element("p", {class: "soft"}, note)] : []), box);
  into.append(f);
  const entry = {id, box, option, chart: null};
  figures.push(entry);
  return [f, entry];
}

// ---- what all charts share

// Colours that differ in lightness, too (after Okabe and Ito); patterns are laid over them.
const palettes = {
  light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a8f98", "#b8a600", "#5b4ea3", "#3d4450"],
  dark: ["#4aa8e8", "#f0b030", "#2fc79a", "#e29cc6", "#8fd0f5", "#f08040", "#a9b0bb", "#d9c94a", "#9a8fe0", "#cfd5de"],
};
const dark = () => document.documentElement.dataset.scheme === "dark";
const colours = () => palettes[dark() ? "dark" : "light"];
function common() {
  const text = css("--text"), soft = css("--soft"), line = css("--line");
  const axis = {axisLine: {show: true, lineStyle: {color: line}}, axisLabel: {color: soft}, splitLine: {lineStyle: {color: line, opacity: 0.6}}, nameTextStyle: {color: soft}, axisTick: {lineStyle: {color: line}}};
  return {
    axis,
    base: {
      animation: false, backgroundColor: "transparent", color: colours(), textStyle: {color: text, fontFamily: getComputedStyle(document.body).fontFamily},
      tooltip: {confine: true, backgroundColor: css("--panel"), borderColor: line, textStyle: {color: text, fontSize: 13}},
      legend: {textStyle: {color: text}, top: 0, left: 0, type: "scroll", itemWidth: 26, itemHeight: 13, pageTextStyle: {color: soft}, pageIconColor: soft},
    },
  };
}

// ---- grouped bars with error bars

function bars(into, c, index) {
  const horizontal = c.groups.length * c.series.length > 60;
  const height = horizontal ? 90 + c.groups.length * Math.max(34, c.series.length * 9) : 330;
  const [f] = figure(into, {
    id: "bars-" + index, title: c.title, note: c.note, height,
    option() {
      const {base, axis} = common();
      const categories = {type: "category", data: c.groups, ...axis, axisLabel: {...axis.axisLabel, color: css("--text"), interval: 0, hideOverlap: false, rotate: !horizontal && c.groups.length > 9 ? 30 : 0}, splitLine: {show: false}, inverse: horizontal};
      const most = Math.max(0, ...c.series.flatMap(s => s.values.map(v => v ? v.high : 0)));
      const values = {type: "value", min: 0, max: c.unit === "share" ? 1 : undefined, ...(c.unit === "bytes" ? byte_axis(most) : {}), ...axis, axisLabel: {...axis.axisLabel, formatter: on_axis(format[c.unit])}, name: c.axis, nameLocation: "middle", nameGap: horizontal ? 30 : 62};
      const bar = c.series.map(s => ({
        name: s.name, type: "bar", barGap: "8%", barCategoryGap: "24%", data: s.values.map(v => v ? v.median : null), itemStyle: {borderColor: css("--ground"), borderWidth: 0.5},
      }));
      // The whiskers of all series in one: from the lowest to the highest run.
      const whiskers = {
        name: "lowest to highest run", type: "custom", z: 5, silent: true, legendHoverLink: false, itemStyle: {color: css("--text")}, tooltip: {show: false},
        data: c.series.flatMap((s, k) => s.values.flatMap((v, g) => v && v.n > 1 ? [[g, v.low, v.high, k]] : [])),
        renderItem(params, api) {
          const shown = api.currentSeriesIndices().filter(i => i < c.series.length), place = shown.indexOf(api.value(3));
          if (place < 0) return null;
          const slot = api.barLayout({barGap: "8%", barCategoryGap: "24%", count: shown.length})[place];
          const g = api.value(0), at = v => { const p = horizontal ? api.coord([v, g]) : api.coord([g, v]); p[horizontal ? 1 : 0] += slot.offsetCenter; return p; };
          const a = at(api.value(1)), b = at(api.value(2)), w = Math.min(5, slot.width / 2.5), style = {stroke: css("--text"), lineWidth: 1.3, fill: null};
          const across = p => horizontal ? {x1: p[0], y1: p[1] - w, x2: p[0], y2: p[1] + w} : {x1: p[0] - w, y1: p[1], x2: p[0] + w, y2: p[1]};
          return {type: "group", children: [{type: "line", shape: {x1: a[0], y1: a[1], x2: b[0], y2: b[1]}, style}, {type: "line", shape: across(a), style}, {type: "line", shape: across(b), style}]};
        },
        encode: horizontal ? {x: [1, 2], y: 0} : {x: 0, y: [1, 2]},
      };
      return {
        ...base, aria: {enabled: true, decal: {show: true}}, legend: {...base.legend, data: c.series.map(s => s.name)},
        grid: {left: horizontal ? 10 : 88, right: 16, top: 46, bottom: horizontal ? 46 : 12, containLabel: horizontal || true, ...(horizontal ? {} : {left: 34})},
        xAxis: horizontal ? values : categories, yAxis: horizontal ? categories : values,
        tooltip: {...base.tooltip, trigger: "axis", axisPointer: {type: "shadow"}, formatter: hits => {
          const g = hits[0].dataIndex;
          return `<b>${escaped(c.groups[g])}</b>` + rows(c.series.flatMap(s => s.values[g] ? [[s.name, describe(c, s.values[g])]] : []));
        }},
        series: [...bar, whiskers],
      };
    },
  });
  f.append(numbers([c.axis, ...c.series.map(s => s.name)], c.groups.map((g, k) => [g, ...c.series.map(s => s.values[k] ? describe(c, s.values[k]) : "-")])));
}
const describe = (c, v) => format[c.unit](v.median) + (v.n > 1 ? ` (${format[c.unit](v.low)} to ${format[c.unit](v.high)}, ${v.n} runs${v.deviation === null ? "" : ", deviation " + format[c.unit](v.deviation)})` : "");

// ---- node x node

function heat(into, trace, index) {
  const n = trace.nodes, cells = [];
  let all = 0, most = 0;
  for (let w = 0; w < n; w++) for (let m = 0; m < n; m++) {
    const sum = trace.bytes_read[w][m] + trace.bytes_written[w][m];
    cells.push([m, w, sum]);
    all += sum;
    most = Math.max(most, sum);
  }
  const side = Math.min(560, Math.max(180, n * (n > 12 ? 20 : 46)));
  const names = [...Array(n).keys()].map(String);
  const [f] = figure(into, {
    id: "heat-" + index, title: "Bytes accessed, node by node", height: side + 120,
    note: "Rows: the node of the worker; columns: the node of the memory. On the diagonal accesses are local.",
    option() {
      const {base, axis} = common();
      const share = v => all ? (100 * v / all).toFixed(v / all >= 0.0995 ? 0 : 1) : "0";
      return {
        ...base, aria: {enabled: true},
        grid: {left: 70, right: 130, top: 10, bottom: 60},
        xAxis: {type: "category", data: names, ...axis, name: "node of the memory", nameLocation: "middle", nameGap: 30, splitArea: {show: false}},
        yAxis: {type: "category", data: names, inverse: true, ...axis, name: "node of the worker", nameLocation: "middle", nameGap: 36},
        visualMap: {min: 0, max: most || 1, calculable: false, orient: "vertical", right: 0, top: "middle", itemHeight: Math.min(200, side * 0.7), formatter: bytes, textStyle: {color: css("--soft")}, text: [bytes(most), "0"],
          inRange: {color: dark() ? ["#1d2733", "#24507a", "#4a8fc0", "#b9d5a0", "#ffe680"] : ["#f4f6f2", "#cfe0b8", "#6fb0b8", "#2f6fa5", "#17315c"]}, showLabel: true},
        tooltip: {...base.tooltip, formatter: p => {
          const [m, w] = p.value;
          return `<b>node ${w} accesses node ${m}</b>` + rows([["read", bytes(trace.bytes_read[w][m])], ["written", bytes(trace.bytes_written[w][m])], ["of all bytes", percent(all ? p.value[2] / all : 0)]]);
        }},
        series: [{type: "heatmap", data: cells.map(value => ({value, label: {color: (value[2] > 0.55 * most) === dark() ? "#10151c" : "#ffffff"}})), label: {show: n <= 12, formatter: p => p.value[2] < 0.0005 * all ? "" : share(p.value[2]) + " %", fontSize: 11},
          itemStyle: {borderColor: css("--ground"), borderWidth: n <= 32 ? 1 : 0}, emphasis: {itemStyle: {borderColor: css("--text"), borderWidth: 2}}}],
      };
    },
  });
  f.append(numbers(["worker \\ memory", ...names], names.map((w, i) => [w, ...names.map((m, k) => bytes(cells[i * n + k][2]))])));
}

// ---- memory in buffers

function memory(into, trace, index) {
  if (!trace.buffers.length) return;
  // All curves at the same moments, so that they can be stacked: each keeps its value until its next sample.
  const moments = [...new Set(trace.buffers.flatMap(b => b.times))].sort((a, b) => a - b);
  const most = 3000, step = Math.max(1, Math.ceil(moments.length / most));
  const times = moments.filter((_, i) => i % step === 0 || i === moments.length - 1);
  const curve = b => {
    let i = -1;
    return times.map(t => { while (i + 1 < b.times.length && b.times[i + 1] <= t) i++; return [t, i < 0 ? 0 : b.bytes[i]]; });
  };
  const curves = trace.buffers.map(b => ({name: b.name, data: [[0, 0], ...curve(b), [Math.max(trace.span_ns, times.at(-1)), b.bytes.at(-1)]]}));
  const highest = Math.max(0, ...curves[0].data.map((_, i) => curves.reduce((sum, c) => sum + c.data[i][1], 0)));
  figure(into, {
    id: "memory-" + index, title: "Memory in version buffers", height: 330, note: "Stacked by node. Exact to 64 KiB for each worker.",
    option() {
      const {base, axis} = common();
      return {
        ...base, aria: {enabled: true, decal: {show: curves.length > 1 && curves.length <= 10}},
        grid: {left: 20, right: 20, top: curves.length > 1 ? 46 : 20, bottom: 46, containLabel: true},
        legend: {...base.legend, show: curves.length > 1},
        xAxis: {type: "value", min: 0, max: trace.span_ns, ...axis, axisLabel: {...axis.axisLabel, formatter: on_axis(time), showMaxLabel: false}, name: "time since the first task", nameLocation: "middle", nameGap: 28},
        yAxis: {type: "value", min: 0, ...byte_axis(highest), ...axis, axisLabel: {...axis.axisLabel, formatter: on_axis(bytes)}},
        dataZoom: [{type: "inside", filterMode: "none"}],
        tooltip: {...base.tooltip, trigger: "axis", formatter: hits => `<b>at ${time(hits[0].value[0])}</b>` + rows([...hits.map(h => [h.seriesName, bytes(h.value[1])]), ...(hits.length > 1 ? [["all", bytes(hits.reduce((sum, h) => sum + h.value[1], 0))]] : [])].slice(0, 30))},
        series: curves.map(c => ({name: c.name, type: "line", step: "end", stack: "all", symbol: "none", lineStyle: {width: 1}, areaStyle: {opacity: 0.75}, data: c.data})),
      };
    },
  });
}

// ---- the rest of the page

function summary(into, trace) {
  const head = ["tasks", "count", "median", "longest", "total", "locality", "stolen", "pushed"];
  into.append(table(head, trace.names.map(t => [t.name, format.count(t.count), time(t.median_ns), time(t.longest_ns), time(t.total_ns), t.locality === null ? "-" : percent(t.locality), format.count(t.stolen), format.count(t.pushed)])));
}

function draw() {
  for (const f of figures) {
    if (f.chart) f.chart.dispose();
    f.chart = echarts.init(f.box, null, {renderer: "canvas"});
    f.chart.setOption(f.option());
    if (f.ready) f.ready(f.chart);
  }
}

function choose_scheme(name) {
  document.documentElement.dataset.scheme = name;
  draw();
}

window.weirPage = {data, figures, figure, section, element, common, css, time, bytes, percent, rows, escaped, table, numbers, format, on_axis};

addEventListener("DOMContentLoaded", () => {
  let bar = 0;
  for (const group of data.groups) {
    const s = section(group.title, group.note);
    for (const c of group.charts) bars(s, c, bar++);
    for (const text of group.not_drawn ?? []) s.append(element("p", {class: "soft"}, text));
  }
  data.traces.forEach((trace, i) => {
    const s = section(trace.title, trace.note);
    summary(s, trace);
    window.weirTimeline(s, trace, i);
    const pair = element("div", {class: "pair"});
    s.append(pair);
    heat(pair, trace, i);
    memory(pair, trace, i);
  });
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("scheme").addEventListener("click", () => choose_scheme(dark() ? "light" : "dark"));
  preferred.addEventListener("change", () => choose_scheme(preferred.matches ? "dark" : "light"));
  addEventListener("resize", () => figures.forEach(f => f.chart && f.chart.resize()));
  choose_scheme(preferred.matches ? "dark" : "light");
});
})();
