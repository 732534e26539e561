// Built-ins are taken from their prototypes once: forms and documents expose named elements as properties
// of their own, so that form.children or document.body may be an input of the page.
const uncurry = f => Function.prototype.call.bind(f);
const getter = (proto, name) => uncurry(Object.getOwnPropertyDescriptor(proto, name).get);
const setter = (proto, name) => uncurry(Object.getOwnPropertyDescriptor(proto, name).set);

const tagOf = getter(Element.prototype, 'localName');
const attr = uncurry(Element.prototype.getAttribute);
const hasAttr = uncurry(Element.prototype.hasAttribute);
const hasAttrs = uncurry(Element.prototype.hasAttributes);
const attrNames = uncurry(Element.prototype.getAttributeNames);
const seen = Element.prototype.checkVisibility ? uncurry(Element.prototype.checkVisibility) : () => false;
const matches = uncurry(Element.prototype.matches);
const closest = uncurry(Element.prototype.closest);
const openRoot = getter(Element.prototype, 'shadowRoot');
const slotOf = getter(Element.prototype, 'assignedSlot');
const boxOf = uncurry(Element.prototype.getBoundingClientRect);
const boxesOf = uncurry(Element.prototype.getClientRects);
const firstChild = getter(Node.prototype, 'firstChild');
const nextSibling = getter(Node.prototype, 'nextSibling');
const parentNode = getter(Node.prototype, 'parentNode');
const kindOf = getter(Node.prototype, 'nodeType');
const connected = getter(Node.prototype, 'isConnected');
const rootOf = uncurry(Node.prototype.getRootNode);
const dataOf = getter(CharacterData.prototype, 'data');
const contentOf = getter(Node.prototype, 'textContent');
const listen = uncurry(EventTarget.prototype.addEventListener);
const unlisten = uncurry(EventTarget.prototype.removeEventListener);
const rootElement = getter(Document.prototype, 'documentElement');
const queryAll = uncurry(Document.prototype.querySelectorAll);
const inputType = getter(HTMLInputElement.prototype, 'type');
const inputValue = getter(HTMLInputElement.prototype, 'value');
const styleOf = window.getComputedStyle.bind(window);
const frameTick = window.requestAnimationFrame.bind(window);
const hostOf = getter(ShadowRoot.prototype, 'host');
const HTML = HTMLElement;

const ELEMENT = 1, TEXT = 3;

// What a walk need not look for because the document has none of it. Outside of walks everything is looked for.
const may = { label: true, disable: true, edit: true };

function surveyed() {
  const has = css => document.querySelector(css) !== null;
  may.label = has('label');
  may.disable = has('[aria-disabled]');
  may.edit = has('[contenteditable]') || document.designMode === 'on';
}

// unsurveyed is said when a shadow root was met, which the survey does not see, and when the walk is over.
function unsurveyed() { may.label = may.disable = may.edit = true; }

const inEditable = e => may.edit && e instanceof HTML && e.isContentEditable;

// Node numbers are never reused; the numbers outlive the table's weak hold on the nodes.
const numbers = new WeakMap();
const nodes = new Map();
let lastNumber = 0;

function numberOf(node) {
  let n = numbers.get(node);
  if (n === undefined) {
    n = ++lastNumber;
    numbers.set(node, n);
    nodes.set(n, new WeakRef(node));
  }
  return n;
}

// nodeOf is the connected node of a number, or null.
function nodeOf(n) {
  const held = nodes.get(n);
  const node = held && held.deref();
  return node && connected(node) ? node : null;
}

function forgetCollected() {
  for (const [n, held] of nodes) if (held.deref() === undefined) nodes.delete(n);
}

// Closed shadow roots cannot be seen by scripts. The debugger hands them in, once for each host.
const closedRoots = new WeakMap();
const closedChecked = new WeakMap();
const shadowOf = e => openRoot(e) || closedRoots.get(e) || null;

// Elements that had listeners for pointer events when the debugger last looked.
const handled = new WeakSet();

const hostNames = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6',
  'header', 'main', 'nav', 'p', 'section', 'span']);

// flatParent follows slots and shadow hosts.
function flatParent(node) {
  if (kindOf(node) === ELEMENT || kindOf(node) === TEXT) {
    const slot = kindOf(node) === ELEMENT ? slotOf(node) : node.assignedSlot;
    if (slot) return slot;
  }
  const parent = parentNode(node);
  return parent instanceof ShadowRoot ? hostOf(parent) : parent;
}

function contains(ancestor, node) {
  for (let n = node; n; n = flatParent(n)) if (n === ancestor) return true;
  return false;
}

// eachFlat visits the children in the flat tree.
function eachFlat(e, visit) {
  const root = shadowOf(e);
  if (!root && tagOf(e) === 'slot') {
    const given = e.assignedNodes();
    if (given.length > 0) { for (let i = 0; i < given.length; i++) visit(given[i]); return; }
  }
  for (let c = firstChild(root || e), next; c; c = next) { next = nextSibling(c); visit(c); }
}

function deepActive() {
  let at = document.activeElement;
  while (at && kindOf(at) === ELEMENT) {
    const root = shadowOf(at);
    if (!root || !root.activeElement) break;
    at = root.activeElement;
  }
  return at;
}

function deepFromPoint(x, y) {
  let hit = document.elementFromPoint(x, y);
  while (hit) {
    const root = shadowOf(hit);
    const inner = root && root.elementFromPoint(x, y);
    if (!inner || inner === hit || !contains(hit, inner)) break;
    hit = inner;
  }
  return hit;
}
