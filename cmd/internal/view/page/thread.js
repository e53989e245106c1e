// What a thread executed next to a moment, on whatever CPU.
import {seconds, span} from './format.js';

// toThread shows the instruction of a lane's thread that is nearest to a time, and says so where it
// is farther than some time that nobody sees, near. With way only what ran from then on counts.
export function toThread(app, lane, time, near, way) {
  const at = Math.round(time);
  return app.look('thread', {tid: lane.tid, time: at, way}, (a) => {
    app.toStep(a.stream, a.step.time, a.step.at);
    if (Math.abs(a.far) <= near) return;
    const where = app.recording.streams[a.stream].label;
    app.note(`nothing of ${lane.label} ran at ${seconds(at)}: the nearest is ${span(a.far)} ${a.far < 0 ? 'before' : 'later'}, on ${where}`);
  }, `the trace shows nothing of ${lane.label}`);
}
