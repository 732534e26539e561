// usage: node clients.mjs v1|v2-legacy|v2-modern|v2-auto PROGRAM
// One session of a TypeScript SDK client: connect, list every tool, a call that succeeds, a call that must be refused,
// a read that must be refused, templates, ping, close. Output schemas are checked by the SDK itself on every call.
import assert from 'node:assert/strict';

const [, , which, program] = process.argv;
const parameters = { command: program, args: ['mcp'], stderr: 'pipe', env: process.env };
const info = { name: 'krometrail-interop', version: '1.0.0' };

async function connect() {
  if (which === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client(info);
    await client.connect(new StdioClientTransport(parameters));
    return client;
  }
  const mode = { 'v2-legacy': 'legacy', 'v2-modern': { pin: '2026-07-28' }, 'v2-auto': 'auto' }[which];
  assert.ok(mode, 'unknown client ' + which);
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(parameters));
  return client;
}

async function everyTool(client) {
  const tools = [], seen = new Set();
  for (let cursor; ;) {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (!cursor) return tools;
    assert.ok(!seen.has(cursor), 'a cursor came twice');
    seen.add(cursor);
  }
}

const client = await connect();
console.log('server', JSON.stringify(client.getServerVersion()), 'protocol', client.getNegotiatedProtocolVersion?.() ?? '');

const tools = await everyTool(client);
const names = tools.map(t => t.name);
console.log(names.length, 'tools');
assert.deepEqual(names, [...names].sort(), 'tools are sorted by name');
assert.equal(new Set(names).size, names.length, 'no tool twice');
for (const name of ['browser_status', 'click', 'temporal_debug_bundle']) assert.ok(names.includes(name), name + ' is offered');

const status = await client.callTool({ name: 'browser_status', arguments: {} });
assert.ok(!status.isError, 'browser_status works before a browser was started');
assert.equal(status.structuredContent.tool, 'browser_status');
assert.match(status.content[0].text, /^browser_status /);

const refused = await client.callTool({ name: 'browser_status', arguments: { nonsense: 1 } }).catch(error => ({ isError: true, error }));
assert.ok(refused.isError, 'an unknown argument is refused');

await assert.rejects(client.readResource({ uri: 'krometrail://evidence/ses_000000000000/tgt_000000000000/frames/frm_000000000000' }), 'an unknown resource is refused');
const { resourceTemplates } = await client.listResourceTemplates();
assert.ok(resourceTemplates.length > 0, 'there are templates');
const { resources } = await client.listResources();
assert.equal(resources.length, 0, 'the list of resources is empty on purpose');
if (which !== 'v2-modern' && which !== 'v2-auto') await client.ping();
await client.close();
process.exit(0);
