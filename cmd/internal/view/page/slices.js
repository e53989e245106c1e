// Calls as nested slices below a lane.
import {svg} from './dom.js';
import {seconds, span} from './format.js';

const rowHeight = 15;

// drawSlices draws the calls of a lane below it, and returns how high they are, px.
export function drawSlices(timeline, lane, slices, marks) {
  const top = lane.y + lane.height + 2;
  for (const c of slices.calls) {
    const a = Math.max(timeline.x(timeline.app.place.from), timeline.x(c.from));
    const b = Math.min(timeline.x(timeline.app.place.until), timeline.x(c.until));
    const w = Math.max(1, b - a);
    if (b < a) continue;
    const y = top + c.depth * rowHeight;
    const label = `${c.sym}: ${seconds(c.from)}, ${span(c.until - c.from)}`;
    const open = () => timeline.app.toStep(lane.stream, c.from, c.at);
    const g = svg('g', {class: `slice${c.unsure ? ' unsure' : ''}`, role: 'button', tabindex: '-1', 'data-key': `call${lane.stream}.${c.at}`, 'aria-label': label, onclick: open, onpress: open},
      svg('rect', {x: a, y, width: w, height: rowHeight - 1}), svg('title', {}, label));
    const room = Math.floor((w - 6) / 6.6);
    if (room >= 3) g.append(svg('text', {x: a + 3, y: y + 11, class: 'mono'}, c.sym.length > room ? `${c.sym.slice(0, room - 1)}…` : c.sym));
    marks.push(g);
  }
  return slices.depth * rowHeight + 4;
}
