// One poke: old and new code, who made it, and how each CPU crossed it.
import {el, svg, callLine} from './dom.js';
import {bounds, seconds, secondsOf, span, count} from './format.js';
import {get} from './api.js';
import {short} from './timeline.js';
import {Play, kinds, toMoment} from './play.js';

export async function showStory(app) {
  const {box, signal} = app.panelStart();
  try {
    const s = await get('poke', {n: app.place.poke}, signal);
    app.lastPoke = s.mark.index;
    app.play = new Play(app, s, signal);
    box.replaceChildren(...story(app, s));
    app.play.mark(app.place.step);
    app.timeline.draw();
  } catch (err) {
    app.panelError(err);
  }
}

function story(app, s) {
  const p = s.poke;
  const to = (n, label, key) => el('button', {disabled: n === undefined, onclick: () => app.toPoke(app.timeline.pokeAt(n) || {index: n, time: s.mark.time}), title: key}, label);
  const who = [p.comm && `by ${p.comm}`, p.tid && `thread ${p.tid}`, p.cpu !== undefined && `on CPU ${p.cpu}`].filter(Boolean).join(', ');
  const scheme = p.under ? `${p.scheme} under ${p.under}` : p.scheme;
  return [
    el('h2', {}, `Poke ${p.index}: ${p.sym || p.addr}`),
    el('div', {class: 'bar'}, to(s.previous, '← previous', 'p'), to(s.next, 'next →', 'n'), to(s.before, 'before at this place'), to(s.after, 'after at this place'),
      ...zooms(app, s)),
    el('p', {class: 'facts'}, `${p.kind} (${scheme}) at ${seconds(s.mark.time)}${who ? `, ${who}` : ''}. Address ${p.addr}. `,
      p.valid ? (p.old ? 'The old code is what was there.' : 'There was no code of it before.') : el('span', {class: 'error'}, `The record does not fit: the code was ${p.have}, it says ${p.want}.`)),
    el('div', {class: 'sides code'}, side('old code', 'old', s.old), side('new code', 'new', s.new)),
    el('h3', {}, 'How each CPU crossed it'),
    s.crossed.length ? crossing(app, s) : el('p', {}, 'No traced CPU executed the old code or the new.'),
    s.crossed.length ? table(app, s) : null,
    s.crossed.length ? never(app, s) : null,
    ...app.play.part(),
    ...madeFrom(p.path),
    ...ranThrough(p.threads),
    callLine(s.command),
  ].filter(Boolean);
}

// zooms is the buttons that zoom: to what is drawn of the crossing, to the change alone, and to
// all of the crossing where some of it lies far away.
function zooms(app, s) {
  const to = (label, lo, hi, title) => el('button', {onclick: () => app.go({from: lo, until: hi}), title}, label);
  const {lo, hi, first, last} = reach(s);
  const pad = (last - first) / 20;
  return [to('zoom to how it was crossed', lo, hi, 'z'), to('zoom to the change alone', s.mark.begin - 3000, s.mark.end + 3000),
    first < lo || last > hi ? to('zoom to all of it', first - pad, last + pad) : null];
}

// reach is the axis on which a crossing is drawn, and the first and the last moment of it.
function reach(s) {
  const known = s.crossed.flatMap((c) => kinds.map(([key]) => c[key])).filter((m) => m && (m.lo !== 0 || m.hi !== undefined));
  const first = Math.min(s.mark.begin, s.mark.time, ...known.map((m) => m.lo));
  const last = Math.max(s.mark.end, s.mark.time, ...known.map((m) => m.lo));
  // What lies far away is drawn at the edge, with an arrow.
  const near = known.map((m) => Math.abs(m.lo - s.mark.time)).sort((a, b) => a - b);
  const far = Math.max(2000, (near[Math.floor(near.length / 2)] || 0) * 4, (s.mark.end - s.mark.begin) * 2);
  const lo = Math.max(first, s.mark.time - far);
  const hi = Math.min(last, s.mark.time + far);
  const pad = Math.max(100, (hi - lo) / 20);
  return {lo: lo - pad, hi: hi + pad, first, last};
}

function side(title, name, lines) {
  return el('div', {class: name}, el('h3', {}, title),
    lines.length ? el('table', {}, lines.map((l) => el('tr', {class: l.changed ? 'changed' : ''}, el('td', {class: 'code'}, l.addr), el('td', {class: 'code'}, l.bytes || '??'), el('td', {class: 'code'}, l.insn)))) : el('p', {}, 'no code is known'));
}

const ends = {user: 'entered from user space there', switch: 'another thread ran before', gap: 'the flow before could not be followed', start: 'the trace begins there', limit: 'more is not looked for'};

// madeFrom is the calls from which the change was made, the innermost first.
function madeFrom(path) {
  if (!path) return [];
  return [
    el('h3', {}, path.at === 'record' ? 'Made from (where its record was written)' : 'Made from (where the flow was at about that time)'),
    el('table', {}, path.frames.map((f) => el('tr', {}, el('td', {class: 'code'}, secondsOf(f.time)), el('td', {class: 'code'}, f.sym || f.addr), el('td', {}, f.interrupted ? 'interrupted' : ''), el('td', {}, f.verdict)))),
    el('p', {class: 'dim'}, ends[path.end] || path.end),
  ];
}

