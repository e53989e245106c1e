// What the panel shows where nothing is chosen: what to do, and which pokes there are.
import {byId, el, callLine} from './dom.js';
import {count, seconds} from './format.js';
import {get} from './api.js';

let app = null;

export async function showWelcome(of, {firstPoke, keys}) {
  app = of;
  const {box, signal} = app.panelStart(true);
  const {recording, timeline, place} = app;
  const tables = el('div', {class: 'sides'});
  box.replaceChildren(
    el('h2', {}, 'What ran while the code changed'),
    el('p', {class: 'facts'}, 'Click a lane to see its instructions at that moment, a poke (▲) to see how each CPU crossed it, a call to see how long it took. Drag to zoom.'),
    el('div', {class: 'bar'}, recording.pokes ? [el('button', {onclick: firstPoke, title: 'n'}, 'first poke on screen'), el('button', {onclick: () => firstMet(app)}, 'first poke that a CPU met under way')] : null, el('button', {onclick: keys, title: '?'}, 'keys')),
    recording.pokes ? tables : el('p', {}, 'The recording tells of no poke, as a change to the kernel’s code is called here. What ran is in the lanes; the key f draws a flame graph.'));
  box.querySelector('.bar').after(el('div', {id: 'gaps'}));
  tellGaps(timeline.data);
  if (!recording.pokes) return;
  try {
    const whole = timeline.isWhole();
    const a = await get('counts', whole ? {} : {from: place.from, until: place.until}, signal);
    const list = (title, rows) => el('div', {}, el('h3', {}, title), el('table', {}, rows.map(([name, n, of]) => el('tr', {}, el('td', {}, of ? el('button', {class: 'copy', title: 'list them', onclick: () => app.go({...app.nothing, list: of, scope: whole ? null : 'window'})}, name) : name), el('td', {class: 'n'}, n.toLocaleString('en-US'))))));
    tables.replaceChildren(
      list(whole ? `${count(a.total, 'poke')}: changes to the kernel's code` : `${count(a.total, 'poke')} on screen`, a.kinds.map((k) => [k.name, k.n, `kind:${k.name}`])),
      a.threads.length ? list('Made by', a.threads.map((t) => [t.name || t.tid ? `${t.name || 'thread'} ${t.tid}` : 'not known', t.n, t.tid && `tid:${t.tid}`])) : '', el('div', {id: 'traps', hidden: true}));
    tellTraps(timeline.data);
    tables.after(
      whole && timeline.outside() ? el('p', {class: 'dim'}, `${count(timeline.outside(), 'of them was', 'of them were')} made before the trace begins or after it ends.`) : '',
      callLine(a.command));
  } catch (err) {
    if (!signal.aborted) tables.replaceChildren(el('p', {class: 'error'}, err.message));
  }
}

// tellGaps says why there are gaps, and which lanes have traps, where nothing is chosen and that
// is known.
export function tellGaps(density) {
  tellTraps(density);
  const box = byId('gaps');
  if (!box || !density || !density.done) return;
  const {gap_reasons: list = []} = density;
  box.replaceChildren(...(list.length ? [el('h3', {}, 'Gaps: what could not be followed'),
    el('table', {}, list.map((g) => el('tr', {}, el('td', {}, g.reason), el('td', {class: 'n'}, g.n.toLocaleString('en-US')), el('td', {class: 'why'}, g.hint || ''))))] : []));
}

// tellTraps says which CPUs took breakpoint exceptions.
function tellTraps(density) {
  const box = byId('traps');
  if (!box || !density || !density.done) return;
  const lanes = density.lanes.filter((l) => l.stream !== undefined && l.traps.length);
  box.hidden = !lanes.length;
  box.replaceChildren(el('h3', {}, 'Traps: code met while it changed, or probes'), el('table', {}, lanes.map((l) => el('tr', {}, el('td', {}, app.recording.streams[l.stream].label),
    el('td', {class: 'n'}, l.traps.reduce((n, m) => n + m[1], 0).toLocaleString('en-US')),
    el('td', {}, el('button', {class: 'copy', onclick: () => app.toStep(l.stream, l.traps[0][2], null, 'trap')}, `first at ${seconds(l.traps[0][2])}`))))));
}

// firstMet shows the first poke on screen for which a CPU took a trap.
async function firstMet(app) {
  const {data} = app.timeline;
  const traps = (data ? data.lanes : []).flatMap((l) => (l.stream === undefined ? [] : l.traps.map((m) => ({stream: l.stream, time: m[2]}))));
  if (!traps.length) {
    app.note(data && data.done ? 'no CPU met a poke under way on screen' : 'none so far: the window is not decoded yet');
    return;
  }
  const {stream, time} = traps.reduce((a, b) => (b.time < a.time ? b : a));
  try {
    const {steps} = await get('steps', {stream, time, kind: 'trap', before: 0, after: 1});
    const trap = steps.find((s) => s.kind === 'trap');
    const poke = trap && trap.poke !== undefined && !trap.guest && app.timeline.pokeAt(trap.poke);
    if (poke) app.toPoke(poke);
    else app.toStep(stream, time);
  } catch (err) {
    app.note(err.message);
  }
}
