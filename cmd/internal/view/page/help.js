import {byId, el} from './dom.js';

const keys = [
  ['w s', 'zoom in and out; + and − too'], ['a d', 'earlier and later; ← and → too'], ['0', 'the whole recording'],
  ['n p', 'next and previous poke'], ['j k', 'next and previous instruction, or step of a poke; ↓ and ↑ too'],
  ['Home End', 'first and last instruction of a lane'], ['Space', 'play a poke as steps'], ['] [', 'next and previous call, or page of a list'], ['i z', 'instructions of a call; zoom to what the panel shows'], ['} {', 'next and previous trap, or place where a poke took effect'],
  ['u U', 'next and previous instruction that is ambiguous or unconfirmed'], ['x', 'who called the instruction'],
  ['l L', 'next and previous lane; Enter shows its instructions, at the moment that is chosen'], ['m M', 'next and previous mark by time; Enter opens it'], ['g G', 'next and previous gap'], ['c C', 'next and previous slice of a call; Enter opens it'],
  ['Tab', 'through lanes and buttons'],
  ['f', 'a flame graph of the window'],
  ['/', 'search: a symbol, an address, a poke’s number, a thread; a time in seconds or as --time has it: +5ms, 10%-20%, poke:385±10us'],
  ['Backspace', 'the place before'], ['Esc', 'close the panel'], ['t', 'dark or light'], ['?', 'this list'],
];

const words = [
  ['poke', 'a change that the kernel made to its own code'],
  ['trap', 'a breakpoint exception: a CPU met code that was being changed, or a probe'],
  ['window', 'the time in which a CPU may execute the old code or the new'],
  ['certain', 'executed, and with this code'],
  ['ambiguous, unconfirmed', 'the likeliest of several; what the trace did not confirm'],
  ['gap', 'a stretch that could not be followed'],
  ['learned code', 'code that no record tells of: the trace shows it'],
];

export function showHelp() {
  const box = byId('help');
  const table = (rows, tag) => el('table', {}, rows.map(([a, b]) => el('tr', {}, el('th', {scope: 'row'}, tag ? a.split(' ').map((k) => [el(tag, {}, k), ' ']).flat() : a), el('td', {}, b))));
  box.replaceChildren(
    el('h2', {}, 'Keys'), table(keys, 'kbd'),
    el('h3', {}, 'Words'), table(words),
    el('p', {}, 'A moment is known within bounds only. Inside of them, lanes are drawn as if all took the same time. Where a few moments are much denser than the rest, they end at the lane’s edge, and the rest is drawn higher.'),
    el('form', {method: 'dialog'}, el('button', {}, 'close')),
  );
  box.showModal();
  box.scrollTop = 0; // the button that has the focus is at the end
}
