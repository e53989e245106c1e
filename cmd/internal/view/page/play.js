// A poke as steps: the moments of its story in order of time, one after the other.
import {byId, el} from './dom.js';
import {seconds, span} from './format.js';

const pause = 1400; // ms a step is shown while it plays

export const kinds = [['last_old', 'last old', '--old'], ['first_trap', 'first trap', '--trap'], ['last_trap', 'last trap', '--trap'], ['first_new', 'first new', '--new']];

// moments is what a story tells of moments, by their lower bounds.
export function moments(app, s) {
  const insn = (lines) => (lines.find((l) => l.changed) || {insn: 'code that is not known'}).insn;
  const text = {
    last_old: (cpu) => `${cpu} executed the old code for the last time: ${insn(s.old)}`,
    first_trap: (cpu, n) => `${cpu} met the breakpoint and took a trap${n > 1 ? `, the first of ${n}` : ''}`,
    last_trap: (cpu, n) => `${cpu} took the last of ${n} traps`,
    first_new: (cpu) => `${cpu} executed the new code for the first time: ${insn(s.new)}`,
  };
  const list = [{time: s.mark.time, text: `The change was recorded${s.poke.comm ? `, made by ${s.poke.comm}` : ''}`}];
  if (s.mark.begin < s.mark.time) list.push({time: s.mark.begin, text: `From here on a CPU may meet the new code${/bp|kprobe|xmc/.test(s.poke.scheme) ? ', or a breakpoint' : ''}`});
  if (s.mark.end > s.mark.time) list.push({time: s.mark.end, text: 'From here on no CPU meets the old code'});
  for (const c of s.crossed) {
    for (const [key] of kinds) {
      const m = c[key];
      if (!m || m.lo === 0 && m.hi === undefined || key === 'last_trap' && c.traps < 2) continue;
      list.push({time: m.lo, until: m.hi, verdict: m.verdict, stream: c.stream, key, text: text[key](app.recording.streams[c.stream].label, c.traps)});
    }
  }
  list.sort((a, b) => a.time - b.time);
  list.forEach((m, i) => {
    const before = list[i - 1];
    m.either = before !== undefined && (before.until === undefined ? before.time : before.until) > m.time;
  });
  return list;
}

// toMoment shows the instructions at a moment of a crossing: those around the place of the change.
export function toMoment(app, poke, stream, key, time) {
  if (key === 'last_old') return app.toExecution(poke, 'previous', time + 1, {stream});
  if (key === 'first_new') return app.toExecution(poke, 'next', Math.max(0, time - 1), {stream});
  if (key === 'first_trap') return app.toExecution(poke, 'next', Math.max(0, time - 1), {stream, trap: poke.index});
  if (key === 'last_trap') return app.toExecution(poke, 'previous', time + 1, {stream, trap: poke.index});
  return app.toStep(stream, time);
}

export class Play {
  constructor(app, story, signal) {
    this.app = app;
    this.list = moments(app, story);
    this.poke = story.mark;
    this.at = null;
    signal.addEventListener('abort', () => this.stop());
  }

  // part is the elements of the panel that play.
  part() {
    const button = (label, act, title) => el('button', {onclick: act, title}, label);
    this.player = button('play', () => this.toggle(), 'space');
    return [
      el('h3', {}, 'Step by step'),
      el('div', {class: 'bar'}, button('← step', () => this.step(-1), 'k'), this.player, button('step →', () => this.step(1), 'j'), el('span', {id: 'now', role: 'status', 'aria-live': 'polite'})),
      el('ol', {class: 'play'}, this.list.map((m, i) => el('li', {id: `moment${i}`, onclick: () => this.go(i)},
        el('span', {class: 'code'}, seconds(m.time)), ` ${this.sentence(m)} `,
        m.stream === undefined ? null : el('button', {class: 'copy', onclick: (e) => { e.stopPropagation(); toMoment(this.app, this.poke, m.stream, m.key, m.time); }, 'aria-label': `instructions at ${seconds(m.time)}`}, 'instructions')))),
    ];
  }

  sentence(m) {
    return [m.text, m.until !== undefined && m.until > m.time && `within ${span(m.until - m.time)}`, m.verdict, m.either && 'it may lie before the step above it'].filter(Boolean).join(' · ');
  }

  toggle() {
    if (this.timer) { this.stop(); return; }
    if (this.at === null || this.at === this.list.length - 1) this.go(0);
    this.player.textContent = 'stop';
    this.timer = setInterval(() => {
      if (this.at >= this.list.length - 1) this.stop();
      else this.go(this.at + 1);
    }, pause);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = 'play';
  }

  step(way) { this.go(this.at === null ? (way > 0 ? 0 : this.list.length - 1) : this.at + way); }

  go(i) {
    if (this.list[i]) this.app.go({step: i}, true);
  }

  // mark shows the step that the place names.
  mark(i) {
    this.at = i !== null && this.list[i] ? i : null;
    for (const e of document.querySelectorAll('#panel .now')) {
      e.classList.remove('now');
      e.removeAttribute('aria-current');
    }
    if (this.at === null) return;
    const m = this.list[i];
    const line = byId(`moment${i}`);
    line.setAttribute('aria-current', 'step');
    for (const e of [line, m.key && document.querySelector(`#panel [data-moment="${m.key}${m.stream}"]`), m.key === 'last_old' && document.querySelector('.sides .old'), m.key === 'first_new' && document.querySelector('.sides .new')]) {
      if (e) e.classList.add('now');
    }
    byId('now').textContent = `step ${i + 1} of ${this.list.length}: ${this.sentence(m)}`;
    line.scrollIntoView({block: 'nearest'});
  }

  get time() { return this.at === null ? null : this.list[this.at].time; }
}
