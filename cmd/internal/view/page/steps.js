// What one CPU executed, instruction by instruction, forwards and backwards.
import {byId, el, callLine} from './dom.js';
import {seconds, span} from './format.js';
import {get} from './api.js';
import {answers, isCall} from './kept.js';
import {showStack} from './stack.js';

const reach = 60; // steps on either side

// standing is which of the steps of an answer stands at a time: that of the moment, else the last
// one before.
export function standing(a, time) {
  const next = a.steps[a.anchor];
  return next && a.found && next.time === time ? a.anchor : Math.max(0, Math.min(a.anchor, a.steps.length) - 1);
}

export class Steps {
  constructor(app) {
    this.app = app;
    this.list = [];
    this.here = 0;
    this.of = null; // the stream of list
    this.callers = false; // they are shown
  }

  // show shows the place's step; what is there already is not asked for again.
  async show() {
    const {stream, time, at, kind} = this.app.place;
    const i = at && this.of === stream ? this.list.findIndex((s) => s.at === at) : -1;
    if (i >= 0 && byId('panel').querySelector('.steps')) {
      this.here = i;
      this.mark();
      if (i >= 12 && i < this.list.length - 12) return;
    }
    const {box, signal} = this.app.panelStart(byId('panel').querySelector('.steps') !== null);
    try {
      const a = await get('steps', {stream, time, at, kind: at ? null : kind, before: reach, after: reach}, signal);
      this.list = a.steps;
      this.of = stream;
      this.here = at || kind ? Math.min(a.anchor, Math.max(0, a.steps.length - 1)) : standing(a, time);
      box.replaceChildren(...this.page(a));
      if (!at && kind && a.found) this.go(this.here); // the URL names it
      else this.mark();
    } catch (err) {
      this.app.panelError(err);
    }
  }

  page(a) {
    const {app} = this;
    const name = app.recording.streams[a.stream].label;
    const button = (label, act, title) => el('button', {onclick: act, title}, label);
    return [
      el('div', {class: 'top'}, el('h2', {}, `Instructions of ${name}`), el('div', {class: 'bar'},
        button('← instruction', () => this.step(-1), 'k'), button('instruction →', () => this.step(1), 'j'),
        button('← call', () => this.jump(-1, 'call'), '['), button('call →', () => this.jump(1, 'call'), ']'),
        button('← trap or poke', () => this.jump(-1, 'poke'), '{'), button('trap or poke →', () => this.jump(1, 'poke'), '}'),
        button('← not sure', () => this.jump(-1, 'unsure'), 'U'), button('not sure →', () => this.jump(1, 'unsure'), 'u'),
        button('first', () => this.edge(-1), 'Home'), button('last', () => this.edge(1), 'End'), button('zoom to it', () => this.zoomTo(), 'z'),
        answers ? null : el('button', {id: 'callers', 'aria-pressed': String(this.callers), title: 'x', onclick: () => this.toggleCallers()}, 'callers')),
      el('p', {id: 'now', role: 'status', 'aria-live': 'polite'}), el('p', {id: 'stack', hidden: !this.callers})),
      a.steps.length ? this.table() : el('p', {}, 'Nothing was executed here.'),
      callLine(a.command),
    ];
  }

  table() {
    const body = el('tbody', {});
    const lines = this.list.some((s) => s.src);
    let before = '';
    this.list.forEach((s, i) => {
      const fn = (s.sym || '').split('+')[0];
      const unsure = /ambiguous|unconfirmed/.test(s.verdict || '');
      const classes = [s.kind, unsure && 'unsure', s.kind === 'insn' && s.change !== undefined && s.change_in < 1e6 && 'soon', s.kind === 'insn' && fn !== before && 'fn'].filter(Boolean);
      if (s.kind === 'insn') before = fn;
      body.append(el('tr', {class: classes.join(' '), id: `step${i}`, onclick: () => this.go(i)},
        el('td', {class: 'code'}, seconds(s.time)),
        el('td', {class: 'code ip'}, s.ip || ''),
        el('td', {class: 'code wide sym'}, s.sym || ''),
        el('td', {class: 'code bytes'}, s.bytes || ''),
        el('td', {class: 'code wide insn'}, s.kind === 'insn' ? s.insn || '?' : s.what),
        el('td', {class: 'verdict'}, [s.verdict, s.either && 'either version', s.learned && 'code learned'].filter(Boolean).join(', ')),
        lines ? el('td', {class: 'code wide'}, s.src || '') : null,
        el('td', {class: 'wide notes'}, this.notes(s))));
    });
    return el('table', {class: 'steps'}, el('thead', {}, el('tr', {}, ['time', 'address', 'place', 'code then', 'instruction', 'how sure', lines && 'source', 'changes'].filter(Boolean).map((h) => el('th', {scope: 'col', class: {address: 'ip', 'code then': 'bytes'}[h]}, h)))), body);
  }

