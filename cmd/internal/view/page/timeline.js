// The lanes: how much ran on each CPU and in each thread, by time, with pokes, traps and gaps.
import {byId, el, svg} from './dom.js';
import {digits, seconds, span, count} from './format.js';
import {follow, get} from './api.js';
import {drawSlices, slicesHeight, slicesOf} from './slices.js';
import {markCall} from './call.js';
import {toThread} from './thread.js';

const names = {'.mark': 'mark', '.mark.gaps': 'gap', '.mark.unsure': 'ambiguous or unconfirmed instruction', '.mark.trap': 'trap', '.mark.poke': 'poke', '.mark.learned': 'code that the trace taught', '.slice': 'call'};
const left = 170; // px: the labels
const axisHeight = 22;
const pokeHeight = 26;
const laneHeight = 44;
const threadHeight = 26;

export class Timeline {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.data = null; // density of what was asked for last
    this.samples = null; // what a few places say of it, while most of it is not decoded yet
    this.slices = null; // calls of the window
    this.allPokes = [];
    this.deep = new Set(); // the lanes that show all rows of calls
    this.drag = null;
    this.opened = new Map(); // by selector: the mark that was opened last
    box.addEventListener('wheel', (e) => this.wheel(e), {passive: false});
    box.addEventListener('pointerdown', (e) => this.down(e));
    box.addEventListener('pointermove', (e) => this.move(e));
    box.addEventListener('pointerup', (e) => this.up(e));
    byId('legend').replaceChildren(...[['sure', 'executed for certain'], ['unsure', 'ambiguous or unconfirmed', '.mark.unsure'], ['gap', 'gap', '.mark.gaps'], ['learned', 'code that the trace taught', '.mark.learned'], ['trap', 'trap', '.mark.trap'], ['poke', 'poke', '.mark.poke']]
      .map(([c, text, marks]) => el('span', {}, el('i', {class: c}), marks ? el('button', {class: 'copy', title: `the next ${text} on screen`, onclick: () => this.open(marks, 1)}, text) : text)));
  }

  async load() {
    const a = await get('pokes', {});
    this.allPokes = a.pokes;
    this.thinned = [a, ...a.guests].some((x) => x.total > x.pokes.length); // then those of the window are asked for
    this.pokes = a;
    this.guests = a.guests;
    this.byIndex = new Map(a.pokes.map((p) => [p.index, p]));
  }

  pokeAt(index) { return this.byIndex.get(index); }

  // width is that of the lanes, px. It is asked for once a picture: to ask lays out the page.
  get width() { return this.wide || Math.max(300, this.box.clientWidth - left - 8); }

  x(t) {
    const {from, until} = this.app.place;
    return left + (t - from) / (until - from) * this.width;
  }

  t(x) {
    const {from, until} = this.app.place;
    return from + Math.min(1, Math.max(0, (x - left) / this.width)) * (until - from);
  }

  // show draws what is known of the window, and asks for the rest.
  show() {
    this.asking = true;
    this.draw();
    clearTimeout(this.timer);
    if (this.wait) this.wait.abort();
    this.timer = setTimeout(() => this.ask(), this.data ? 60 : 0);
  }

  async ask() {
    const {from, until} = this.app.place;
    const all = this.isWhole();
    this.wait = new AbortController();
    const {signal} = this.wait;
    const window = all ? {} : {from, until};
    let first = true;
    try {
      await follow('density', {...window, n: Math.min(2000, this.width)}, signal, (d) => {
        if (d.error) throw new Error(d.error);
        if (d.of === 'samples') this.samples = d;
        else if (first || d.done) this.samples = null;
        first = false;
        this.data = d;
        this.part = d.part;
        if (all && d.done && d.last > this.app.recording.until) {
          this.app.recording.until = d.last; // there is no sync point behind the last one
          this.app.go({until: d.last}, true);
        }
        byId('timecall').textContent = d.command;
        if (!d.done) { this.soon(); return; }
        this.draw();
        this.app.tellGaps(d);
      });
      if (this.thinned) {
        this.pokes = await get('pokes', window, signal);
        this.guests = this.pokes.guests;
        for (const p of this.pokes.pokes) this.byIndex.set(p.index, p);
      }
      this.slices = null;
      if (this.seen() < 60000) this.slices = await get('calls', {from, until}, signal);
      this.asking = false;
      this.draw();
      markCall(this.app);
    } catch (err) {
      if (err.name !== 'AbortError') this.fail(err);
    }
  }

  fail(err) {
    this.asking = false;
    this.box.setAttribute('aria-busy', 'false');
    byId('where').textContent = `${seconds(this.app.place.from)} to ${seconds(this.app.place.until)}: ${err.message}`;
  }

  isWhole() {
    const {from, until} = this.app.place;
    return from === this.app.recording.from && until === this.app.recording.until;
  }

  // seen is how many instructions are on screen, or about how many while that is not known.
  seen() {
    if (!this.data) return Infinity;
    const {from, until} = this.app.place;
    if (this.data.done && (this.isWhole() || this.data.from === from)) return this.data.instructions;
    let n = 0;
    for (const l of this.data.lanes) {
      if (l.stream === undefined) continue;
      l.sure.forEach((v, i) => {
        const t = this.data.from + i * this.data.width;
        if (t + this.data.width >= from && t <= until) n += v;
      });
      for (const [i, v] of l.unsure) {
        const t = this.data.from + i * this.data.width;
        if (t + this.data.width >= from && t <= until) n += v;
      }
    }
    return n;
  }

  // lanes is the lanes in the order in which they stand: CPUs, then threads that ran.
  lanes() {
    const rec = this.app.recording;
    const byKey = new Map();
    for (const l of (this.data || {lanes: []}).lanes) byKey.set(l.stream !== undefined ? `s${l.stream}` : `t${l.tid}`, l);
    const list = rec.streams.map((s) => ({key: `s${s.index}`, label: s.label, stream: s.index, data: byKey.get(`s${s.index}`), height: laneHeight}));
    const threads = [...byKey.values()].filter((l) => l.tid !== undefined && l.instructions > 0).sort((a, b) => b.instructions - a.instructions || a.tid - b.tid);
    for (const l of threads) list.push({key: `t${l.tid}`, label: `${l.comm || 'thread'} ${l.tid}`, tid: l.tid, data: l, height: threadHeight});
    return list;
  }

  // soon draws with the browser's next picture: answers may come faster than pictures.
  soon() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const {place} = this.app;
    this.wide = 0;
    this.wide = this.width;
    const kept = document.activeElement && document.activeElement.closest('#lanes [data-key]');
    const key = kept && kept.dataset.key;
    const lanes = this.lanes();
    const g = svg('svg', {role: 'group', 'aria-label': `lanes from ${seconds(place.from)} to ${seconds(place.until)}`});
    let y = axisHeight + pokeHeight;
    const marks = [];
    const scale = this.scaleOf(lanes, this.mostOf(lanes));
    for (const lane of lanes) {
      const calls = slicesOf(this.slices, lane);
      lane.y = y;
      lane.extra = calls ? drawSlices(this, lane, calls, marks) : 0;
      this.drawLane(g, lane, scale, marks);
      y += lane.height + lane.extra + 4;
    }
    const height = y + 2;
    g.setAttribute('viewBox', `0 0 ${left + this.width + 8} ${height}`);
    g.setAttribute('height', height);
    g.prepend(this.axis(height), this.pokeWindows(height));
    g.append(...marks, this.pokeMarks(), this.cursor(height));
    this.box.replaceChildren(g);
    this.height = height;
    if (key) {
      const again = this.box.querySelector(`[data-key="${CSS.escape(key)}"]`);
      if (again) again.focus({preventScroll: true});
    }
    const d = this.data;
    const where = byId('where');
    const rough = this.samples ? ', pale: estimated from samples' : '';
    const note = !d ? ' – decoding …' : d.done ? '' : ` – decoding, ${Math.floor(this.part * 100)} %${rough}`;
    const sum = !d ? '' : d.of === 'samples' ? `, about ${count(d.instructions, 'instruction')}` : `, ${this.summary()}`;
    const text = `${seconds(place.from)} to ${seconds(place.until)} (${span(place.until - place.from)})${sum}${note}`;
    if (where.textContent !== text) where.textContent = text;
    this.box.setAttribute('aria-busy', String(!d || !d.done || this.asking));
  }

  summary() {
    const n = this.seen();
    let traps = 0;
    let gaps = 0;
    let learned = 0;
    let unsure = 0;
    for (const l of this.data.lanes) {
      if (l.stream !== undefined) for (const m of l.unsure) unsure += m[1];
      for (const m of l.traps) traps += m[1];
      for (const m of l.gaps) gaps += m[1];
      for (const m of l.learned) learned += m[1];
    }
    const {from, until} = this.app.place;
    const pokes = this.thinned ? this.pokes.total : this.allPokes.filter((p) => p.end >= from && p.begin <= until).length;
    return [count(n, 'instruction'), n > 0 && (unsure ? `${digits.format(unsure)} of them ambiguous or unconfirmed` : 'none ambiguous'), count(pokes, 'poke'), count(traps, 'trap'), count(gaps, 'gap'), learned && `${count(learned, 'instruction')} of learned code`].filter(Boolean).join(', ');
  }

  // outside is how many pokes lie before the trace or behind it.
  outside() {
    const {from, until} = this.app.recording;
    return this.thinned ? 0 : this.allPokes.filter((p) => p.end < from || p.begin > until).length;
  }

  // scaleOf makes heights of counts, from 0 to 1. The few columns that stand out end at the lane's
  // edge, and the one in the middle gets a fifth of the height at least.
  scaleOf(lanes, most) {
    const list = lanes.flatMap((l) => (l.columns || []).concat(l.rough || [])).map((c) => c.sure + c.unsure).filter((n) => n > 0).sort((a, b) => a - b);
    const at = (part) => (list.length ? list[Math.floor((list.length - 1) * part)] : 1);
    const top = Math.min(most, at(0.95) * 1.6);
    const middle = at(0.5) / top;
    const power = middle < 0.2 ? Math.max(0.3, Math.log(0.2) / Math.log(middle)) : 1;
    return (n) => Math.min(1, n / top) ** power;
  }

  // mostOf is the highest count of a pixel column, of CPUs and of threads.
  mostOf(lanes) {
    let most = 1;
    const d = this.data;
    for (const lane of lanes) {
      const rough = this.samples && lane.stream !== undefined && this.samples.lanes.find((l) => l.stream === lane.stream);
      if (rough) {
        const known = d.of === 'samples' ? 0 : Math.max(0, Math.floor(this.x(d.last) - left));
        lane.rough = this.columns(this.samples, rough).map((c, i) => (i < known ? {sure: 0, unsure: 0} : c));
      }
      if (lane.data) lane.columns = d.of === 'samples' ? [] : this.columns(d, lane.data);
      for (const c of [...lane.columns || [], ...lane.rough || []]) most = Math.max(most, c.sure + c.unsure);
    }
    return most;
  }

  // columns adds up buckets by pixel; where a bucket is wider it is spread.
  columns(d, l) {
    const n = Math.round(this.width);
    const out = Array.from({length: n}, () => ({sure: 0, unsure: 0}));
    const {from, until} = this.app.place;
    const px = (until - from) / n;
    const unsure = new Map(l.unsure);
    l.sure.forEach((sure, i) => {
      const u = unsure.get(i) || 0;
      if (!sure && !u) return;
      const b = (d.from + (i + 1) * d.width - from) / px;
      if (b < 0 || d.from + i * d.width > until) return;
      const a = Math.min(n - 1, (d.from + i * d.width - from) / px); // what ran as the window ends is on screen
      const first = Math.max(0, Math.floor(a));
      const last = Math.min(n - 1, Math.max(first, Math.ceil(b) - 1));
      const share = 1 / Math.max(1, b - a);
      for (let k = first; k <= last; k++) {
        const part = b - a <= 1 ? (k === first ? 1 : 0) : Math.min(k + 1, b) - Math.max(k, a);
        out[k].sure += sure * share * part;
        out[k].unsure += u * share * part;
      }
    });
    return out;
  }

  drawLane(g, lane, high, marks) {
    const l = lane.data;
    const {y, height} = lane;
    const of = this.data && this.data.of;
    const about = of === 'samples' ? 'about ' : '';
    const info = l ? [about + count(l.instructions, 'instruction'), l.traps.length && count(l.traps.reduce((n, m) => n + m[1], 0), 'trap'), l.gaps.length && count(l.gaps.reduce((n, m) => n + m[1], 0), 'gap')].filter(Boolean).join(', ') : 'not decoded yet';
    // A long name goes on in the second line: core (kind), source.
    const at = height > 30 && lane.label.length > 22 ? lane.label.lastIndexOf(' (') : -1;
    const name = at > 0 ? lane.label.slice(0, at) : lane.label;
    const rest = at > 0 ? lane.label.slice(at + 2).replace(')', '') : '';
    const line = [rest, l && about + count(l.instructions, 'insn')].filter(Boolean).join(', ');
    const lg = svg('g', {class: 'lane', tabindex: '0', role: 'button', 'data-key': lane.key, 'aria-label': `${lane.label}: ${info}`,
      onpress: () => this.openLane(lane, null)},
    svg('text', {x: 4, y: y + 15, 'font-weight': '600'}, short(name, 22)),
    height > 30 && svg('text', {x: 4, y: y + 31, class: 'dim'}, short(line.length > 24 ? line.replace(/ insns?$/, '') : line, 24)),
    svg('rect', {class: 'body', x: left, y, width: this.width, height}),
    svg('title', {}, `${lane.label}: ${info}`));
    if (l) {
      const scale = (n) => high(n) * (height - 8);
      if (lane.rough) lg.append(svg('path', {class: 'rough', d: outline(lane.rough, y + height, (c) => c.sure + c.unsure, scale)}));
      lg.append(svg('path', {class: 'sure', d: outline(lane.columns, y + height, (c) => c.sure + c.unsure, scale)}));
      lg.append(svg('path', {class: 'unsure', d: outline(lane.columns, y + height, (c) => c.unsure, scale, 3)}));
      if (lane.stream !== undefined) this.laneMarks(lane, lg, marks);
    }
    g.append(lg);
  }

  laneMarks(lane, lg, marks) {
    for (const [of, what, y] of [['gaps', (n) => count(n, 'gap'), 0], ['learned', (n) => `${count(n, 'instruction')} of code that the trace taught`, 8], ['unsure', (n) => `${count(n, 'instruction')} ambiguous or unconfirmed`, 13]]) {
      for (const {n, from, until} of this.merged(lane.data[of === 'unsure' ? 'doubts' : of])) {
        const a = this.x(from);
        const w = Math.max(3, this.x(until) - a);
        if (a + w < left || a > left + this.width) continue;
        const x = Math.max(left, a);
        const open = () => this.app.toStep(lane.stream, from, null, {gaps: 'gap', unsure: 'unsure'}[of]);
        marks.push(svg('g', {class: `mark lane ${of}`, role: 'button', tabindex: '-1', 'data-time': from, 'data-key': `${of}${lane.stream}.${from}`, 'aria-label': `${what(n)} on ${lane.label} at ${seconds(from)}`, onclick: open, onpress: open},
          svg('rect', {class: of, x, y: lane.y + y, width: Math.min(w, left + this.width - x), height: of === 'gaps' ? 7 : 4}), svg('title', {}, `${what(n)} from ${seconds(from)}`)));
      }
    }
    this.guestMarks(lane, marks);
    for (const {n, from: time} of this.merged(lane.data.traps)) {
      const x = this.x(time);
      if (x < left || x > left + this.width) continue;
      const y = lane.y + lane.height;
      const open = () => this.app.toStep(lane.stream, time, null, 'trap');
      marks.push(svg('g', {class: 'mark trap', role: 'button', tabindex: '-1', 'data-time': time, 'data-key': `trap${lane.stream}.${time}`, 'aria-label': `${count(n, 'trap')} on ${lane.label} at ${seconds(time)}`, onclick: open, onpress: open},
        svg('rect', {class: 'hit', x: x - 5, y: y - 9, width: 10, height: 11}), svg('path', {d: `M${x - 5} ${y + 1}L${x + 5} ${y + 1}L${x} ${y - 9}Z`}), svg('title', {}, `${count(n, 'trap')} from ${seconds(time)}`)));
    }
  }

  // merged makes one mark of those that lie less than a mark's width apart: of stretches as long
  // as the next one begins so near, of moments those near to the first.
  merged(list) {
    const out = [];
    let end = -Infinity;
    for (const [, n, from, until] of list) {
      const last = out[out.length - 1];
      const near = last && this.x(from) < end;
      if (near) {
        last.n += n;
        if (until !== undefined) last.until = Math.max(last.until, until);
      } else out.push({n, from, until});
      if (!near || until !== undefined) end = Math.max(this.x(from) + 3, this.x(out[out.length - 1].until ?? from));
    }
    return out;
  }

  // guestMarks draws the pokes of a virtual machine in the lane of what ran in it.
  guestMarks(lane, marks) {
    const {guest} = this.app.recording.streams[lane.stream];
    const own = guest && this.guests.find((g) => g.guest === guest);
    if (!own) return;
    let last = -Infinity;
    for (const p of own.pokes) {
      const x = this.x(p.time);
      if (x < left || x > left + this.width || x - last < 5) continue;
      last = x;
      const open = () => this.app.toStep(lane.stream, p.time);
      const label = `poke ${p.index} of guest ${guest}: ${p.sym || p.addr}, ${p.kind}, at ${seconds(p.time)}`;
      marks.push(svg('g', {class: 'mark poke', role: 'button', tabindex: '-1', 'data-time': p.time, 'data-key': `poke${lane.stream}.${p.index}`, 'aria-label': label, onclick: open, onpress: open},
        svg('path', {d: `M${x} ${lane.y + 9}l5 10h-10Z`}), svg('title', {}, label)));
    }
  }

  axis(height) {
    const {from, until} = this.app.place;
    const g = svg('g', {'aria-hidden': 'true'});
    const want = (until - from) / Math.max(2, this.width / 150);
    const unit = 10 ** Math.floor(Math.log10(Math.max(1, want)));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= want) || unit * 10;
    for (let t = from; t <= until; t += step) {
      const x = this.x(t);
      g.append(svg('line', {class: 'grid', x1: x, x2: x, y1: axisHeight - 4, y2: height}), svg('text', {class: 'dim', x: x + 3, y: 14, 'text-anchor': x > left + this.width - 60 ? 'end' : 'start'}, `+${span(t - from)}`));
    }
    g.append(svg('text', {class: 'dim', x: 4, y: 14}, `from ${seconds(from)}`));
    return g;
  }

  // visiblePokes is the pokes on screen, those of one pixel as one.
  visiblePokes() {
    const groups = [];
    for (const p of this.pokes.pokes) {
      const x = this.x(p.time);
      if (x < left - 1 || x > left + this.width + 1) continue;
      const last = groups[groups.length - 1];
      if (last && x - last.x < 5) last.pokes.push(p);
      else groups.push({x, pokes: [p]});
    }
    return groups;
  }

  pokeWindows(height) {
    const g = svg('g', {'aria-hidden': 'true'});
    for (const p of this.pokes.pokes) {
      const a = Math.max(left, this.x(p.begin));
      const b = Math.min(left + this.width, this.x(p.end));
      if (b - a > 1) g.append(svg('rect', {class: 'window', x: a, y: axisHeight, width: b - a, height: height - axisHeight}));
    }
    const p = this.pokeAt(this.app.place.poke);
    if (p && this.x(p.time) >= left && this.x(p.time) <= left + this.width) g.append(svg('line', {class: 'pokeline', x1: this.x(p.time), x2: this.x(p.time), y1: axisHeight, y2: height}));
    return g;
  }

  pokeMarks() {
    const y = axisHeight + 4;
    const groups = this.visiblePokes();
    const g = svg('g', {role: 'group', 'aria-label': `pokes: ${groups.reduce((n, x) => n + x.pokes.length, 0)}`}, svg('text', {x: 4, y: y + 13, 'font-weight': '600'}, 'pokes'));
    for (const {x, pokes} of groups) {
      const p = pokes[0];
      const here = pokes.some((q) => q.index === this.app.place.poke);
      const open = () => {
        if (pokes.length === 1 || !here) this.app.toPoke(p); // several: chosen once more, they are told apart
        else {
          const a = p.time;
          const b = pokes[pokes.length - 1].time;
          const pad = Math.max(1000, (b - a) / 8);
          this.app.go({from: a - pad, until: b + pad, ...this.app.nothing, poke: p.index});
        }
      };
      const label = pokes.length === 1 ? `poke ${p.index}: ${p.sym || p.addr}, ${p.kind}, at ${seconds(p.time)}` : `${pokes.length} pokes, ${p.index} to ${pokes[pokes.length - 1].index}, from ${seconds(p.time)}${here ? ': zoom to them' : ''}`;
      g.append(svg('g', {class: `mark poke${here ? ' here' : ''}`, role: 'button', tabindex: here ? '0' : '-1', 'data-time': p.time, 'data-key': `poke${p.index}`, 'aria-label': label, onclick: open, onpress: open},
        svg('rect', {class: 'hit', x: x - 6, y, width: 12, height: 19}), svg('path', {d: pokes.length === 1 ? `M${x} ${y}l6 13h-12Z` : `M${x} ${y}l6 13h-12Zm0 0m-5 16h10v2h-10Z`}), svg('title', {}, label)));
    }
    return g;
  }

  cursor(height) {
    const {from, until} = this.app.place;
    const time = this.app.moment;
    const g = svg('g', {'aria-hidden': 'true'});
    if (time !== null && time >= from && time <= until) g.append(svg('line', {class: 'cursor', x1: this.x(time), x2: this.x(time), y1: axisHeight, y2: height}));
    if (this.drag && this.drag.to !== undefined) {
      const a = Math.min(this.drag.x, this.drag.to);
      g.append(svg('rect', {class: 'select', x: a, y: axisHeight, width: Math.abs(this.drag.to - this.drag.x), height: height - axisHeight}));
    }
    return g;
  }

  at(e) {
    const r = this.box.getBoundingClientRect();
    return {x: e.clientX - r.left, y: e.clientY - r.top + this.box.scrollTop};
  }

  wheel(e) {
    if (!e.ctrlKey && !e.shiftKey) return; // scrolls the lanes
    e.preventDefault();
    if (e.shiftKey) this.app.pan(Math.sign(e.deltaY || e.deltaX) * 0.1);
    else this.app.zoom(e.deltaY > 0 ? 1.4 : 1 / 1.4, this.t(this.at(e).x));
  }

  down(e) {
    const p = this.at(e);
    if (e.button !== 0 || p.x < left || e.target.closest('.mark, .slice')) return;
    this.drag = {x: p.x, y: p.y};
  }

  move(e) {
    if (!this.drag) return;
    const p = this.at(e);
    if (this.drag.to === undefined && Math.abs(p.x - this.drag.x) < 5) return;
    this.drag.to = Math.min(left + this.width, Math.max(left, p.x));
    this.draw();
  }

  up(e) {
    const d = this.drag;
    this.drag = null;
    if (!d) return;
    if (d.to !== undefined) {
      this.app.go({from: this.t(Math.min(d.x, d.to)), until: this.t(Math.max(d.x, d.to))});
      return;
    }
    const lane = this.lanesDrawn().find((l) => d.y >= l.y && d.y <= l.y + l.height + l.extra);
    if (lane) this.openLane(lane, this.t(d.x));
  }

  lanesDrawn() {
    let y = axisHeight + pokeHeight;
    return this.lanes().map((lane) => {
      const calls = slicesOf(this.slices, lane);
      const out = {...lane, y, extra: calls ? slicesHeight(this, lane, calls) : 0};
      y += out.height + out.extra + 4;
      return out;
    });
  }

  // openLane shows what a lane executed at a time, else at the moment that the panel shows, else
  // first on screen; of a thread, on the CPU where it ran.
  openLane(lane, t) {
    const {place, moment} = this.app;
    const chosen = moment !== null && moment >= place.from && moment <= place.until;
    const column = (place.until - place.from) / this.width;
    if (lane.tid === undefined) this.app.toStep(lane.stream, t !== null ? t : chosen ? moment : Math.max(place.from, this.firstOf(lane)));
    else if (t === null && !chosen) toThread(this.app, lane, place.from, lane.data ? Infinity : column, lane.data ? 'next' : null);
    else toThread(this.app, lane, t !== null ? t : moment, column);
  }

  laneOf(key) { return this.lanes().find((l) => l.key === key); }

  firstOf(lane) { return this.nearest(lane, this.app.place.from); }

  // nearest is the first moment from t on at which a lane executed something, else t.
  nearest(lane, t) {
    if (!lane.data) return t;
    for (let i = Math.max(0, Math.floor((t - this.data.from) / this.data.width)); i < lane.data.sure.length; i++) {
      if (lane.data.sure[i] > 0) return Math.max(t, this.data.from + i * this.data.width);
    }
    return t;
  }

  showThread(tid) { this.openLane(this.laneOf(`t${tid}`) || {tid, label: `thread ${tid}`}, null); }

  // focus goes to the next of what a selector names, or the one before; marks by time.
  focus(selector, way) {
    const list = this.inOrder(selector);
    const i = list.indexOf(document.activeElement);
    const next = list[i < 0 ? 0 : Math.min(list.length - 1, Math.max(0, i + way))];
    if (next) next.focus();
    else this.app.note(`there is no ${names[selector] || 'such mark'} on screen`);
    return next;
  }

  inOrder(selector) {
    const list = [...this.box.querySelectorAll(selector)];
    if (selector.startsWith('.mark')) list.sort((a, b) => Number(a.dataset.time) - Number(b.dataset.time));
    return list;
  }

  // open goes to the next of the marks that a selector names, or the one before, and opens it. A
  // click of the legend takes the focus from the mark that the last one opened, so that is kept.
  open(selector, way) {
    const last = this.opened.get(selector);
    const list = this.inOrder(selector);
    if (last && last.time <= this.app.place.until && list.length && !list.includes(document.activeElement)) {
      const at = list.findIndex((e) => e.dataset.key === last.key);
      const behind = list.filter((e) => Number(e.dataset.time) <= last.time).length; // its mark may have become part of another
      const to = list[at >= 0 ? at + way : way > 0 ? behind : behind - 1];
      if (!to) {
        this.opened.delete(selector);
        this.app.note(`there is no ${names[selector]} ${way > 0 ? 'behind' : 'before'} this on screen; the next click begins with the first`);
        return;
      }
      to.focus();
      this.press(selector, to);
      return;
    }
    const next = this.focus(selector, way);
    if (next) this.press(selector, next);
  }

  press(selector, mark) {
    this.opened.set(selector, {key: mark.dataset.key, time: Number(mark.dataset.time)});
    mark.dispatchEvent(new CustomEvent('press'));
  }
}

// outline is the area under the counts of a lane, as steps of a pixel; none is lower than least.
function outline(columns, bottom, of, scale, least = 1) {
  let d = '';
  let open = false;
  columns.forEach((c, i) => {
    const v = of(c);
    if (v <= 0) {
      if (open) d += `V${bottom}Z`;
      open = false;
      return;
    }
    const y = (bottom - Math.max(least, scale(v))).toFixed(1);
    if (!open) d += `M${left + i} ${bottom}`;
    d += `V${y}h1`;
    open = true;
  });
  return open ? `${d}V${bottom}Z` : d;
}

export function short(s, n) {
  return s.length > n ? `${s.slice(0, n - 1)}…` : s;
}
