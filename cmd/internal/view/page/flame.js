// A flame graph of the window: the deeper a function was called, the lower it stands.
import {el, svg, callLine} from './dom.js';
import {seconds, count} from './format.js';
import {get} from './api.js';
import {tint} from './slices.js';

const rowHeight = 17;

let known = {}; // what was counted last

export async function showFlame(app, anyway) {
  const {from, until, flame} = app.place; // flame is the functions that lead to the one that is shown
  const key = JSON.stringify([from, until]);
  const {box, signal} = app.panelStart(known.key === key);
  const most = 2e8; // instructions that are counted unasked
  if (!anyway && known.key !== key && app.timeline.seen() > most && app.recording.bytes > 2e8) {
    box.replaceChildren(el('p', {}, `The window has about ${count(app.timeline.seen(), 'instruction')}. `, el('button', {onclick: () => showFlame(app, true)}, 'count them all')));
    return;
  }
  try {
    if (known.key !== key) known = {key, a: await get('flame', app.timeline.isWhole() ? {} : {from, until}, signal)};
    const a = known.a;
    const path = [];
    let root = a.root;
    for (const name of flame) {
      const inner = root.inside.find((n) => n.sym === name);
      if (!inner) break; // it did not run in this window
      path.push(name);
      root = inner;
    }
    box.replaceChildren(...[
      el('h2', {}, `What ran from ${seconds(from)} to ${seconds(until)}`),
      el('div', {class: 'bar'}, el('button', {disabled: !path.length, onclick: () => app.go({flame: []})}, 'all of it'),
        root.addr ? el('button', {onclick: () => app.toExecution(root, 'next', from, {call: true})}, `calls of ${root.sym}`) : null,
        el('span', {class: 'dim'}, 'width: instructions, with those of callees; click a function to see what it called')),
      path.length < flame.length ? el('p', {role: 'status'}, `${flame[path.length]} is not called there in this window.`) : null,
      a.root.total ? picture(box, root, (inner) => app.go({flame: [...path, ...inner]})) : el('p', {}, 'Nothing was executed here.'),
      a.root.total ? el('h3', {}, 'The hottest functions, those that they called apart') : null,
      a.root.total ? el('table', {class: 'hot'}, el('tr', {}, ['function', 'instructions', 'share', 'calls'].map((h) => el('th', {scope: 'col'}, h))), a.hot.map((f) => el('tr', {},
        el('td', {}, el('button', {class: 'copy', onclick: () => app.toExecution(f, 'next', Math.max(0, from - 1), {call: true})}, f.sym)),
        ...[f.self.toLocaleString('en-US'), `${(100 * f.self / a.root.total).toFixed(1)} %`, f.calls.toLocaleString('en-US')].map((n) => el('td', {class: 'n'}, n))))) : null,
      callLine(a.command),
      a.root.total ? el('p', {class: 'dim'}, 'Thunks only lead on for a call or a return. Here, as in that command, they count for the function that they belong to; ptdecode hot counts them apart.') : null].filter(Boolean));
  } catch (err) {
    app.panelError(err);
  }
}

// picture draws root and what it called. open is given the functions that lead from root to the one
// that was chosen.
function picture(box, root, open) {
  const width = Math.max(300, box.clientWidth - 30);
  const g = svg('svg', {width, role: 'group', 'aria-label': 'flame graph'});
  let depth = 0;
  const draw = (n, x, w, row, path) => {
    depth = Math.max(depth, row + 1);
    const part = (100 * n.total / root.total).toFixed(1);
    const label = `${n.sym}: ${count(n.total, 'instruction')}, ${part} %, ${count(n.calls, 'call')}, ${count(n.self, 'instruction')} of its own`;
    const act = () => open(path);
    const box = svg('g', {class: `slice ${tint(n.sym)}`, role: 'button', tabindex: w > 40 ? '0' : '-1', 'aria-label': label, onclick: act, onpress: act},
      svg('rect', {x, y: row * rowHeight, width: Math.max(0.5, w - 0.5), height: rowHeight - 1}), svg('title', {}, label));
    const room = Math.floor((w - 6) / 7.6);
    if (room >= 3) box.append(svg('text', {x: x + 3, y: row * rowHeight + 12, class: 'mono'}, n.sym.length > room ? `${n.sym.slice(0, room - 1)}…` : n.sym));
    g.append(box);
    let at = x;
    for (const k of n.inside) {
      const kw = w * k.total / n.total;
      if (kw >= 0.7) draw(k, at, kw, row + 1, [...path, k.sym]);
      at += kw;
    }
  };
  draw(root, 0, width, 0, []);
  g.setAttribute('height', depth * rowHeight);
  return g;
}