  notes(s) {
    const poke = (n, text) => s.guest ? `${text} of the virtual machine` : el('a', {href: '#', onclick: (e) => { e.preventDefault(); e.stopPropagation(); this.app.toPoke(this.app.timeline.pokeAt(n) || {index: n, time: s.time}); }}, text);
    const list = [];
    if (s.poke !== undefined) list.push(poke(s.poke, s.kind === 'insn' ? `first with poke ${s.poke}` : `poke ${s.poke}`), ' ');
    if (s.change !== undefined) list.push(poke(s.change, `poke ${s.change}`), s.change_in === undefined ? ' changes it later' : s.change_in >= 0 ? ` changes it ${span(s.change_in)} later` : ` was recorded ${span(-s.change_in)} before`);
    return list;
  }

  mark() {
    for (const r of document.querySelectorAll('.steps tr.here')) {
      r.classList.remove('here');
      r.removeAttribute('aria-current');
    }
    const row = byId(`step${this.here}`);
    const s = this.list[this.here];
    if (!row || !s) return;
    row.classList.add('here');
    row.setAttribute('aria-current', 'true');
    row.scrollIntoView({block: 'nearest'});
    const near = row.getBoundingClientRect();
    const box = byId('panel').getBoundingClientRect();
    if (near.bottom > Math.min(box.bottom, innerHeight) - 40 || near.top < Math.max(box.top, 0) + 60) row.scrollIntoView({block: 'center'});
    byId('now').textContent = [seconds(s.time), s.until !== undefined && s.until > s.time && `within ${span(s.until - s.time)}`, s.sym, s.kind === 'insn' ? s.insn : s.what, s.verdict, this.doubt(this.here), s.comm && `${s.comm} ${s.tid}`].filter(Boolean).join(' · ');
    if (this.callers) this.showCallers(s);
  }

  // doubt says why a step is not sure, by what stands around it; '' where it is.
  doubt(i) {
    const unsure = (k) => this.list[k] && this.list[k].kind === 'insn' && /ambiguous|unconfirmed/.test(this.list[k].verdict || '');
    if (!unsure(i)) return '';
    if (this.list[i].verdict === 'unconfirmed') return 'for long, the trace stated no address that confirms it';
    const cut = (k) => this.list[k] && this.list[k].kind === 'cut' && this.list[k].verdict === 'ambiguous';
    let from = i;
    while (unsure(from - 1) || cut(from - 1)) from--;
    let until = i;
    while (unsure(until + 1) || cut(until + 1)) until++;
    const why = this.list.slice(from, until + 1).find((s) => s.kind === 'cut');
    if (why) return why.poke === undefined ? why.what : `it is open where poke ${why.poke} took effect`;
    const next = this.list[until + 1];
    if (!next) return ''; // what follows is not at hand yet
    return next.kind === 'gap' ? 'a gap follows, by which this code may be wrong' : 'this code is in doubt';
  }

  toggleCallers() {
    if (answers || !byId('callers')) return;
    this.callers = !this.callers;
    byId('callers').setAttribute('aria-pressed', String(this.callers));
    byId('stack').hidden = !this.callers;
    this.mark();
  }

  showCallers(s) {
    if (this.asking) this.asking.abort();
    this.asking = new AbortController();
    showStack(this.app, byId('stack'), {stream: this.of, time: s.time, at: s.at}, this.asking.signal);
  }

  go(i) {
    const s = this.list[i];
    if (!s) return;
    this.here = i; // the next key counts from here, also while more is on its way
    this.app.go({stream: this.of, at: s.at, time: s.time}, true);
  }

  // step goes to the next step, or the one before.
  step(way) {
    if (this.app.place.stream === null) this.app.note('j and k go through the instructions of a lane, or the steps of a poke: click one');
    else this.go(this.here + way);
  }

  // edge goes to the last step of the stream, or the first, and has it on screen.
  edge(way) {
    const {place, recording: {from, until}} = this.app;
    const width = place.until - place.from;
    const window = way > 0 ? {from: until - width, until} : {from, until: from + width};
    this.app.go({stream: place.stream, at: null, time: way > 0 ? until + 1 : from, ...window});
  }

  // jump goes to the next call, or to the next trap or poke, or back.
  jump(way, what) {
    if (this.app.place.stream === null || !this.list.length) return undefined;
    for (let i = this.here + way; what === 'call' && i > 0 && i < this.list.length; i += way) {
      if (this.list[i].kind === 'insn' && isCall(this.list[i - 1].insn)) { this.go(i); return undefined; }
    }
    // Where changes took effect is not known of the instructions that are at hand.
    const edge = what !== 'call' ? this.list[this.here] : way > 0 ? this.list[this.list.length - 1] : this.list[0];
    const none = `there is no other ${{poke: 'trap or poke', call: 'call', unsure: 'ambiguous or unconfirmed instruction'}[what]} ${way > 0 ? 'behind' : 'before'} this`;
    return this.app.look('jump', {stream: this.of, time: edge.time, at: edge.at, way: way > 0 ? 'next' : 'previous', what}, (a) => this.app.toStep(this.of, a.step.time, a.step.at), none);
  }

  zoomTo() {
    const s = this.list[this.here];
    if (!s) return;
    const a = this.list[0].time;
    const b = this.list[this.list.length - 1];
    this.app.go({from: Math.min(a, s.time - 200), until: Math.max(b.until || b.time, s.time + 200)});
  }
}
