// Scrolling: which container a request means, and how far it went.
function scrollable(e, dx, dy) {
  if (e === document.scrollingElement) {
    return (dx !== 0 && e.scrollWidth > innerWidth + 1) || (dy !== 0 && e.scrollHeight > innerHeight + 1) ? documentScrolls(dx, dy) : false;
  }
  if (e === rootElement(document) || e === document.body) return false;
  const s = styleOf(e);
  const can = v => v === 'auto' || v === 'scroll' || v === 'overlay';
  return (dy !== 0 && can(s.overflowY) && e.scrollHeight > e.clientHeight + 1) || (dx !== 0 && can(s.overflowX) && e.scrollWidth > e.clientWidth + 1);
}

function documentScrolls(dx, dy) {
  const html = styleOf(rootElement(document)), body = document.body ? styleOf(document.body) : html;
  const stops = (v, b) => v === 'hidden' || v === 'clip' || (v === 'visible' && (b === 'hidden' || b === 'clip'));
  return (dy !== 0 && !stops(html.overflowY, body.overflowY)) || (dx !== 0 && !stops(html.overflowX, body.overflowX));
}

// container is the nearest scrollable ancestor of a node, or, without one, the document or the largest scrollable
// element on the screen: application shells scroll inside a fixed document.
function container(n, x, y, dx, dy) {
  let from = null;
  if (n) { from = nodeOf(n); if (!from) return { stale: true }; }
  else if (x !== null) from = deepFromPoint(x, y);
  for (let e = from; e; e = flatParent(e)) if (kindOf(e) === ELEMENT && scrollable(e, dx, dy)) return chosen(e);
  const root = document.scrollingElement;
  if (root && scrollable(root, dx, dy)) return chosen(root);
  let best = null, area = 0;
  for (const e of queryAll(document, '*')) {
    const b = boxOf(e), v = viewportOf(b);
    if (!v || (v.right - v.left) * (v.bottom - v.top) <= area || !scrollable(e, dx, dy)) continue;
    best = e;
    area = (v.right - v.left) * (v.bottom - v.top);
  }
  return best ? chosen(best) : { none: true };
}

function chosen(e) {
  const own = e === document.scrollingElement;
  const out = { node: numberOf(e), what: own ? 'document' : describe(e), ...offsets(e) };
  const box = own ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : viewportOf(boxOf(e));
  if (!box) return out;
  // A wheel turns what lies beneath the pointer: look for a point whose nearest scrollable is this one.
  for (const [fx, fy] of [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.5], [0.9, 0.5], [0.03, 0.03]]) {
    const x = box.left + fx * (box.right - box.left), y = box.top + fy * (box.bottom - box.top);
    let hit = deepFromPoint(x, y);
    if (!hit || ['iframe', 'frame'].includes(tagOf(hit))) continue;
    while (hit && hit !== e && !(kindOf(hit) === ELEMENT && (scrollable(hit, 1, 0) || scrollable(hit, 0, 1)))) hit = flatParent(hit);
    if (hit === e || (own && !hit)) return { ...out, x, y };
  }
  return out;
}

function offsets(e) {
  const own = e === document.scrollingElement;
  const w = own ? innerWidth : e.clientWidth, h = own ? innerHeight : e.clientHeight;
  return { left: e.scrollLeft, top: e.scrollTop, maxX: Math.max(0, e.scrollWidth - w), maxY: Math.max(0, e.scrollHeight - h) };
}

// scrolled waits until a container rests, at most limit frames, and says where. first frames without any movement end it too.
async function scrolled(n, left, top, patience, limit) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  let last = [e.scrollLeft, e.scrollTop], still = 0;
  for (let i = 0; i < limit; i++) {
    await new Promise(done => frameTick(done));
    const now = [e.scrollLeft, e.scrollTop];
    still = now[0] === last[0] && now[1] === last[1] ? still + 1 : 0;
    last = now;
    const moved = Math.abs(now[0] - left) > 0.5 || Math.abs(now[1] - top) > 0.5;
    if (still >= (moved ? 4 : patience)) break;
  }
  return offsets(e);
}

function scrollBy(n, dx, dy) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  e.scrollBy({ left: dx, top: dy, behavior: 'instant' });
  return offsets(e);
}

// bring scrolls a node into view and says what it moved.
function bring(n) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const stand = shown(e) || e;
  let holder = null;
  for (let p = flatParent(stand); p; p = flatParent(p)) if (kindOf(p) === ELEMENT && (scrollable(p, 1, 0) || scrollable(p, 0, 1))) { holder = p; break; }
  holder = holder || document.scrollingElement || rootElement(document);
  const before = offsets(holder);
  if (shown(e)) stand.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const after = offsets(holder);
  return { what: holder === document.scrollingElement ? 'document' : describe(holder), before, after, inView: !!shown(e) && !!viewportOf(boxOf(stand)) };
}

// geometry of a node in the document.
function geometry(n, scroll) {
  const e = nodeOf(n);
  if (!e) return { stale: true };
  const stand = shown(e);
  if (!stand) return { why: 'hidden' };
  if (scroll && !viewportOf(boxOf(stand))) stand.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const b = boxOf(stand);
  return { x: b.left, y: b.top, width: b.width, height: b.height, scrollX, scrollY };
}
