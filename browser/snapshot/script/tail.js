let lastSuspects = [];

const K = {
  gen, sameOrigin(n) { const e = nodeOf(n); try { return !!(e && e.contentDocument); } catch { return false; } },
  walk(options) {
    const w = walk(options);
    lastSuspects = w.suspects;
    return JSON.stringify(w.result);
  },
  // suspects are the elements of the last walk whose shadow roots the debugger should look for.
  suspects() { const list = lastSuspects; lastSuspects = []; return list; },
  adopt(host, root) { closedRoots.set(host, root); return true; },
  handled(...list) { for (const e of list) if (e && kindOf(e) === ELEMENT) handled.add(e); return true; },
  node: nodeOf,
  numberOf,
  time(o) { const a = performance.now(); const w = walk(o); const b = performance.now(); JSON.stringify(w.result); return { Ms: b - a, Json: performance.now() - b }; },
  facts() { return { title: document.title, ready: document.readyState, visibility: document.visibilityState, url: location.href }; },
  // timings are the resources that the document's own timeline knows, the newest 1,000.
  timings() {
    const kinds = { script: 'script', link: 'stylesheet', css: 'image', img: 'image', image: 'image', input: 'image', fetch: 'fetch', xmlhttprequest: 'xhr', iframe: 'frame',
      frame: 'frame', video: 'media', audio: 'media', track: 'media', font: 'font' };
    const entries = performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).slice(-1000);
    return entries.map(e => ({ url: e.name, duration: e.duration, transfer: e.transferSize || 0, body: e.decodedBodySize || 0,
      kind: e.entryType === 'navigation' ? 'document' : kinds[e.initiatorType] || 'other' }));
  },
  find(css) {
    let list;
    try { list = queryAll(document, css); } catch { return { bad: true }; }
    return { count: list.length, node: list.length > 0 ? numberOf(list[0]) : 0 };
  },
  active() { const e = deepActive(); return e ? { node: numberOf(e), what: describe(e), body: e === document.body || e === rootElement(document) } : { node: 0 }; },
  summaryOf(n) { const e = nodeOf(n); const x = e && Array.from(e.children).find(c => tagOf(c) === 'summary'); return x ? numberOf(x) : 0; },
  where(n) { const e = nodeOf(n); if (!e) return { stale: true }; const stand = shown(e); return stand ? reach(e, stand) : { why: 'hidden' }; },
  // rendezvous resolves after two animation frames.
  rendezvous() { return new Promise(done => frameTick(() => frameTick(() => done(true)))); },
  aim, arm, disarm, watchDrag, dragBegan, dragEnded, unwatchDrag, hits, at, frameBox, state, field, setNative, caret, took, heldOf, choose, pick, uploadInput, container, scrolled, scrollBy, bring, geometry,
};
