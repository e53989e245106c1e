// Calls as nested slices below a lane.
import {svg} from './dom.js';
import {seconds, count, takes} from './format.js';

export const rowHeight = 15;

export function slicesOf(slices, lane) {
  if (!slices) return null;
  const l = slices.lanes.find((x) => (lane.stream !== undefined ? x.stream === lane.stream : x.tid === lane.tid));
  return l && l.calls.length ? l : null;
}

// tint is the class of a function's colour: neighbours are told apart by it.
export function tint(name) {
  let h = 0;
  for (const c of name) h = (h * 31 + c.codePointAt(0)) % 9973;
  return `tint${h % 5}`;
}

// The rows of calls that a lane shows unasked: more would push the lanes below out of sight.
const fewRows = 12;

// slicesHeight is how high the calls of a lane are, px.
export function slicesHeight(timeline, lane, l) {
  return (l.depth <= fewRows + 1 ? l.depth : timeline.deep.has(lane.key) ? l.depth + 1 : fewRows + 1) * rowHeight + 4;
}

// moreRows is the row that shows the deeper calls of a lane, or hides them.
function moreRows(timeline, lane, l, y) {
  const {deep} = timeline;
  const all = deep.has(lane.key);
  const open = () => {
    if (all) deep.delete(lane.key);
    else deep.add(lane.key);
    timeline.draw();
  };
  const text = all ? 'fewer rows' : `… ${l.depth - fewRows} more rows of calls`;
  return svg('g', {class: 'slice more', role: 'button', tabindex: '-1', 'aria-label': `${text} of ${lane.label}`, 'data-key': `more${lane.key}`, onclick: open, onpress: open},
    svg('rect', {x: timeline.x(timeline.app.place.from), y, width: 190, height: rowHeight - 1}), svg('text', {x: timeline.x(timeline.app.place.from) + 3, y: y + 11}, text));
}

// drawSlices draws the calls of a lane below it, and returns how high they are, px.
export function drawSlices(timeline, lane, l, marks) {
  const few = l.depth > fewRows + 1;
  const rows = few && !timeline.deep.has(lane.key) ? fewRows : Infinity;
  const top = lane.y + lane.height + 2;
  const {from, until, fn, fnTime, nth} = timeline.app.place;
  for (const c of l.calls) {
    if (c.depth >= rows) continue;
    const a = timeline.x(Math.max(from, c.from));
    const b = timeline.x(Math.min(until, c.until));
    if (b < a) continue;
    const y = top + c.depth * rowHeight;
    const here = c.addr === fn && c.begin === fnTime && (c.nth || 0) === (nth || 0);
    const label = `${c.sym}, ${c.begin !== undefined ? `from ${seconds(c.begin)}` : 'begun before'}, ${c.took !== undefined ? takes(c) : c.end === undefined ? 'end not seen' : 'ended'}, ${count(c.instructions, 'instruction')}, ${c.how}, ${c.ended}${c.unsure ? ', not all of it certain' : ''}`;
    const open = () => timeline.app.toCall({...c, tid: l.tid});
    const g = svg('g', {class: `slice ${tint(c.sym)}${c.unsure || c.gap ? ' unsure' : ''}${here ? ' here' : ''}`, role: 'button', tabindex: '-1', 'data-key': `call${lane.key}.${c.addr}.${c.from}.${c.nth || 0}`, 'aria-label': label, onclick: open, onpress: open},
      svg('rect', {x: a, y, width: Math.max(1, b - a), height: rowHeight - 1}), svg('title', {}, label));
    const room = Math.floor((b - a - 6) / 7.6);
    if (room >= 3) g.append(svg('text', {x: a + 3, y: y + 11, class: 'mono'}, c.sym.length > room ? `${c.sym.slice(0, room - 1)}…` : c.sym));
    marks.push(g);
  }
  if (few) marks.push(moreRows(timeline, lane, l, top + Math.min(l.depth, rows) * rowHeight));
  return slicesHeight(timeline, lane, l);
}
