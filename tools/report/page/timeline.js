// The timeline: a row for each worker, what it did from left to right. Only what the window shows is handed to the chart,
// and what is narrower than a pixel is drawn as one block with its neighbours, so a million tasks move as easily as ten.
"use strict";
(() => {
const P = window.weirPage;
const most_shapes = 12000, most_arrows = 150;
P.timelines = [];

// Times as differences become times; what ended by then, for finding the first task of a window.
function lanes_of(trace) {
  return trace.lanes.map(lane => {
    const n = lane.begin.length, begin = new Float64Array(n), latest = new Float64Array(n);
    let at = 0, end = 0;
    for (let i = 0; i < n; i++) {
      begin[i] = at += lane.begin[i];
      latest[i] = end = Math.max(end, at + lane.time[i]);
    }
    const sleep = new Float64Array(lane.sleep_begin.length);
    at = 0;
    for (let i = 0; i < sleep.length; i++) sleep[i] = at += lane.sleep_begin[i];
    return {...lane, begin, latest, sleep};
  });
}

function first_after(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}

function mixed(from, to, share) {
  const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
  return "#" + [0, 1, 2].map(i => Math.round(part(from, i) + (part(to, i) - part(from, i)) * share).toString(16).padStart(2, "0")).join("");
}

// What the window [from, to] of rows [top, bottom] holds, as shapes for a width in pixels.
function shapes_in(lanes, {from, to, top, bottom}, width) {
  const visible = bottom - top + 1, pixel = (to - from) / width, least = pixel * Math.max(1.2, width * visible / most_shapes);
  const shapes = [], arrows = [], count = {tasks: 0, blocks: 0, stolen: 0, pushed: 0, from_program: 0};
  for (let row = top; row <= bottom; row++) {
    const lane = lanes[row];
    let block = null;
    const close = () => {
      if (!block) return;
      count.blocks++;
      shapes.push({row, begin: block.begin, end: Math.max(block.end, block.begin + pixel), kind: "block", ...block});
      block = null;
    };
    for (let i = Math.max(0, first_after(lane.sleep, from) - 1); i < lane.sleep.length && lane.sleep[i] < to; i++)
      if (lane.sleep_time[i] >= least && lane.sleep[i] + lane.sleep_time[i] > from) shapes.push({row, begin: lane.sleep[i], end: lane.sleep[i] + lane.sleep_time[i], kind: "sleep"});
    for (let i = first_after(lane.latest, from); i < lane.begin.length && lane.begin[i] < to; i++) {
      const begin = lane.begin[i], time = lane.time[i], end = begin + time;
      if (end < from) continue;
      count.tasks += lane.count[i];
      const origin = lane.origin[i];   // 0: own; 1 and up: stolen, -1 and down: pushed; 1 and -1: by a thread of the program
      if (origin !== 0 && lane.count[i] === 1) {
        count[origin > 0 ? "stolen" : "pushed"]++;
        if (Math.abs(origin) === 1) count.from_program++;
        else arrows.push({at: begin, from: Math.abs(origin) - 2, to: row, kind: origin > 0 ? "steal" : "push"});
      }
      if (time >= least) {
        close();
        shapes.push({row, begin, end, kind: lane.count[i] === 1 ? "task" : "block", index: i, count: lane.count[i], busy: lane.busy[i], local: lane.local[i], bytes: lane.bytes[i]});
        if (lane.count[i] > 1) count.blocks++;
        continue;
      }
      if (block && begin - block.begin > least) close();
      block ??= {begin, end, count: 0, busy: 0, local: 0, bytes: 0};
      block.end = Math.max(block.end, end);
      block.count += lane.count[i];
      block.busy += lane.busy[i];
      block.local += lane.local[i];
      block.bytes += lane.bytes[i];
    }
    close();
  }
  return {shapes, arrows, count};
}

window.weirTimeline = (into, trace, index) => {
  const lanes = lanes_of(trace), workers = lanes.length, id = "timeline-" + index;
  const row_height = Math.max(4, Math.min(26, 620 / workers)), height = Math.max(190, Math.round(workers * row_height) + 110);
  const first_of_node = w => w === 0 || trace.worker_nodes[w - 1] !== trace.worker_nodes[w];
  const labels = trace.worker_nodes.map((node, w) => (first_of_node(w) ? `node ${node}   ` : "") + `worker ${w}`);
  let with_arrows = true, shown = null, chart = null;

  const state = P.element("span", {"aria-live": "polite"});
  const whole = P.element("button", {type: "button"}, "whole run"), toggle = P.element("button", {type: "button", "aria-pressed": "true"}, "arrows");
  const key = (style, text) => P.element("span", {class: "key"}, P.element("span", {class: "swatch", style}), text);
  const legend = P.element("div", {class: "tools"},
    P.element("span", {class: "key"}, "bytes remote ", P.element("span", {class: "ramp"}), " local"),
    key("background:var(--no-bytes)", "task without bytes"), key("background:var(--asleep);height:6px", "asleep"),
    key("background:none;border-top:2px dashed var(--thief);height:0;border-radius:0", "stolen"), key("background:none;border-top:2px solid var(--push);height:0;border-radius:0", "pushed"));
  into.append(P.element("h3", {}, "Workers over time"));
  into.append(P.element("p", {class: "soft"}, "Wheel: zoom; drag: move. The time is from the beginning of the first task."));
  into.append(legend, P.element("div", {class: "tools"}, whole, toggle, state));
  const [, entry] = P.figure(into, {id, label: "Timeline of workers", height, option});

  function view() {
    const zoom = chart ? chart.getOption().dataZoom : [];
    const x = zoom.find(z => z.id === "x-inside"), y = zoom.find(z => z.id === "y-inside");
    const whole_number = (v, d) => Math.round(v ?? d);
    return {
      from: x && x.startValue !== undefined ? x.startValue : 0, to: x && x.endValue !== undefined ? x.endValue : trace.span_ns,
      top: y ? Math.max(0, whole_number(y.startValue, 0)) : 0, bottom: y ? Math.min(workers - 1, whole_number(y.endValue, workers - 1)) : workers - 1,
    };
  }

  function refresh() {
    const v = view();
    shown = shapes_in(lanes, v, Math.max(200, entry.box.clientWidth - 180));
    shown.view = v;
    const {count} = shown, many = shown.arrows.length > most_arrows;
    shown.drawn_arrows = with_arrows && !many ? shown.arrows.length : 0;
    const moves = `${P.format.count(count.stolen)} stolen, ${P.format.count(count.pushed)} pushed` + (count.from_program ? `, of these ${P.format.count(count.from_program)} from threads of the program` : "");
    state.textContent = `${P.time(v.to - v.from)} shown: ${P.format.count(count.tasks)} tasks; ${moves}` + (many && with_arrows ? "; zoom in to see arrows" : "");
    chart.setOption({series: [{id: "shapes", data: shown.shapes.map((s, i) => [s.begin, s.end, s.row, i])}, {id: "arrows", data: shown.drawn_arrows ? shown.arrows.map((a, i) => [a.at, a.from, a.to, i]) : []}]});
  }

  function fields(s) {
    const worker = `worker ${s.row}, node ${trace.worker_nodes[s.row]}`, when = P.time(s.begin) + ", for " + P.time(s.end - s.begin);
    const where = s.bytes > 0 ? [["bytes", P.bytes(s.bytes)], ["of these local", P.percent(s.local / s.bytes)]] : [["bytes", "none"]];
    if (s.kind === "sleep") return ["asleep", [["on", worker], ["from", when]]];
    if (s.kind === "block") return [`${P.format.count(s.count)} tasks`, [["on", worker], ["from", when], ["busy", P.percent(Math.min(1, s.busy / (s.end - s.begin)))], ...where]];
    const lane = lanes[s.row], i = s.index, origin = lane.origin[i], other = Math.abs(origin) - 2;
    const list = [["on", worker], ["from", when], ...where];
    if (lane.home[i] >= 0) list.push(["home", `node ${lane.home[i]}`]);
    if (origin) list.push([origin > 0 ? "stolen from" : "pushed by", other < 0 ? "a thread of the program" : `worker ${other}, node ${trace.worker_nodes[other]}`]);
    if (lane.flags[i] & 1) list.push(["", "within a task that waits"]);
    if (lane.flags[i] & 2) list.push(["", "failed or skipped"]);
    return [trace.names[lane.name[i]].name, list];
  }

  function option() {
    const {base, axis} = P.common();
    const remote = P.css("--remote"), half = P.css("--half"), local = P.css("--local"), no_bytes = P.css("--no-bytes"), asleep = P.css("--asleep"), text = P.css("--text");
    const colours = [...Array(101).keys()].map(i => i < 50 ? mixed(remote, half, i / 50) : mixed(half, local, i / 50 - 1));
    const colour = s => s.kind === "sleep" ? asleep : s.bytes > 0 ? colours[Math.round(100 * s.local / s.bytes)] : no_bytes;
    const bounds = params => ({x: params.coordSys.x, y: params.coordSys.y, width: params.coordSys.width, height: params.coordSys.height});

    function draw_shape(params, api) {
      const s = shown.shapes[api.value(3)];
      if (!s) return null;
      const [x0, y] = api.coord([s.begin, s.row]), x1 = api.coord([s.end, s.row])[0], full = api.size([0, 1])[1];
      const nested = s.kind === "task" && lanes[s.row].flags[s.index] & 1;
      const tall = full * (s.kind === "sleep" ? 0.25 : nested ? 0.46 : 0.8);
      const shape = echarts.graphic.clipRectByRect({x: x0, y: y - tall / 2, width: Math.max(0.8, x1 - x0), height: tall}, bounds(params));
      if (!shape) return null;
      const fill = colour(s), opacity = s.kind === "block" ? Math.max(0.3, Math.min(1, s.busy / (s.end - s.begin))) : 1;
      const rect = {type: "rect", shape, style: {fill, opacity, stroke: shape.width > 5 && tall > 9 && s.kind === "task" ? P.css("--ground") : null, lineWidth: 1}};
      if (s.kind !== "task" || shape.width < 46 || tall < 13) return rect;
      const name = trace.names[lanes[s.row].name[s.index]].name;
      return {type: "group", children: [rect, {type: "text", silent: true, style: {text: name, x: shape.x + 4, y, fill: s.bytes > 0 && s.local / s.bytes < 0.5 ? "#101418" : "#ffffff", font: "11px sans-serif", verticalAlign: "middle", width: shape.width - 8, overflow: "truncate"}}]};
    }

    function draw_arrow(params, api) {
      const a = shown.arrows[api.value(3)];
      if (!a) return null;
      const [x, y0] = api.coord([a.at, a.from]), y1 = api.coord([a.at, a.to])[1], down = y1 > y0 ? 1 : -1;
      const area = params.coordSys;
      if (x < area.x || x > area.x + area.width) return null;
      const inside = y => Math.max(area.y, Math.min(area.y + area.height, y)), stroke = P.css(a.kind === "steal" ? "--thief" : "--push");
      const children = [{type: "line", shape: {x1: x, y1: inside(y0), x2: x, y2: inside(y1)}, style: {stroke, lineWidth: 1.4, lineDash: a.kind === "steal" ? [4, 3] : null}}];
      if (inside(y1) === y1) children.push({type: "polygon", shape: {points: [[x, y1], [x - 3.5, y1 - 7 * down], [x + 3.5, y1 - 7 * down]]}, style: {fill: stroke}});
      return {type: "group", silent: true, children};
    }

    const rows_zoom = workers > 24;
    return {
      ...base,
      grid: {left: 128, right: rows_zoom ? 44 : 18, top: 8, bottom: 84},
      xAxis: {type: "value", min: 0, max: trace.span_ns, ...axis, axisLabel: {...axis.axisLabel, formatter: P.on_axis(P.time), hideOverlap: true, showMaxLabel: false}, splitNumber: 8},
      yAxis: {type: "category", data: labels, inverse: true, ...axis, axisLabel: {...axis.axisLabel, color: text, fontSize: 12, interval: w => row_height >= 13 || first_of_node(w), hideOverlap: true}, axisTick: {show: false},
        splitArea: {show: true, areaStyle: {color: trace.worker_nodes.map(n => n % 2 ? "transparent" : P.css("--panel"))}, interval: 0}},
      dataZoom: [
        {id: "x-inside", type: "inside", xAxisIndex: 0, filterMode: "none", minValueSpan: Math.min(100, trace.span_ns)},
        {id: "x-slider", type: "slider", xAxisIndex: 0, filterMode: "none", bottom: 12, height: 26, labelFormatter: P.time, textStyle: {color: P.css("--soft")}, borderColor: P.css("--line"), showDataShadow: false, minValueSpan: Math.min(100, trace.span_ns)},
        ...(rows_zoom ? [{id: "y-inside", type: "inside", yAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "shift", moveOnMouseWheel: false},
          {id: "y-slider", type: "slider", yAxisIndex: 0, filterMode: "none", right: 8, width: 20, showDetail: false, borderColor: P.css("--line"), showDataShadow: false}] : []),
      ],
      tooltip: {...base.tooltip, trigger: "item", formatter: p => {
        const s = p.seriesId === "shapes" && shown.shapes[p.value[3]];
        if (!s) return "";
        const [title, list] = fields(s);
        return `<b>${P.escaped(title)}</b>` + P.rows(list);
      }},
      series: [
        {id: "shapes", type: "custom", renderItem: draw_shape, encode: {x: [0, 1], y: 2}, data: [], clip: true, progressive: 0},
        {id: "arrows", type: "custom", renderItem: draw_arrow, encode: {x: 0, y: 2}, data: [], silent: true, z: 5, progressive: 0},
      ],
    };
  }

  entry.ready = drawn => {
    chart = drawn;
    let waiting = 0;
    chart.on("datazoom", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(refresh); });
    refresh();
  };
  whole.addEventListener("click", () => { for (const i of chart.getOption().dataZoom.keys()) chart.dispatchAction({type: "dataZoom", dataZoomIndex: i, start: 0, end: 100}); });
  toggle.addEventListener("click", () => {
    with_arrows = !with_arrows;
    toggle.setAttribute("aria-pressed", with_arrows);
    refresh();
  });
  P.timelines.push({entry, state: () => ({...shown.view, ...shown.count, shapes: shown.shapes.length, arrows: shown.drawn_arrows}), shown: () => shown});
};
})();