// ranThrough is the threads that executed the place of the change.
function ranThrough(threads) {
  if (!threads || !threads.length) return [];
  return [
    el('h3', {}, 'Threads that ran through it'),
    el('table', {}, el('tr', {}, ['thread', 'old', 'traps', 'new'].map((h) => el('th', {scope: 'col'}, h))),
      threads.map((t) => el('tr', {}, el('th', {scope: 'row'}, `${t.comm || (t.tid === undefined ? 'not known' : 'thread')} ${t.tid === undefined ? '' : t.tid}`), el('td', {}, String(t.old)), el('td', {}, String(t.traps)), el('td', {}, String(t.new))))),
  ];
}

// never names the CPUs that executed neither the old code nor the new.
function never(app, s) {
  const others = app.recording.streams.filter((x) => !x.guest && !s.crossed.some((c) => c.stream === x.index));
  return others.length ? el('p', {class: 'dim'}, `Never came there: ${others.slice(0, 16).map((x) => x.label).join(', ')}${others.length > 16 ? `, and ${others.length - 16} more` : ''}.`) : null;
}

function name(app, c) { return app.recording.streams[c.stream].label; }

// crossing draws all CPUs on one axis of time.
function crossing(app, s) {
  const list = s.crossed;
  const known = list.flatMap((c) => kinds.map(([k]) => c[k]).filter(Boolean));
  if (!app.recording.timed || known.every((m) => m.lo === 0 && m.hi === undefined)) return el('p', {}, 'The trace has no times.');
  const {lo, hi} = reach(s);
  const width = 900;
  const label = 180;
  const row = 34;
  const x = (t) => label + (Math.min(hi, Math.max(lo, t)) - lo) / (hi - lo) * (width - label - 20);
  const height = 30 + list.length * row + 8;
  const g = svg('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': `how the CPUs crossed poke ${s.poke.index}`});
  g.append(svg('rect', {class: 'window', x: x(s.mark.begin), y: 22, width: Math.max(2, x(s.mark.end) - x(s.mark.begin)), height: height - 24}),
    svg('line', {class: 'pokeline', x1: x(s.mark.time), x2: x(s.mark.time), y1: 18, y2: height}),
    svg('text', {x: x(s.mark.time) + 4, y: 13}, `recorded ${seconds(s.mark.time)}`),
    svg('text', {class: 'dim', x: 4, y: 13}, span(hi - lo)));
  list.forEach((c, i) => {
    const y = 30 + i * row;
    g.append(svg('text', {x: 4, y: y + 18}, short(name(app, c), 26)), svg('line', {class: 'grid', x1: label, x2: width - 20, y1: y + 14, y2: y + 14}));
    for (const [key, what, color] of kinds) {
      const m = c[key];
      if (!m || key === 'last_trap' && c.traps < 2) continue;
      const far = m.lo < lo || m.lo > hi;
      const open = () => toMoment(app, s.mark, c.stream, key, m.lo);
      const at = svg('g', {class: 'mark', 'data-moment': `${key}${c.stream}`, role: 'button', tabindex: '0', 'aria-label': `${name(app, c)}: ${what} at ${bounds(m)}, ${m.verdict}`, onclick: open, onpress: open});
      const cx = x(m.lo);
      const path = svg('path', {d: far ? (m.lo < lo ? `M${cx - 7} ${y + 14}l9 -7v14Z` : `M${cx + 7} ${y + 14}l-9 -7v14Z`) : key.includes('trap') ? `M${cx} ${y + 6}l7 13h-14Z` : `M${cx - 6} ${y + 8}h12v12h-12Z`});
      path.style.fill = `var(${color})`;
      if (m.hi !== undefined && m.hi > m.lo && !far) {
        const bar = svg('rect', {x: cx, y: y + 12, width: Math.max(1, x(m.hi) - cx), height: 4, opacity: .5});
        bar.style.fill = `var(${color})`;
        at.append(bar);
      }
      at.append(path, svg('title', {}, `${what}: ${bounds(m)}, ${m.verdict}`));
      g.append(at);
    }
  });
  return el('div', {}, g, el('p', {class: 'dim shapes'},
    el('span', {class: 'old'}, '■'), ' last old, ', el('span', {class: 'trap'}, '▲'), ' traps, ', el('span', {class: 'new'}, '■'), ' first new; bars are the bounds of the moment; ◀ ▶ lie farther away'));
}

function table(app, s) {
  const at = (c, m, key) => (m ? el('button', {class: 'copy', onclick: () => toMoment(app, s.mark, c.stream, key, m.lo), 'aria-label': `instructions at ${seconds(m.lo)}`}, bounds(m)) : '–');
  return el('table', {},
    el('tr', {}, ['', 'old', 'last old', 'traps', 'first trap', 'last trap', 'new', 'first new', 'settled by'].map((h) => el('th', {scope: 'col'}, h))),
    s.crossed.map((c) => el('tr', {}, el('th', {scope: 'row'}, name(app, c)), el('td', {}, count(c.old, 'time')), el('td', {}, at(c, c.last_old, 'last_old')), el('td', {}, String(c.traps)),
      el('td', {}, at(c, c.first_trap, 'first_trap')), el('td', {}, c.traps > 1 ? at(c, c.last_trap, 'last_trap') : '–'), el('td', {}, count(c.new, 'time')), el('td', {}, at(c, c.first_new, 'first_new')),
      el('td', {class: /ambiguous|unconfirmed/.test(c.verdict) ? 'unsureword' : ''}, c.verdict))));
}
