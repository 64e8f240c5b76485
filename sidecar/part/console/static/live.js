// The list of turns grows at its top. Content of turns is inserted as text, never as markup.

import { goOn, listen } from './console.js';

const list = document.querySelector('[data-turns]');
const pattern = document.getElementById('row');
const most = 120;
let all = 0; // turns that match the filter
let shown = new URL(document.body.dataset.events, location).searchParams.get('since'); // the last revision in the list

function fill(tr, row) {
  tr.dataset.id = row.id;
  tr.dataset.outcome = row.outcome;
  for (const cell of tr.querySelectorAll('[data-f]')) {
    const name = cell.dataset.f;
    if (cell.textContent !== row[name]) cell.textContent = row[name];
    if (cell.tagName === 'TD') cell.title = row[name];
  }
  tr.querySelector('.c-calls').title = [row.calls, row.lost && `${row.lost} ${row.undone}`].filter(Boolean).join(', ');
  tr.querySelector('[data-f=time]').dateTime = row.at;
  tr.querySelector('[data-f=outcome]').className = 'outcome o-' + row.outcome;
  tr.querySelector('a').href = row.href;
}

function show({ rows, more, since }) {
  shown = since;
  const known = new Map([...list.children].map((tr) => [tr.dataset.id, tr]));
  const focus = document.activeElement;
  for (const row of rows.toReversed()) {
    let tr = known.get(row.id);
    if (!tr) {
      tr = pattern.content.firstElementChild.cloneNode(true);
      tr.classList.add('new');
      list.prepend(tr);
      known.set(row.id, tr);
      all++;
    }
    fill(tr, row);
    if (row.arm) list.parentElement.classList.remove('no-arms');
  }
  all += more;
  while (list.children.length > most && !list.lastElementChild.contains(focus)) list.lastElementChild.remove();
  document.querySelector('[data-none]').hidden = list.children.length > 0;
  document.querySelector('[data-shown]').textContent = list.children.length;
  document.querySelector('[data-all]').textContent = all;
}

if (list) {
  all = Number(document.querySelector('[data-all]').textContent);
  const state = document.querySelector('[data-state]');
  const hold = document.querySelector('[data-hold]');
  hold.hidden = false;
  hold.addEventListener('click', () => {
    const still = hold.getAttribute('aria-pressed') !== 'true';
    hold.setAttribute('aria-pressed', still);
    hold.textContent = still ? 'Go on' : 'Hold';
    state.textContent = still ? 'Held still at' : 'Showing';
    if (!still) goOn(shown);
  });
  document.addEventListener('console:turns', ({ detail }) => {
    if (hold.getAttribute('aria-pressed') !== 'true') show(detail);
  });

  // A change of the filter loads the list again, and is kept in the address.
  const form = document.querySelector('[data-filter]');
  const again = () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, v]) => v));
    history.replaceState(null, '', '/console/' + (query.size ? '?' + query : ''));
    list.replaceChildren();
    all = 0;
    show({ rows: [], more: 0, since: 0 });
    query.set('turns', '1');
    listen('/console/events?' + query);
  };
  let wait = 0;
  form.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(again, 250); });
  form.addEventListener('submit', (e) => { e.preventDefault(); clearTimeout(wait); again(); });
}
