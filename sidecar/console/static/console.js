// What every page does: it is told what is new, fetches its parts again, and takes keys.

const events = document.body.dataset.events;
const lost = document.querySelector('[data-lost]');
let source = null;

// connect listens for news while somebody looks: a browser keeps six connections to a server.
function connect(address) {
  source?.close();
  source = null;
  if (!address || document.hidden && !('keep' in document.body.dataset)) return;
  source = new EventSource(address);
  source.onopen = () => { lost.hidden = true; };
  source.onerror = () => { lost.hidden = false; };
  for (const name of ['turns', 'approvals', 'runs']) {
    source.addEventListener(name, (e) => document.dispatchEvent(new CustomEvent('console:' + name, { detail: JSON.parse(e.data) })));
  }
}

let address = events;
// listen begins to listen somewhere else.
export function listen(to) {
  address = to;
  connect(address);
}
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return connect('keep' in document.body.dataset ? address : '');
  document.dispatchEvent(new CustomEvent('console:back'));
  connect(address);
});
addEventListener('pagehide', () => source?.close());
connect(address);

const bare = document.title.replace(/^\(\d+\) /, '');
document.addEventListener('console:approvals', ({ detail: { waiting } }) => {
  document.title = waiting ? `(${waiting}) ${bare}` : bare;
  for (const badge of document.querySelectorAll('[data-waiting]')) {
    badge.hidden = !waiting;
    badge.querySelector('[data-waiting-count]').textContent = waiting;
  }
});

// refresh takes a part of this page as it is on the server now. What somebody writes, has opened or
// selects there stays.
function refresh(part) {
  const busy = part.contains(document.activeElement) && document.activeElement.matches('input, textarea, select');
  const selects = !getSelection().isCollapsed && part.contains(getSelection().anchorNode);
  if (document.hidden || busy || selects) return;
  const request = new XMLHttpRequest(); // its document is parsed without any script
  request.open('GET', location.href);
  request.responseType = 'document';
  request.onerror = () => { lost.hidden = false; };
  request.onload = () => {
    if (request.status === 401) return location.reload();
    const fresh = request.response?.querySelector(`[data-part="${part.dataset.part}"]`);
    if (request.status !== 200 || !fresh) return;
    lost.hidden = true;
    const opened = [...part.querySelectorAll('details')].map((d) => d.open);
    const stops = 'a, button, summary, [tabindex]';
    const focus = document.activeElement?.id;
    const at = [...part.querySelectorAll(stops)].indexOf(document.activeElement);
    const now = document.importNode(fresh, true);
    now.querySelectorAll('details').forEach((d, i) => { d.open ||= opened[i] ?? false; });
    part.replaceWith(now);
    const again = focus ? document.getElementById(focus) : now.querySelectorAll(stops)[at];
    if (focus || at >= 0) again?.focus({ preventScroll: true });
    watch(now);
  };
  request.send();
}

// watch fetches a part again, every so often or when there is news of it.
function watch(part) {
  const every = Number(part.dataset.every);
  if (every) setTimeout(function again() {
    if (!part.isConnected) return;
    refresh(part);
    setTimeout(again, every);
  }, every);
}
document.querySelectorAll('[data-part]').forEach(watch);
let heard = 0;
document.addEventListener('console:approvals', () => {
  if (heard++ === 0) return; // what the page shows already
  document.querySelectorAll('[data-part][data-on="approvals"]').forEach(refresh);
});
document.addEventListener('console:runs', () => document.querySelectorAll('[data-part][data-on="runs"]').forEach(refresh));
document.addEventListener('console:back', () => document.querySelectorAll('[data-part]').forEach(refresh));

const here = document.querySelector('.top nav [aria-current]');
if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40; // on a phone it may be outside

const help = document.getElementById('help');
document.querySelector('[data-help]')?.addEventListener('click', () => help.showModal());

// step moves along a list. Who is elsewhere, or has left a field, begins with what follows it.
let left = null;
function step(by) {
  const items = [...document.querySelectorAll('[data-item]:enabled, a[data-item]')].filter((e) => e.checkVisibility());
  if (!items.length) return;
  const at = items.indexOf(document.activeElement);
  const from = document.activeElement !== document.body ? document.activeElement : left?.isConnected ? left : null;
  const next = from ? items.findIndex((e) => from.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) : 0;
  items[at < 0 ? Math.max(next, 0) : Math.min(Math.max(at + by, 0), items.length - 1)].focus();
}

let going = 0;
let taken = ''; // the key that was taken, until it is up: it writes nothing into the field that it leads to
document.addEventListener('keypress', (e) => { if (taken && e.key === taken) e.preventDefault(); });
document.addEventListener('keyup', () => { taken = ''; });
document.addEventListener('keydown', (e) => {
  const writes = e.target.matches('input:not([type=hidden]), select, textarea');
  if (e.key === 'Escape' && writes) {
    left = e.target;
    return left.blur();
  }
  if (writes || e.ctrlKey || e.metaKey || e.altKey || !help || help.open) return;
  if (Date.now() - going < 1500) {
    going = 0;
    const page = document.querySelector(`nav [data-key="${CSS.escape(e.key)}"]`);
    if (page) return page.click();
  }
  const button = document.querySelector(`[data-press="${CSS.escape(e.key)}"]:not(:disabled)`);
  const act = button?.checkVisibility() ? () => button.click() : {
    g: () => { going = Date.now(); },
    j: () => step(1),
    k: () => step(-1),
    u: () => document.querySelector('[data-up]')?.click(),
    t: () => document.querySelector('[data-try]')?.click(),
    h: () => document.querySelector('[data-hold]')?.click(),
    '/': () => document.querySelector('[data-slash]')?.focus(),
    '?': () => help.showModal(),
  }[e.key];
  if (act) {
    e.preventDefault();
    taken = e.key;
    act();
  }
});
document.documentElement.dataset.ready = ''; // keys are taken from now on
